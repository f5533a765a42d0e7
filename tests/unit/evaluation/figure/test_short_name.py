"""One short name for each policy in all figures, which keeps what tells it from the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from hypothesis import example, given, settings
from hypothesis import strategies as st

from ycbench_agents.evaluation.episode import Episode, EpisodeKey
from ycbench_agents.evaluation.figure import applied, figure_plans, short_names, svg_of
from ycbench_agents.evaluation.figure.column import seed_names
from ycbench_agents.evaluation.figure.lettering import LABEL_INCHES, fitted, text_width
from ycbench_agents.evaluation.measurement import RunMeasures
from ycbench_agents.evaluation.old_suite import Suite
from ycbench_agents.evaluation.report.drawing import drawn_figures
from ycbench_agents.evaluation.report.result import PresetResults

QWEN = {
    "Qwen/Qwen3-235B-A22B-thinking-2507": "235B\u2026thinking",
    "Qwen/Qwen3-235B-A22B-instruct-2507": "235B-A22B-instruct",
    "Qwen/Qwen3-30B-A3B-thinking-2507": "30B-A3B-thinking",
    "Qwen/Qwen3-30B-A3B-instruct-2507": "30B-A3B-instruct",
}
WORDS = ("base", "chat", "mini", "plus", "fast", "tiny", "open")


class Played(Protocol):
    """What conftest makes."""

    runs: dict[EpisodeKey, RunMeasures]

    @property
    def suite(self) -> Suite: ...

    @property
    def episodes(self) -> tuple[Episode, ...]: ...

    @property
    def results(self) -> PresetResults: ...


class MakePlayed(Protocol):
    """How it is made."""

    def __call__(self, names: Sequence[str], seeds: int) -> Played: ...


def short(*names: str) -> dict[str, str]:
    return short_names(names)


@example({"\n", "\t"}, 0)
@settings(max_examples=20)
@given(st.sets(st.text(st.sampled_from("aZ m\n\u6f22"), max_size=40), min_size=2, max_size=6), st.integers(0, 30))
def test_short_names_differ_as_their_names_do_and_fit(names: set[str], shared: int) -> None:
    given_names = {f"{'model ' * 6}"[:shared] + name for name in names}
    short = short_names(given_names, LABEL_INCHES, 9.5)
    assert len(set(short.values())) == len(given_names)
    assert max(text_width(text, 9.5) for text in short.values()) <= LABEL_INCHES


def test_names_that_differ_in_the_middle_alone_keep_that_part() -> None:
    ends = ("ingredients", "patients", "clients")
    short = short_names([f"a policy of forty letters for {end}" for end in ends], LABEL_INCHES, 9.5)
    assert [short[name] for name in sorted(short)] == [
        "a policy of\u2026clients",
        "a\u2026ingredients",
        "a policy\u2026patients",
    ]
    assert short_names(["gpt-5.4-mini"], LABEL_INCHES, 9.5) == {"gpt-5.4-mini": "gpt-5.4-mini"}
    assert fitted("a\nb" + "c" * 60, 0.8, 9.5).startswith("a?bc")


def test_what_tells_models_of_a_family_apart_stays() -> None:
    assert short("greedy", *QWEN) == {"greedy": "greedy", **QWEN}


@given(st.sets(st.frozensets(st.sampled_from(WORDS), min_size=5), max_size=4))
def test_no_short_name_could_be_that_of_another_name(words: set[frozenset[str]]) -> None:
    names = {"-".join(sorted(each)): each for each in words}
    for name, text in short(*names).items():
        kept = frozenset(text.replace("\u2026", "-").split("-"))
        assert kept <= names[name]
        for other in words - {names[name]}:
            assert names[name] <= other or not kept <= other, text


def test_who_made_a_model_is_left_out_first_and_a_longer_name_keeps_what_it_has_more() -> None:
    plain = "mistralai/Mistral-Small-3.2-24B-Instruct-2506"
    assert short(plain, f"{plain}-FP8") == {plain: "Mistral-Small-3.2", f"{plain}-FP8": "Mistral-Small\u2026FP8"}


def test_names_that_are_given_stay_and_are_nobody_else_s() -> None:
    [name, other, *_] = QWEN
    mine = {name: "30B-A3B-thinking"}
    assert short_names([name, "x"], LABEL_INCHES, 9.5, mine) == {**mine, "x": "x"}
    assert short_names([other, "30B-A3B-thinking"], LABEL_INCHES, 9.5, mine)["30B-A3B-thinking"] != mine[name]


def test_a_policy_is_called_alike_in_every_figure_whoever_else_is_in_it(make_played: MakePlayed) -> None:
    played = make_played([*QWEN], 2)
    first = next(iter(QWEN))
    assert short(first)[first] != QWEN[first]
    plans = [each for each in figure_plans(played.suite, played.runs) if each.has_values and each.name != "context"]
    assert len(plans) >= 9
    for plan in plans:
        with applied():
            figure = plan.make(plan.frame.loc[plan.frame["policy"].isin([first])])
            assert f">{QWEN[first]}" in svg_of(figure, "alone"), plan.name


def test_short_names_are_explained_once_and_are_the_titles_of_texts(make_played: MakePlayed) -> None:
    played = make_played([*QWEN, "greedy"], 2)
    drawings = drawn_figures(played.suite, played.results, 1, episodes=played.episodes).drawings
    [key, *more] = [each.note.partition("Short names, here and in the figures that follow: ")[2] for each in drawings]
    assert dict(pair.split(" = ")[::-1] for pair in key.removesuffix(".").split("; ")) == QWEN
    assert not any(more)
    for drawing in drawings:
        if not drawing.name.endswith("-context"):  # which names models
            for name, text in QWEN.items():
                assert f"<title>{name}</title>{text}" in drawing.svg, drawing.name
        assert "<title>greedy" not in drawing.svg


def test_seeds_are_never_cut_to_other_numbers() -> None:
    assert seed_names(["1234567891", "7"]) == ["1234567891", "7"]
    assert seed_names(["12345678901234567890123"]) == ["123456\u20260123"]
    assert seed_names(["5a226680de7db6301234", "de7db6305a2266801234"]) == ["5a226680\u2026", "de7db630\u2026"]
    alike = ["12345678901234567890123", "12345699999999999990123"]
    assert seed_names(alike) == alike
