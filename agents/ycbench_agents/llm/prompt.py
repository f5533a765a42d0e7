"""The system prompt: a template whose placeholders stand for sentences made from the live grammar and configuration.

Only settings that an agent may know are read; what a client hides, how the market is drawn and the seeds cannot change
a prompt.
"""

from __future__ import annotations

import re
from decimal import Decimal
from importlib.resources import files
from typing import Final

from ycbench_env import Config
from ycbench_env.actions import command_list, grammar_for
from ycbench_env.text import dollars

_PLACEHOLDER: Final = re.compile(r"\{(?P<literal>\{[A-Za-z_][A-Za-z0-9_]*\})\}|\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)\}")
_ITEM: Final = re.compile(r"^[ \t]*[-*][ \t]+\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)\}[ \t]*(?:\n|\Z)", re.MULTILINE)

PLACEHOLDERS: Final = {
    "company": "Name of the company",
    "start": "Date and hour at which the simulation starts",
    "length": "Simulated time, in years",
    "funds": "Funds at the start",
    "employees": "Number of employees",
    "acting": "How to act: by calling a tool, or by writing commands",
    "turns": "When time is moved without being asked, and the limit of turns if there is one",
    "commands": "Every command with its options, one a line",
    "notation": "Meaning of the marks in the list of commands",
    "workflow": "The commands of a usual round",
    "memory": "What stays of the conversation, and the scratchpad if there is one",
    "workday": "Business days and hours",
    "resuming": "What letting time pass needs, and where it stops",
    "idle": "What becomes of a company with nothing active, where no payroll stops time",
    "milestones": "At which shares of a task's work time stops",
    "market": "What the market shows",
    "holding": "How many tasks can be held at once",
    "rates": "That employees differ in skill, and whether their rates are shown",
    "success": "What a task completed in time brings, raises included",
    "failure": "What a task completed late costs",
    "cancelling": "What cancelling a task costs",
    "payroll": "When salaries are paid",
    "prestige": "Range and use of prestige",
    "trust": "Range, use and loss of the trust of clients; nothing in a world without them",
    "reliance": "That some clients deceive; nothing in a world without clients",
}
"""What each placeholder of a template stands for, by its name."""


class TemplateError(ValueError):
    """A template has a placeholder that does not exist; the message lists those that do."""


def system_prompt(  # noqa: PLR0913 -- each changes the prompt
    config: Config,
    *,
    keep_turns: int | None,
    token_budget: int | None,
    tools: bool,
    notes: bool,
    template: str | None = None,
) -> str:
    """Return the system prompt of an episode, without the notes.

    A template is a text in which ``{name}`` stands for what ``PLACEHOLDERS`` describes. ``{{name}}`` is the text
    ``{name}``; all other braces, and every dollar sign, are text as they stand. An item of a list that is nothing but a
    placeholder is left out where that stands for nothing, as what clients do in a world without them.

    Args:
        config: Configuration of the environment.
        keep_turns: Latest turns that the model is shown, None for all.
        token_budget: Most tokens of a request, this prompt included; None for no limit.
        tools: Whether it acts by calling a tool, or by writing commands.
        notes: Whether there is a scratchpad.
        template: Text with placeholders, None for the built-in one.

    Raises:
        TemplateError: The template has an unknown placeholder.
    """
    sentences = {
        **_situation(config),
        **_acting(config, tools=tools, notes=notes),
        "memory": _memory(keep_turns, token_budget, notes=notes),
        **_time(config),
        **_tasks(config),
        **_standing(config),
    }

    def sentence(name: str) -> str:
        if name not in sentences:
            expected = ", ".join(f"{{{known}}}" for known in PLACEHOLDERS)
            msg = f"template: got {{{name}}}, expected one of {expected}; write {{{{{name}}}}} for the text {{{name}}}"
            raise TemplateError(msg)
        return sentences[name]

    text = default_template() if template is None else template
    text = _ITEM.sub(lambda item: item[0] if sentence(item["name"]) else "", text)
    # One pass: a company may be called "{commands}".
    return _PLACEHOLDER.sub(lambda match: match["literal"] or sentence(match["name"]), text).rstrip()


def with_notes(system: str, notes: str) -> str:
    """Return a system prompt with the current notes, or with a sentence in their place while they are empty."""
    return f"{system}\n\n## Your notes\n\n{notes or 'There are none yet.'}"


def default_template() -> str:
    """Return the built-in template, to start one's own from."""
    return files("ycbench_agents.llm").joinpath("system_prompt.md").read_text(encoding="utf-8")


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


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _listed(parts: list[str]) -> str:
    """Return parts as "a", "a and b" or "a, b and c"."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


# ---------------------------------------------------------------- sentences, by placeholder


def _situation(config: Config) -> dict[str, str]:
    sim, world = config.sim, config.world
    return {
        "company": sim.company_name or "a company without a name",
        "start": f"{sim.start_date.isoformat()} at {world.workday_start_hour:02d}:00",
        "length": _counted(sim.horizon_years, "year"),
        "funds": dollars(world.initial_funds_cents),
        "employees": _counted(world.num_employees, "employee") if world.num_employees else "no employees",
    }


def _acting(config: Config, *, tools: bool, notes: bool) -> dict[str, str]:
    acting = "You act by writing commands: reply with one command a line and nothing else, without explanations."
    if tools:
        acting = "You act by calling the tool that you are given, with one or more commands as text."
    turns, loop = "Time stands still until you let it pass.", config.loop
    if loop.auto_advance_after_turns:
        forced = _counted(loop.auto_advance_after_turns, "turn")
        turns += f" After {forced} in a row without that, it is moved to the next event by itself."
    if loop.max_turns is not None:
        turns += f" The simulation is cut off after {_counted(loop.max_turns, 'turn')}."
    grammar = grammar_for(config.world)
    if not notes:
        grammar = grammar.without_command("scratchpad")
    notation = "Brackets mark what may be left out."
    if any(spec.one_of for spec in grammar.commands):
        notation += " Of what stands in parentheses, with bars between, give exactly one."
    return {
        "acting": acting,
        "turns": turns,
        "commands": command_list(grammar),
        "notation": notation,
        "workflow": "market browse, task accept, task assign, task dispatch, sim resume",
    }


def _memory(keep_turns: int | None, token_budget: int | None, *, notes: bool) -> str:
    budget = f"fit, with this message, into about {_counted(token_budget, 'token')}" if token_budget else ""
    if keep_turns == 0:
        text = "You see nothing of earlier turns, only the latest observation."
    elif keep_turns is None:
        text = f"You see as many of your last turns as {budget}." if budget else "You see all of your turns."
    else:
        turns = "your last turn" if keep_turns == 1 else f"your last {_counted(keep_turns, 'turn')}"
        limit = f", fewer if they do not {budget}" if budget else ""
        text = f"You see {turns}{limit}. Earlier ones are removed whole."
    if notes:
        text += (
            " The scratchpad holds notes that are never removed: they stand at the end of this message. Note what you "
            "will need later, rules before single events."
        )
    return text


def _time(config: Config) -> dict[str, str]:
    world, forced = config.world, config.loop.auto_advance_after_turns > 0
    needs_task, stops_at_payroll = world.resume_requires_active_task, world.resume_stops_at_payroll
    resuming = f"Letting time pass needs {'an' if needs_task else 'no'} active task, "
    resuming += "" if stops_at_payroll else "pays the salaries that are due on the way without a stop, "
    resuming += "and leads to the next event: a completed task"
    resuming += ", a payroll or the end." if stops_at_payroll else " or the end."
    idle = ""
    if not stops_at_payroll and (forced or not needs_task):
        passes = "that is moved by itself" if needs_task else "that passes"
        also = ", also when it is moved by itself" if forced and not needs_task else ""
        idle = f"Time {passes} with nothing active runs to the end or to bankruptcy: no event comes before{also}."
    shares = _listed([_percent(share) for share in world.task_progress_milestones])
    start, end = f"{world.workday_start_hour:02d}:00", f"{world.workday_end_hour:02d}:00"
    return {
        "workday": f"Monday to Friday from {start} to {end}",
        "resuming": resuming,
        "idle": idle,
        "milestones": f"It also stops when {shares} of a task's work are done." if shares else "Nothing else stops it.",
        "payroll": f"All salaries are paid at {start} on the first weekday of each month.",
    }


def _tasks(config: Config) -> dict[str, str]:
    world = config.world
    scope = "only what you could accept now"
    if world.market_browse_scope == "all":
        scope = "all its tasks, also those that you could not accept yet, the best paid first"
    limit = _counted(world.market_browse_default_limit, "task")
    holding = "You can hold several tasks at once."
    if world.max_open_tasks is not None:
        most = _counted(world.max_open_tasks, "task")
        holding = f"You can hold {most} at once, planned and active ones together; more are not accepted."
    rates = "Employees differ in their rates in each domain"
    if not world.skill_rates_visible:
        rates += ", and no command shows these: learn them from how fast a team's tasks progress"
    success = "A task that is completed by its deadline pays its reward and earns prestige in its domains and skill."
    if world.salary_bump_pct:
        basis = "what it is at that time"
        if world.salary_raise_basis != "current_salary":
            basis = "the middle of their tier's range"
        most = "" if world.salary_max_cents == "none" else f", up to {dollars(world.salary_max_cents)} a month"
        raised = "It also raises the salary of everybody on its team, for good"
        success += f" {raised}: by {_percent(world.salary_bump_pct)} of {basis}{most}."

    def costs(fee: float, prestige: float, trust: float) -> str:
        """Return the end of a sentence that names costs."""
        parts = [f"a fee of {_percent(fee)} of its reward"] if fee else []
        if prestige:
            times = "" if prestige == 1 else f"{_exact(prestige)} times "
            parts.append(f"{times}its prestige gain in each of its domains")
        if trust and world.num_clients:
            parts.append(f"{_rounded(trust)} of the trust of its client")
        return f", but costs {_listed(parts)}" if parts else ""

    late = costs(world.penalty_fail_funds_pct, world.penalty_fail_multiplier, world.trust_fail_penalty)
    cancelled = costs(0, world.penalty_cancel_multiplier, world.trust_cancel_penalty)
    return {
        "market": f"The market shows {scope}, {limit} at a time unless you ask for another number.",
        "holding": holding,
        "rates": f"{rates}.",
        "success": success,
        "failure": f"A task that is completed late pays nothing{late}. It keeps its team until then.",
        "cancelling": f"Cancelling a task frees its team and costs no money{cancelled}.",
    }


def _standing(config: Config) -> dict[str, str]:
    world = config.world
    prestige = f"Prestige goes from {_exact(world.prestige_min)} to {_exact(world.prestige_max)} in each domain. "
    if world.prestige_gate == "highest":
        prestige += "A task can require some, which your highest prestige of all domains must reach; "
    else:
        prestige += "A task can require some in all of its domains; "
    prestige += "more of it opens better paid tasks."
    if world.prestige_decay_per_day:
        prestige += f" It falls by {_exact(world.prestige_decay_per_day)} a day."
    if not world.num_clients:
        return {"prestige": prestige, "trust": "", "reliance": ""}
    trust = f"The trust of a client goes from 0 to {_exact(world.trust_max)}."
    if world.trust_gain_base:
        trust += f" A success earns up to {_rounded(world.trust_gain_base)} of it, less the more there is."
    if world.trust_work_reduction_max:
        share = _percent(world.trust_work_reduction_max)
        trust += f" Trust makes the work of that client's new tasks smaller, by up to {share}."
    trust += " Some tasks require trust."
    if world.trust_cross_decay:
        loss = _rounded(world.trust_cross_decay)
        trust += f" Each task that is completed, in time or late, costs {loss} of the trust of every other client."
    if world.trust_decay_per_day:
        trust += f" Trust falls by {_rounded(world.trust_decay_per_day)} a day."
    reliance = "Not every client can be relied on, and no command tells you which."
    return {
        "prestige": prestige,
        "trust": trust,
        "reliance": f"{reliance} Learn it from how their tasks turn out.",
    }
