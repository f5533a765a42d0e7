"""Properties of the rules, against second writings of the rules page in exact fractions. Source: Y-3, Y-5, Y-6, Y-7."""

import datetime as dt
import math
from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction

from hypothesis import assume, example, given
from hypothesis import strategies as st

from ycbench_env.rules.clock import (
    DAY_US,
    HOUR_US,
    add_business,
    business_us_between,
    civil_from_day,
    day_from_civil,
    is_weekday,
    next_business_instant,
    until_midnight_us_between,
)
from ycbench_env.rules.economy import boosted_rate, inflated_quantity
from ycbench_env.rules.number import NEVER, Ratio, round_double, round_half_even, stored
from ycbench_env.rules.standing import (
    prestige_after_decay,
    prestige_after_loss,
    prestige_after_success,
    trust_after_decay,
    trust_after_loss,
    trust_after_success,
)
from ycbench_env.rules.work import accrued, common_share, completion_work, milestone_work, team_rate

EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 -- simulated time has no zone
MINUTE_US = 60_000_000


def micros(days: int) -> st.SearchStrategy[int]:
    """Microseconds of up to so many days, made of parts: of one large range Hypothesis draws small numbers mostly."""
    parts = st.integers(0, days - 1), st.integers(0, 24 * 60), st.just(0) | st.integers(0, MINUTE_US)
    return st.builds(lambda day, minute, rest: day * DAY_US + minute * MINUTE_US + rest, *parts)


def units(most: int) -> st.SearchStrategy[int]:
    """Quantities of up to so many whole units, in 1/10,000."""
    return st.builds(lambda whole, rest: whole * 10_000 + rest, st.integers(0, most - 1), st.integers(0, 10_000))


TIMES = micros(45_000)  # 1970 to 2093
WORK = st.builds(lambda hours, rest: hours * HOUR_US + rest, st.integers(0, 1_000), st.just(0) | micros(1))
WORKDAYS = st.tuples(st.integers(0, 23), st.integers(1, 24)).filter(lambda day: day[0] < day[1])
SCALES = st.sampled_from([1, 10, 100, 1000, 10_000])


def places_of(scale: int) -> int:
    return len(str(scale)) - 1


# ----------------------------------------------------------------------------------------------------------- rounding


@given(st.floats(-1e8, 1e8), SCALES)
@example(111.11625, 10_000)
@example(1.8755, 1000)
@example(0.5, 1)
@example(-2.5, 1)
@example(5e-324, 10_000)
def test_doubles_are_rounded_as_python_formats_them(value: float, scale: int) -> None:
    text = f"{value:.{places_of(scale)}f}"
    assert round_double(value, scale) == int(Decimal(text).scaleb(places_of(scale)))


@given(st.integers(-(10**9), 10**9), SCALES, st.sampled_from([-1, 0, 1]))
def test_doubles_next_to_a_tie_are_rounded_as_python_formats_them(half: int, scale: int, step: int) -> None:
    value = (half + 0.5) / scale
    value = value if step == 0 else math.nextafter(value, step * math.inf)
    text = f"{value:.{places_of(scale)}f}"
    assert round_double(value, scale) == int(Decimal(text).scaleb(places_of(scale)))


@given(st.integers(-(10**6), 10**6), st.integers(1, 1000))
@example(5, 2)
@example(-(10**15) - 1, 2)
def test_quotients_are_rounded_half_even(num: int, den: int) -> None:
    assert round_half_even(num, den) == round(Fraction(num, den))


def as_stored(value: Fraction, scale: int) -> int:
    """Y-7: the nearest double of the exact value, that double rounded correctly, in units of 1/scale."""
    exact = Decimal(float(value))
    return int(exact.quantize(Decimal(1).scaleb(-places_of(scale)), ROUND_HALF_EVEN).scaleb(places_of(scale)))


@given(st.integers(-(10**14), 10**14), st.integers(1, 10**18), SCALES)
def test_exact_values_are_stored_through_their_nearest_double(num: int, den: int, scale: int) -> None:
    assume(abs(num) < den * 10**8)
    assert stored(num, den, scale) == as_stored(Fraction(num, den), scale)


# ----------------------------------------------------------------------------------------------------------- calendar


def test_the_civil_calendar_is_that_of_the_library_for_every_day_of_three_centuries() -> None:
    first, last = dt.date(1900, 1, 1).toordinal(), dt.date(2200, 12, 31).toordinal()
    for ordinal in range(first, last + 1):
        date = dt.date.fromordinal(ordinal)
        day = ordinal - EPOCH.toordinal()
        assert civil_from_day(day) == (date.year, date.month, date.day)
        assert day_from_civil(date.year, date.month, date.day) == day
        assert is_weekday(day) is (date.weekday() < 5)


# ----------------------------------------------------------------------------------------------------- business hours


def slow_business_us(start_us: int, end_us: int, open_us: int, close_us: int) -> int:
    """Business time day by day, with the library's calendar."""
    total = 0
    for day in range(start_us // DAY_US, end_us // DAY_US + 1):
        if (EPOCH + dt.timedelta(days=day)).weekday() < 5:
            begin, end = max(start_us, day * DAY_US + open_us), min(end_us, day * DAY_US + close_us)
            total += max(0, end - begin)
    return total


def slow_reference_us(start_us: int, end_us: int, open_us: int, close_us: int) -> int:
    """Y-6, reference rules: [a, b] cut at midnights."""
    total, begin = 0, start_us
    while begin < end_us:
        day = begin // DAY_US
        midnight = (day + 1) * DAY_US
        opens = max(begin, day * DAY_US + open_us)
        if (EPOCH + dt.timedelta(days=day)).weekday() < 5:
            total += max(0, (midnight if midnight <= end_us else min(end_us, day * DAY_US + close_us)) - opens)
        begin = midnight
    return total


@given(TIMES, micros(40), WORKDAYS)
def test_business_time_is_what_a_walk_through_the_days_finds(start_us: int, span_us: int, day: tuple[int, int]) -> None:
    hours = day[0] * HOUR_US, day[1] * HOUR_US
    end_us = start_us + span_us
    assert business_us_between(start_us, end_us, *hours) == slow_business_us(start_us, end_us, *hours)


@given(TIMES, micros(40), WORKDAYS, st.booleans())
def test_reference_time_is_what_a_walk_through_the_days_finds(
    start_us: int, span_us: int, day: tuple[int, int], to_midnight: bool
) -> None:
    hours = day[0] * HOUR_US, day[1] * HOUR_US
    end_us = start_us + span_us
    if to_midnight:
        end_us = -(-end_us // DAY_US) * DAY_US
    assert until_midnight_us_between(start_us, end_us, *hours) == slow_reference_us(start_us, end_us, *hours)


@given(TIMES, WORK, st.integers(1, 50), WORKDAYS)
def test_adding_hours_and_measuring_them_are_inverse(start_us: int, num: int, den: int, day: tuple[int, int]) -> None:
    hours = day[0] * HOUR_US, day[1] * HOUR_US
    end_us = add_business(start_us, num, den, *hours)
    measured = business_us_between(start_us, end_us, *hours)
    assert abs(measured - Fraction(num, den)) <= Fraction(1, 2)  # the last part day is rounded to a microsecond
    whole = add_business(start_us, num, 1, *hours)
    assert business_us_between(start_us, whole, *hours) == num


@given(TIMES, WORK, st.integers(1, 50), WORKDAYS)
def test_adding_hours_is_a_walk_through_the_days(start_us: int, num: int, den: int, day: tuple[int, int]) -> None:
    open_us, close_us = day[0] * HOUR_US, day[1] * HOUR_US
    left = Fraction(num, den)
    time_us = next_business_instant(start_us, open_us, close_us)
    while left > (today := time_us // DAY_US * DAY_US + close_us - time_us):
        left -= today
        time_us = next_business_instant(time_us + today, open_us, close_us)
    assert add_business(start_us, num, den, open_us, close_us) == time_us + round(left)


# ----------------------------------------------------------------------------------------------------- rates and work

MEMBERS = st.lists(st.tuples(st.integers(0, 200_000), st.integers(1, 12)), max_size=9)
DOMAINS = st.lists(st.tuples(units(25_000), units(25_000), st.integers(0, 1_000_000)), min_size=1, max_size=4)
"""Of each domain: work done, work left, rate."""


def team_speed(members: list[tuple[int, int]], team_size: int) -> Fraction:
    """Return the rate of a team whose members come as pairs of base rate and share."""
    shares = [share for _, share in members]
    common = common_share(shares)
    assert common == math.lcm(*shares)
    return Fraction(team_rate([rate for rate, _ in members], [common // share for share in shares], team_size), common)


@given(MEMBERS, st.integers(1, 6))
def test_a_team_s_rate_is_the_sum_of_its_largest_shares(members: list[tuple[int, int]], team_size: int) -> None:
    expected = sum(sorted((Fraction(*member) for member in members), reverse=True)[:team_size])
    assert team_speed(members, team_size) == expected


@given(
    units(25_000), units(25_000), st.integers(0, 10**7), st.integers(1, 5000),
    WORK,
)  # fmt: skip
def test_work_done_is_exact_then_capped_and_stored(done: int, left: int, num: int, den: int, worked_us: int) -> None:
    required = done + left
    exact = Fraction(done, 10_000) + Fraction(num, 10_000 * den) * Fraction(worked_us, HOUR_US)
    expected = as_stored(min(exact, Fraction(required, 10_000)), 10_000)
    found = accrued(done, required, num, den, worked_us)
    assert found == expected
    assert done <= found <= required
    assert accrued(done, required, num, den, worked_us + HOUR_US) >= found


def exact_completion(domains: Sequence[tuple[int, int, int]], den: int) -> Fraction | None:
    """Hours until nothing is left; None for never."""
    longest = Fraction(0)
    for _, left, rate in domains:
        if left and not rate:
            return None
        if left:
            longest = max(longest, Fraction(left * den, rate))
    return longest


def in_hours(work: Ratio) -> Fraction | None:
    return None if work == NEVER else Fraction(work.num, work.den * HOUR_US)


@given(DOMAINS, st.integers(1, 5000))
def test_completion_is_the_longest_of_the_domains(domains: list[tuple[int, int, int]], den: int) -> None:
    done, rates = [entry[0] for entry in domains], [entry[2] for entry in domains]
    required = [entry[0] + entry[1] for entry in domains]
    assert in_hours(completion_work(done, required, rates, den)) == exact_completion(domains, den)


def summed_progress(domains: Sequence[tuple[int, int, int]], den: int, hours: Fraction) -> Fraction:
    return sum((done + min(Fraction(left), Fraction(rate, den) * hours) for done, left, rate in domains), Fraction(0))


@given(DOMAINS, st.integers(1, 500), st.integers(1, 10_000))
@example([(0, 1_000_000, 200_000), (0, 1_000_000, 50_000)], 1, 7500)
@example([(0, 1_000_000, 200_000), (0, 1_000_000, 50_000)], 1, 6250)
@example([(0, 1_000_000, 200_000), (0, 1_000_000, 0)], 1, 5000)
@example([(0, 1_000_000, 200_000), (0, 1_000_000, 0)], 1, 5001)
def test_a_milestone_is_the_first_instant_at_which_the_summed_progress_reaches_it(
    domains: list[tuple[int, int, int]], den: int, fraction: int
) -> None:
    done, required = [d for d, _, _ in domains], [d + left for d, left, _ in domains]
    goal = Fraction(fraction, 10_000) * sum(required)
    found = in_hours(milestone_work(done, required, [rate for _, _, rate in domains], den, fraction, 10_000))
    if found is None:
        reachable = sum(
            need if rate else have for have, need, (_, _, rate) in zip(done, required, domains, strict=True)
        )
        assert reachable < goal
    elif found == 0:
        assert summed_progress(domains, den, found) >= goal
    else:
        # It is continuous and strictly rising up to the goal, so exactly one instant meets it.
        assert summed_progress(domains, den, found) == goal
        assert summed_progress(domains, den, found * Fraction(999_999, 1_000_000)) < goal


# ----------------------------------------------------------------------------------------- prestige, trust, skills, pay

LEVELS = st.integers(0, 100_000)


@given(LEVELS, LEVELS, LEVELS, st.integers(0, 10_000), st.integers(0, 10**6))
def test_prestige_stays_within_its_bounds(least: int, span: int, level: int, delta: int, factor: int) -> None:
    most = least + span
    prestige = min(max(level, least), most)
    assert prestige <= prestige_after_success(prestige, delta, most) <= most
    found = prestige_after_loss(prestige, delta, factor, 10**4, least)
    assert least <= found <= prestige
    exact = Fraction(prestige, 1000) - Fraction(factor, 10**4) * Fraction(delta, 1000)
    assert found == max(least, as_stored(max(exact, Fraction(least, 1000)), 1000))


@given(LEVELS, LEVELS, st.integers(0, 10**6), micros(400))
def test_prestige_decays_exactly_and_not_below_the_least(least: int, above: int, rate: int, elapsed_us: int) -> None:
    prestige = least + above
    found = prestige_after_decay(prestige, rate, 10**6, elapsed_us, least)
    exact = Fraction(prestige, 1000) - Fraction(rate, 10**6) * Fraction(elapsed_us, DAY_US)
    assert found == as_stored(max(exact, Fraction(least, 1000)), 1000)
    assert least <= found <= prestige
    assert prestige_after_decay(prestige, rate, 10**6, elapsed_us + DAY_US, least) <= found


@given(st.integers(1, 100_000), st.data(), st.floats(0, 1000))
def test_trust_stays_within_its_bounds(most: int, data: st.DataObject, amount: float) -> None:
    trust = data.draw(st.integers(0, most))
    assert trust <= trust_after_success(trust, amount, most / 1000) <= most
    assert 0 <= trust_after_loss(trust, amount) <= trust
    elapsed_us = data.draw(micros(400))
    assert 0 <= trust_after_decay(trust, amount, elapsed_us) <= trust


@given(st.integers(0, 5000), st.integers(0, 100), st.integers(1, 24 * 366))
def test_trust_decays_by_the_decimal_text_of_a_double(trust: int, hundredths: int, hours: int) -> None:
    daily = 0.03 * (hundredths / 100)
    exact = Decimal(trust) / 1000 - Decimal(repr(daily * (hours / 24)))
    expected = Decimal(f"{float(max(exact, Decimal(0))):.3f}") * 1000
    assert trust_after_decay(trust, daily, hours * HOUR_US) == expected


@given(st.integers(0, 1_000_000), st.integers(0, 100_000), st.integers(1, 1_000_000))
def test_a_skill_grows_exactly_and_not_above_the_cap(rate: int, boost: int, cap: int) -> None:
    exact = Fraction(rate, 10_000) * (1 + Fraction(boost, 10_000))
    found = boosted_rate(rate, boost, cap)
    assert found == min(as_stored(exact, 10_000), cap)
    assert found >= min(rate, cap)


@given(
    st.integers(1, 500_000), st.floats(0, 1000), st.integers(-1000, -301), st.integers(1, 10), st.integers(1, 25_000)
)
def test_inflated_work_is_four_times_the_listed_or_more_for_each_pass_within_its_bounds(
    quantity: int, severity: float, loyalty: int, passes: int, least: int
) -> None:
    found = inflated_quantity(quantity, severity, loyalty, passes, least)
    assert min(25_000, max(least, 4**passes * quantity)) <= found <= 25_000
