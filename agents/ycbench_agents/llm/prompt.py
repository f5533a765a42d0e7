"""The system prompt, made from the live grammar and configuration, so that it says what is so.

Only settings that an agent may know are read, see ``_PLACEHOLDERS``; what a client hides, how the market is drawn and
the seeds cannot change a prompt.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from importlib.resources import files
from types import MappingProxyType
from typing import Final

import attrs

from ycbench_env import Config
from ycbench_env.actions import Grammar, command_list, grammar_for

_PLACEHOLDER: Final = re.compile(r"\{(?P<literal>\{[A-Za-z_][A-Za-z0-9_]*\})\}|\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)\}")
_ITEM: Final = re.compile(r"^[ \t]*[-*][ \t]+\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)\}[ \t]*(?:\n|\Z)", re.MULTILINE)
_ROUND: Final = (("market", "browse"), ("task", "accept"), ("task", "assign"), ("task", "dispatch"), ("sim", "resume"))
_NOTES_HEADING: Final = "## Your notes"
_NO_NOTES: Final = "There are none yet."


class TemplateError(ValueError):
    """A template has a placeholder that does not exist; the message lists those that do."""


@attrs.frozen
class _Facts:
    """What a prompt is made from; see ``system_prompt``."""

    config: Config
    keep_turns: int | None
    token_budget: int | None
    tools: bool
    notes: bool
    grammar: Grammar


def system_prompt(  # noqa: PLR0913 -- each changes what the prompt says
    config: Config,
    *,
    keep_turns: int | None,
    token_budget: int | None,
    tools: bool,
    notes: bool,
    template: str | None = None,
    grammar: Grammar | None = None,
) -> str:
    """Return the system prompt of an episode, without the notes.

    A template is a text in which ``{name}`` stands for what ``placeholders`` describes. ``{{name}}`` is the text
    ``{name}``; all other braces, and every dollar sign, are text as they stand. An item of a list that is nothing but a
    placeholder is left out where that stands for nothing, as what clients do in a world without them.

    Args:
        config: Configuration of the environment.
        keep_turns: Latest turns that the model is shown, None for all.
        token_budget: Most tokens of a request, this prompt included; None for no limit.
        tools: Whether it acts by calling a tool, or by writing commands.
        notes: Whether there is a scratchpad.
        template: Text with placeholders, None for the built-in one.
        grammar: Commands of the environment, None for those of the configuration.

    Raises:
        TemplateError: The template has an unknown placeholder.
    """
    known = grammar_for(config.world) if grammar is None else grammar
    usable = known if notes else known.without_command("scratchpad")
    facts = _Facts(config, keep_turns, token_budget, tools, notes, usable)
    text = default_template() if template is None else template

    # One pass: a company may be called "{commands}".
    def filled(match: re.Match[str]) -> str:
        return match["literal"] or _entry(match["name"])[1](facts)

    def kept(item: re.Match[str]) -> str:
        return item[0] if _entry(item["name"])[1](facts) else ""

    return _PLACEHOLDER.sub(filled, _ITEM.sub(kept, text)).rstrip()


def with_notes(system: str, notes: str) -> str:
    """Return a system prompt with the notes as they stand now; it says so where there are none."""
    return f"{system}\n\n{_NOTES_HEADING}\n\n{notes or _NO_NOTES}"


def placeholders() -> Mapping[str, str]:
    """Return what each placeholder of a template stands for, by its name."""
    return {name: description for name, (description, _) in _PLACEHOLDERS.items()}


def default_template() -> str:
    """Return the built-in template, to start one's own from."""
    return files("ycbench_agents.llm").joinpath("system_prompt.md").read_text(encoding="utf-8")


def _entry(name: str) -> tuple[str, Callable[[_Facts], str]]:
    """Return description and function of a placeholder."""
    if name not in _PLACEHOLDERS:
        expected = ", ".join(f"{{{known}}}" for known in _PLACEHOLDERS)
        msg = f"template: got {{{name}}}, expected one of {expected}; write {{{{{name}}}}} for the text {{{name}}}"
        raise TemplateError(msg)
    return _PLACEHOLDERS[name]


# ---------------------------------------------------------------- figures in words


def _exact(value: float) -> str:
    """Return a setting's number as it was written, without exponent."""
    return format(Decimal(repr(value)).normalize(), "f")


def _rounded(value: float) -> str:
    """Return a computed number with 4 significant digits, without exponent."""
    return format(Decimal(f"{value:.4g}").normalize(), "f")


def _percent(fraction: float) -> str:
    """Return a fraction as an exact percentage; in doubles 0.07 x 100 is above 7."""
    return format((Decimal(repr(fraction)) * 100).normalize(), "f") + "%"


def _dollars(cents: int) -> str:
    """Return an amount as the observation writes it."""
    return f"${cents // 100:,}.{cents % 100:02d}"


def _counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural where it is not 1."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _listed(parts: list[str]) -> str:
    """Return parts as "a", "a and b" or "a, b and c"."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _clock(hour: int) -> str:
    """Return an hour of the day."""
    return f"{hour:02d}:00"


# ---------------------------------------------------------------- sentences


def _company(facts: _Facts) -> str:
    return facts.config.sim.company_name or "a company without a name"


def _start(facts: _Facts) -> str:
    config = facts.config
    return f"{config.sim.start_date.isoformat()} at {_clock(config.world.workday_start_hour)}"


def _employees(facts: _Facts) -> str:
    number = facts.config.world.num_employees
    return _counted(number, "employee") if number else "no employees"


def _acting(facts: _Facts) -> str:
    if facts.tools:
        return "You act by calling the tool that you are given, with one or more commands as text."
    return "You act by writing commands: reply with one command a line and nothing else, without explanations."


def _turns(facts: _Facts) -> str:
    loop = facts.config.loop
    sentences = ["Time stands still until you let it pass."]
    if loop.auto_advance_after_turns:
        turns = _counted(loop.auto_advance_after_turns, "turn")
        sentences.append(f"After {turns} in a row without that, it is moved to the next event by itself.")
    if loop.max_turns is not None:
        sentences.append(f"The simulation is cut off after {_counted(loop.max_turns, 'turn')}.")
    return " ".join(sentences)


def _notation(facts: _Facts) -> str:
    marks = "Brackets mark what may be left out."
    if any(spec.one_of for spec in facts.grammar.commands):
        return f"{marks} Of what stands in parentheses, with bars between, give exactly one."
    return marks


def _workflow(facts: _Facts) -> str:
    return ", ".join(" ".join(verb) for verb in _ROUND if facts.grammar.find(verb))


def _memory(facts: _Facts) -> str:
    sentences = [_window(facts)]
    if facts.notes and facts.grammar.find(("scratchpad",)):
        sentences.append("The scratchpad holds notes that are never removed: they stand at the end of this message.")
        sentences.append("Note what you will need later, rules before single events.")
    return " ".join(sentences)


def _window(facts: _Facts) -> str:
    """Return what stays of the conversation."""
    budget = None if facts.token_budget is None else f"about {_counted(facts.token_budget, 'token')}"
    if facts.keep_turns == 0:
        return "You see nothing of earlier turns, only the latest observation."
    if facts.keep_turns is None:
        return (
            f"You see as many of your last turns as fit, with this message, into {budget}."
            if budget
            else "You see all of your turns."
        )
    turns = "your last turn" if facts.keep_turns == 1 else f"your last {_counted(facts.keep_turns, 'turn')}"
    limit = f", fewer if they do not fit, with this message, into {budget}" if budget else ""
    return f"You see {turns}{limit}. Earlier ones are removed whole."


def _workday(facts: _Facts) -> str:
    world = facts.config.world
    return f"Monday to Friday from {_clock(world.workday_start_hour)} to {_clock(world.workday_end_hour)}"


def _resuming(facts: _Facts) -> str:
    """Return what letting time pass needs, and where it stops."""
    world = facts.config.world
    needs = "needs an active task" if world.resume_requires_active_task else "needs no active task"
    if world.resume_stops_at_payroll:
        return f"Letting time pass {needs}, and leads to the next event: a completed task, a payroll or the end."
    pays = "pays the salaries that are due on the way without a stop"
    return f"Letting time pass {needs}, {pays}, and leads to the next event: a completed task or the end."


def _idle(facts: _Facts) -> str:
    """Return what becomes of a company that lets time pass with nothing active, where nothing would stop it."""
    world = facts.config.world
    by_itself = facts.config.loop.auto_advance_after_turns > 0
    if world.resume_stops_at_payroll or (world.resume_requires_active_task and not by_itself):
        return ""
    how = "that is moved by itself" if world.resume_requires_active_task else "that passes"
    also = ", also when it is moved by itself" if by_itself and not world.resume_requires_active_task else ""
    return f"Time {how} with nothing active runs to the end or to bankruptcy: no event comes before{also}."


def _milestones(facts: _Facts) -> str:
    shares = [_percent(share) for share in facts.config.world.task_progress_milestones]
    return f"It also stops when {_listed(shares)} of a task's work are done." if shares else "Nothing else stops it."


def _market(facts: _Facts) -> str:
    world = facts.config.world
    limit = _counted(world.market_browse_default_limit, "task")
    if world.market_browse_scope == "all":
        return (
            "The market shows all its tasks, also those that you could not accept yet, the best paid first, "
            f"{limit} at a time unless you ask for another number."
        )
    return f"The market shows only what you could accept now, {limit} at a time unless you ask for another number."


def _holding(facts: _Facts) -> str:
    most = facts.config.world.max_open_tasks
    if most is None:
        return "You can hold several tasks at once."
    return f"You can hold {_counted(most, 'task')} at once, planned and active ones together; more are not accepted."


def _rates(facts: _Facts) -> str:
    if facts.config.world.skill_rates_visible:
        return "Employees differ in their rates in each domain."
    return (
        "Employees differ in their rates in each domain, and no command shows these: learn them from how fast a team's "
        "tasks progress."
    )


def _success(facts: _Facts) -> str:
    world = facts.config.world
    sentences = [
        "A task that is completed by its deadline pays its reward and earns prestige in its domains and skill."
    ]
    if world.salary_bump_pct:
        basis = (
            "what it is at that time"
            if world.salary_raise_basis == "current_salary"
            else "the middle of their tier's range"
        )
        most = "" if world.salary_max_cents == "none" else f", up to {_dollars(world.salary_max_cents)} a month"
        sentences.append("It also raises the salary of everybody on its team, for good:")
        sentences.append(f"by {_percent(world.salary_bump_pct)} of {basis}{most}.")
    return " ".join(sentences)


def _failure(facts: _Facts) -> str:
    world = facts.config.world
    costs = _losses(world.penalty_fail_multiplier, world.trust_fail_penalty if world.num_clients else 0)
    if world.penalty_fail_funds_pct:
        costs.insert(0, f"a fee of {_percent(world.penalty_fail_funds_pct)} of its reward")
    return f"A task that is completed late pays nothing{_costing(costs)}. It keeps its team until then."


def _cancelling(facts: _Facts) -> str:
    world = facts.config.world
    costs = _losses(world.penalty_cancel_multiplier, world.trust_cancel_penalty if world.num_clients else 0)
    return f"Cancelling a task frees its team and costs no money{_costing(costs)}."


def _losses(prestige_multiplier: float, trust: float) -> list[str]:
    """Return what is lost beside money."""
    times = "" if prestige_multiplier == 1 else f"{_exact(prestige_multiplier)} times "
    prestige = f"{times}its prestige gain in each of its domains"
    losses = [prestige] if prestige_multiplier else []
    return [*losses, f"{_rounded(trust)} of the trust of its client"] if trust else losses


def _costing(costs: list[str]) -> str:
    """Return the end of a sentence that names costs."""
    return f", but costs {_listed(costs)}" if costs else ""


def _payroll(facts: _Facts) -> str:
    hour = _clock(facts.config.world.workday_start_hour)
    return f"All salaries are paid at {hour} on the first weekday of each month."


def _prestige(facts: _Facts) -> str:
    world = facts.config.world
    low, high = (_exact(level) for level in (world.prestige_min, world.prestige_max))
    sentences = [f"Prestige goes from {low} to {high} in each domain."]
    if world.prestige_gate == "highest":
        sentences.append("A task can require some, which your highest prestige of all domains must reach;")
    else:
        sentences.append("A task can require some in all of its domains;")
    sentences.append("more of it opens better paid tasks.")
    if world.prestige_decay_per_day:
        sentences.append(f"It falls by {_exact(world.prestige_decay_per_day)} a day.")
    return " ".join(sentences)


def _trust(facts: _Facts) -> str:
    world = facts.config.world
    if not world.num_clients:
        return ""
    sentences = [f"The trust of a client goes from 0 to {_exact(world.trust_max)}."]
    if world.trust_gain_base:
        gain = _rounded(world.trust_gain_base)
        sentences.append(f"A success earns up to {gain} of it, less the more there is.")
    if world.trust_work_reduction_max:
        share = _percent(world.trust_work_reduction_max)
        sentences.append(f"Trust makes the work of that client's new tasks smaller, by up to {share}.")
    sentences.append("Some tasks require trust.")
    if world.trust_cross_decay:
        loss = _rounded(world.trust_cross_decay)
        sentences.append(
            f"Each task that is completed, in time or late, costs {loss} of the trust of every other client."
        )
    if world.trust_decay_per_day:
        sentences.append(f"Trust falls by {_rounded(world.trust_decay_per_day)} a day.")
    return " ".join(sentences)


def _reliance(facts: _Facts) -> str:
    if not facts.config.world.num_clients:
        return ""
    return "Not every client can be relied on, and no command tells you which. Learn it from how their tasks turn out."


_PLACEHOLDERS: Final[Mapping[str, tuple[str, Callable[[_Facts], str]]]] = MappingProxyType(
    {
        "company": ("name of the company", _company),
        "start": ("date and hour at which the simulation starts", _start),
        "length": ("simulated time, in years", lambda facts: _counted(facts.config.sim.horizon_years, "year")),
        "funds": ("funds at the start", lambda facts: _dollars(facts.config.world.initial_funds_cents)),
        "employees": ("number of employees", _employees),
        "acting": ("how to act: by calling a tool, or by writing commands", _acting),
        "turns": ("when time is moved without being asked, and the limit of turns if there is one", _turns),
        "commands": ("every command with its options, one a line", lambda facts: command_list(facts.grammar)),
        "notation": ("what the marks in the list of commands mean", _notation),
        "workflow": ("the commands of a usual round", _workflow),
        "memory": ("what stays of the conversation, and the scratchpad if there is one", _memory),
        "workday": ("business days and hours", _workday),
        "resuming": ("what letting time pass needs, and where it stops", _resuming),
        "idle": ("what becomes of a company with nothing active, where no payroll stops time", _idle),
        "milestones": ("at which shares of a task's work time stops", _milestones),
        "market": ("what the market shows", _market),
        "holding": ("how many tasks can be held at once", _holding),
        "rates": ("that employees differ in skill, and whether their rates are shown", _rates),
        "success": ("what a task completed in time brings, raises included", _success),
        "failure": ("what a task completed late costs", _failure),
        "cancelling": ("what cancelling a task costs", _cancelling),
        "payroll": ("when salaries are paid", _payroll),
        "prestige": ("range and use of prestige", _prestige),
        "trust": ("range, use and loss of the trust of clients; nothing in a world without them", _trust),
        "reliance": ("that some clients deceive; nothing in a world without clients", _reliance),
    }
)
"""Description and function of each placeholder: all that a prompt can say, and so all that an agent is told."""
