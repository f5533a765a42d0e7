"""The system prompt, made from the live grammar and configuration.

Only settings that an agent may know are read, see ``_Sentences``; what a client hides, how the market is drawn and the
seeds cannot change a prompt.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from importlib.resources import files
from typing import Final

import attrs

from ycbench_env import Config
from ycbench_env.actions import Grammar, command_list, grammar_for

_PLACEHOLDER: Final = re.compile(r"\{(?P<literal>\{[A-Za-z_][A-Za-z0-9_]*\})\}|\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)\}")
_ITEM: Final = re.compile(r"^[ \t]*[-*][ \t]+\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)\}[ \t]*(?:\n|\Z)", re.MULTILINE)
_ROUND: Final = (("market", "browse"), ("task", "accept"), ("task", "assign"), ("task", "dispatch"), ("sim", "resume"))


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
    sentences = _Sentences(config, keep_turns, token_budget, tools, notes, usable)

    def sentence(name: str) -> str:
        if name not in _PLACEHOLDERS:
            expected = ", ".join(f"{{{known}}}" for known in _PLACEHOLDERS)
            msg = f"template: got {{{name}}}, expected one of {expected}; write {{{{{name}}}}} for the text {{{name}}}"
            raise TemplateError(msg)
        return _PLACEHOLDERS[name](sentences)

    text = default_template() if template is None else template
    text = _ITEM.sub(lambda item: item[0] if sentence(item["name"]) else "", text)
    # One pass: a company may be called "{commands}".
    return _PLACEHOLDER.sub(lambda match: match["literal"] or sentence(match["name"]), text).rstrip()


def with_notes(system: str, notes: str) -> str:
    """Return a system prompt with the notes as they stand now; it says so where there are none."""
    return f"{system}\n\n## Your notes\n\n{notes or 'There are none yet.'}"


def placeholders() -> Mapping[str, str]:
    """Return what each placeholder of a template stands for, by its name."""
    return {name: (method.__doc__ or "").rstrip(".") for name, method in _PLACEHOLDERS.items()}


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


def _dollars(cents: int) -> str:
    """Return an amount as the observation writes it."""
    return f"${cents // 100:,}.{cents % 100:02d}"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _listed(parts: list[str]) -> str:
    """Return parts as "a", "a and b" or "a, b and c"."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


# ---------------------------------------------------------------- sentences


@attrs.frozen
class _Sentences:
    """All that a prompt can say: a method for each placeholder, with its description as the docstring."""

    config: Config
    keep_turns: int | None
    token_budget: int | None
    tools: bool
    has_notes: bool
    grammar: Grammar

    def company(self) -> str:
        """Name of the company."""
        return self.config.sim.company_name or "a company without a name"

    def start(self) -> str:
        """Date and hour at which the simulation starts."""
        return f"{self.config.sim.start_date.isoformat()} at {self.config.world.workday_start_hour:02d}:00"

    def length(self) -> str:
        """Simulated time, in years."""
        return _counted(self.config.sim.horizon_years, "year")

    def funds(self) -> str:
        """Funds at the start."""
        return _dollars(self.config.world.initial_funds_cents)

    def employees(self) -> str:
        """Number of employees."""
        number = self.config.world.num_employees
        return _counted(number, "employee") if number else "no employees"

    def acting(self) -> str:
        """How to act: by calling a tool, or by writing commands."""
        if self.tools:
            return "You act by calling the tool that you are given, with one or more commands as text."
        return "You act by writing commands: reply with one command a line and nothing else, without explanations."

    def turns(self) -> str:
        """When time is moved without being asked, and the limit of turns if there is one."""
        loop = self.config.loop
        text = "Time stands still until you let it pass."
        if loop.auto_advance_after_turns:
            turns = _counted(loop.auto_advance_after_turns, "turn")
            text += f" After {turns} in a row without that, it is moved to the next event by itself."
        if loop.max_turns is not None:
            text += f" The simulation is cut off after {_counted(loop.max_turns, 'turn')}."
        return text

    def commands(self) -> str:
        """Every command with its options, one a line."""
        return command_list(self.grammar)

    def notation(self) -> str:
        """Meaning of the marks in the list of commands."""
        marks = "Brackets mark what may be left out."
        if any(spec.one_of for spec in self.grammar.commands):
            return f"{marks} Of what stands in parentheses, with bars between, give exactly one."
        return marks

    def workflow(self) -> str:
        """The commands of a usual round."""
        return ", ".join(" ".join(verb) for verb in _ROUND if self.grammar.find(verb))

    def memory(self) -> str:
        """What stays of the conversation, and the scratchpad if there is one."""
        budget = self.token_budget and f"about {_counted(self.token_budget, 'token')}"
        if self.keep_turns == 0:
            text = "You see nothing of earlier turns, only the latest observation."
        elif self.keep_turns is None:
            text = "You see all of your turns."
            if budget:
                text = f"You see as many of your last turns as fit, with this message, into {budget}."
        else:
            turns = "your last turn" if self.keep_turns == 1 else f"your last {_counted(self.keep_turns, 'turn')}"
            limit = f", fewer if they do not fit, with this message, into {budget}" if budget else ""
            text = f"You see {turns}{limit}. Earlier ones are removed whole."
        if self.has_notes and self.grammar.find(("scratchpad",)):
            text += (
                " The scratchpad holds notes that are never removed: they stand at the end of this message. Note what "
                "you will need later, rules before single events."
            )
        return text

    def workday(self) -> str:
        """Business days and hours."""
        world = self.config.world
        return f"Monday to Friday from {world.workday_start_hour:02d}:00 to {world.workday_end_hour:02d}:00"

    def resuming(self) -> str:
        """What letting time pass needs, and where it stops."""
        world = self.config.world
        needs = "needs an active task" if world.resume_requires_active_task else "needs no active task"
        if world.resume_stops_at_payroll:
            return f"Letting time pass {needs}, and leads to the next event: a completed task, a payroll or the end."
        pays = "pays the salaries that are due on the way without a stop"
        return f"Letting time pass {needs}, {pays}, and leads to the next event: a completed task or the end."

    def idle(self) -> str:
        """What becomes of a company with nothing active, where no payroll stops time."""
        world, by_itself = self.config.world, self.config.loop.auto_advance_after_turns > 0
        if world.resume_stops_at_payroll or (world.resume_requires_active_task and not by_itself):
            return ""
        how = "that is moved by itself" if world.resume_requires_active_task else "that passes"
        also = ", also when it is moved by itself" if by_itself and not world.resume_requires_active_task else ""
        return f"Time {how} with nothing active runs to the end or to bankruptcy: no event comes before{also}."

    def milestones(self) -> str:
        """At which shares of a task's work time stops."""
        shares = [_percent(share) for share in self.config.world.task_progress_milestones]
        if not shares:
            return "Nothing else stops it."
        return f"It also stops when {_listed(shares)} of a task's work are done."

    def market(self) -> str:
        """What the market shows."""
        world = self.config.world
        scope = "only what you could accept now"
        if world.market_browse_scope == "all":
            scope = "all its tasks, also those that you could not accept yet, the best paid first"
        limit = _counted(world.market_browse_default_limit, "task")
        return f"The market shows {scope}, {limit} at a time unless you ask for another number."

    def holding(self) -> str:
        """How many tasks can be held at once."""
        most = self.config.world.max_open_tasks
        if most is None:
            return "You can hold several tasks at once."
        return (
            f"You can hold {_counted(most, 'task')} at once, planned and active ones together; more are not accepted."
        )

    def rates(self) -> str:
        """That employees differ in skill, and whether their rates are shown."""
        differ = "Employees differ in their rates in each domain"
        if self.config.world.skill_rates_visible:
            return f"{differ}."
        return f"{differ}, and no command shows these: learn them from how fast a team's tasks progress."

    def success(self) -> str:
        """What a task completed in time brings, raises included."""
        world = self.config.world
        text = "A task that is completed by its deadline pays its reward and earns prestige in its domains and skill."
        if not world.salary_bump_pct:
            return text
        basis = "the middle of their tier's range"
        if world.salary_raise_basis == "current_salary":
            basis = "what it is at that time"
        most = "" if world.salary_max_cents == "none" else f", up to {_dollars(world.salary_max_cents)} a month"
        share = _percent(world.salary_bump_pct)
        return f"{text} It also raises the salary of everybody on its team, for good: by {share} of {basis}{most}."

    def failure(self) -> str:
        """What a task completed late costs."""
        world = self.config.world
        fee = world.penalty_fail_funds_pct
        costs = self._costs(
            [f"a fee of {_percent(fee)} of its reward"] if fee else [],
            world.penalty_fail_multiplier,
            world.trust_fail_penalty,
        )
        return f"A task that is completed late pays nothing{costs}. It keeps its team until then."

    def cancelling(self) -> str:
        """What cancelling a task costs."""
        world = self.config.world
        costs = self._costs([], world.penalty_cancel_multiplier, world.trust_cancel_penalty)
        return f"Cancelling a task frees its team and costs no money{costs}."

    def _costs(self, costs: list[str], prestige_multiplier: float, trust: float) -> str:
        """Return the end of a sentence that names costs."""
        if prestige_multiplier:
            times = "" if prestige_multiplier == 1 else f"{_exact(prestige_multiplier)} times "
            costs.append(f"{times}its prestige gain in each of its domains")
        if trust and self.config.world.num_clients:
            costs.append(f"{_rounded(trust)} of the trust of its client")
        return f", but costs {_listed(costs)}" if costs else ""

    def payroll(self) -> str:
        """When salaries are paid."""
        hour = self.config.world.workday_start_hour
        return f"All salaries are paid at {hour:02d}:00 on the first weekday of each month."

    def prestige(self) -> str:
        """Range and use of prestige."""
        world = self.config.world
        text = f"Prestige goes from {_exact(world.prestige_min)} to {_exact(world.prestige_max)} in each domain. "
        if world.prestige_gate == "highest":
            text += "A task can require some, which your highest prestige of all domains must reach; "
        else:
            text += "A task can require some in all of its domains; "
        text += "more of it opens better paid tasks."
        if world.prestige_decay_per_day:
            text += f" It falls by {_exact(world.prestige_decay_per_day)} a day."
        return text

    def trust(self) -> str:
        """Range, use and loss of the trust of clients; nothing in a world without them."""
        world = self.config.world
        if not world.num_clients:
            return ""
        text = f"The trust of a client goes from 0 to {_exact(world.trust_max)}."
        if world.trust_gain_base:
            text += f" A success earns up to {_rounded(world.trust_gain_base)} of it, less the more there is."
        if world.trust_work_reduction_max:
            share = _percent(world.trust_work_reduction_max)
            text += f" Trust makes the work of that client's new tasks smaller, by up to {share}."
        text += " Some tasks require trust."
        if world.trust_cross_decay:
            loss = _rounded(world.trust_cross_decay)
            text += f" Each task that is completed, in time or late, costs {loss} of the trust of every other client."
        if world.trust_decay_per_day:
            text += f" Trust falls by {_rounded(world.trust_decay_per_day)} a day."
        return text

    def reliance(self) -> str:
        """That some clients deceive; nothing in a world without clients."""
        if not self.config.world.num_clients:
            return ""
        return (
            "Not every client can be relied on, and no command tells you which. Learn it from how their tasks turn out."
        )


_PLACEHOLDERS: Final[Mapping[str, Callable[[_Sentences], str]]] = {
    name: method for name, method in vars(_Sentences).items() if inspect.isfunction(method) and not name.startswith("_")
}
