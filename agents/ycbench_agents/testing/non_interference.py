"""Worlds that look alike and differ in what an agent must not see: a policy must say the same beside each of them."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, Final

import attrs

from ycbench_agents.base import policy_seed
from ycbench_agents.testing.asking import Student, shown
from ycbench_agents.testing.conformance import play
from ycbench_agents.testing.report import PolicyConformanceError
from ycbench_env import YCBenchEnv, load_config, observe
from ycbench_env.actions import grammar_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ycbench_agents.base import Policy, Turn
    from ycbench_agents.testing.conformance import Played
    from ycbench_env import Observation, State
    from ycbench_env.types import Employee

__all__ = ["check_sees_only_observations", "with_other_hidden_fields"]

_QUESTIONS: Final = ("employee list", "task list", "client list", "client history", "market browse")
_MOST_LOYALTY: Final = 1000  # thousandths
_MULTIPLIERS: Final = (700, 2500)
_SEEDS: Final = 2**40
_RATES_E4: Final = (10_000, 100_000)


def check_sees_only_observations(
    make: Callable[[], Policy],
    *,
    seed: int = 1,
    config: Any = "default",  # noqa: ANN401 -- anything that load_config takes
    turns: Sequence[int] = (0, 5, 20),
    variants: int = 3,
) -> None:
    """Change what is hidden in a world, and raise an AssertionError where the policy's next turn changes with it.

    Loyalties and reward multipliers of clients, forecasts of tasks, the run seed, the counts behind the market's
    replacements and, where they are hidden, the rates of the staff are changed, after the policy has played some turns;
    what it is shown stays the same to the letter.

    Args:
        make: Makes a fresh policy each time it is called.
        seed: Run seed.
        config: Anything that ``load_config`` takes.
        turns: After how many turns of the policy to look; 0 is its first one.
        variants: How many changed worlds to set beside the true one.

    Raises:
        PolicyConformanceError: It sees more than observations, or breaks the contract otherwise.
        ConfigError: The configuration cannot be used.
    """
    world = load_config(config)
    for count in turns:
        played = play(Student(make, grammar_for(world.world)), world, seed, count)
        env = YCBenchEnv(world)
        env.reset(seed=seed)
        for turn in played.turns:
            env.step(turn)
        # As if time had just passed, so that none passes while questions are asked.
        state = attrs.evolve(env.get_state(), idle_turns=0)
        rng = random.Random(f"hidden fields {seed} {count}")  # noqa: S311 -- a simulation, not a secret
        seen, said = _next_turn(make, played, env, state)
        for _ in range(variants):
            again, turn = _next_turn(make, played, env, with_other_hidden_fields(state, rng))
            if str(again) == str(seen) and turn != said:
                msg = (
                    f"seed {seed}, after {count} turns: {shown(turn)} beside a world that differs in hidden figures "
                    f"only, {shown(said)} beside the true one; what the policy was shown is the same, so it looks "
                    "elsewhere"
                )
                raise PolicyConformanceError(msg)


def _next_turn(
    make: Callable[[], Policy], played: Played, env: YCBenchEnv, state: State
) -> tuple[Observation, Turn | None]:
    """Return what is shown in a state, and what a policy says to it that has played the turns before."""
    student, seed = Student(make, env.action_space.grammar), played.report.seed
    student.reset(policy_seed(seed), f"seed {seed}")
    for number, observation in enumerate(played.observations, 1):
        student.act(observation, f"seed {seed}, turn {number}")
    env.set_state(state)
    questions = [question for question in _QUESTIONS if question in env.action_space.verbs]
    observation = env.step(questions)[0] if played.turns else observe(state)
    return observation, student.act(observation, f"seed {seed}, turn {len(played.turns) + 1}")


def with_other_hidden_fields(state: State, rng: random.Random) -> State:
    """Return a state that looks the same; the docstrings of ``ycbench_env.types`` mark its hidden fields."""
    clients = tuple(
        attrs.evolve(
            client,
            loyalty_milli=rng.randint(-_MOST_LOYALTY, _MOST_LOYALTY),
            reward_multiplier_milli=rng.randint(*_MULTIPLIERS),
        )
        for client in state.clients
    )
    tasks = tuple(
        attrs.evolve(task, completion_us=rng.randint(state.now_us + 1, state.calendar.horizon_us), milestone_us=None)
        if task.status == "active" and state.now_us < state.calendar.horizon_us
        else task
        for task in state.tasks
    )
    visible = state.config.world.skill_rates_visible
    staff = state.employees if visible else tuple(_with_other_rates(each, rng) for each in state.employees)
    return attrs.evolve(
        state,
        run_seed=rng.randrange(_SEEDS),
        employees=staff,
        clients=clients,
        tasks=tasks,
        slot_accepts=tuple(count + rng.randint(0, 3) for count in state.slot_accepts),
    )


def _with_other_rates(member: Employee, rng: random.Random) -> Employee:
    return attrs.evolve(member, rates_e4=tuple(rng.randint(*_RATES_E4) for _ in member.rates_e4))
