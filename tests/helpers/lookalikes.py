"""Strategies of states that differ only in what an agent must not see."""

from typing import Final

from hypothesis import strategies as st

from ycbench_env.types.state import Employee, State, Task, evolve

HIDDEN_FIELDS: Final = {
    "Client": ("loyalty_milli", "reward_multiplier_milli"),
    "Task": ("completion_us", "milestone_us"),
    "State": ("run_seed", "slot_accepts"),
}
"""The fields that are hidden, by type; the docstrings of ``ycbench_env.types.state`` mark the same ones."""

HIDDEN_UNLESS: Final = {"skill_rates_visible": {"Employee": ("rates_e4",)}}
"""The fields that are hidden unless a setting of ``[world]`` is true, by setting and type; marked likewise."""

_RATES: Final = st.integers(0, 200_000) | st.integers(0, 10**12)  # usual ones, and those of worlds without a cap


@st.composite
def with_other_hidden_fields(draw: st.DrawFn, state: State) -> State:
    """Draws a state that equals another one in everything that an agent may see.

    Loyalties and reward multipliers of all clients, the run seed, the counts of the slots and the forecasts of active
    tasks, none of which is due, are drawn anew; where skills are hidden, so are the rates of the staff.

    Args:
        draw: Given by Hypothesis.
        state: The state to start from.
    """
    loyalties, multipliers = st.integers(-1_000, 1_000), st.integers(700, 2_500)
    clients = tuple(
        evolve(client, loyalty_milli=draw(loyalties), reward_multiplier_milli=draw(multipliers))
        for client in state.clients
    )
    return evolve(
        state,
        run_seed=draw(st.integers(0, 2**63)),
        slot_accepts=tuple(draw(st.integers(0, 5)) for _ in state.slot_accepts),
        clients=clients,
        tasks=_other_forecasts(draw, state),
        employees=state.employees if state.config.world.skill_rates_visible else _other_staff(draw, state),
    )


@st.composite
def with_other_rates(draw: st.DrawFn, state: State) -> State:
    """Draws a state whose staff has other rates, and whose active tasks have other forecasts, none of which is due.

    An agent may see the difference only where ``skill_rates_visible`` is true.
    """
    return evolve(state, employees=_other_staff(draw, state), tasks=_other_forecasts(draw, state))


def reshuffled_clients(state: State) -> st.SearchStrategy[State]:
    """Draws a state with the clients in another order of the world, which decides what the market is made of."""
    return st.permutations(state.clients).map(lambda clients: evolve(state, clients=tuple(clients)))


def _other_staff(draw: st.DrawFn, state: State) -> tuple[Employee, ...]:
    return tuple(evolve(one, rates_e4=tuple(draw(_RATES) for _ in one.rates_e4)) for one in state.employees)


def _other_forecasts(draw: st.DrawFn, state: State) -> tuple[Task, ...]:
    later = st.none() | st.integers(state.now_us + 1, state.calendar.horizon_us)
    return tuple(
        evolve(task, completion_us=draw(later), milestone_us=draw(later)) if task.status == "active" else task
        for task in state.tasks
    )
