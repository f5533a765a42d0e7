"""States that differ only in what an agent must not see, to prove that it does not."""

from typing import Final

from hypothesis import strategies as st

from ycbench_env.types.state import Client, Employee, State, Task, evolve

__all__ = [
    "HIDDEN_FIELDS",
    "HIDDEN_UNLESS",
    "reshuffled_clients",
    "with_other_hidden_fields",
    "with_other_rates",
]

HIDDEN_FIELDS: Final = {
    "Client": ("loyalty_milli", "reward_multiplier_milli"),
    "Task": ("completion_us", "milestone_us"),
    "State": ("run_seed", "slot_accepts"),
}
"""The fields that are hidden, by type; the docstrings of ``ycbench_env.types.state`` mark the same ones."""

HIDDEN_UNLESS: Final = {"skill_rates_visible": {"Employee": ("rates_e4",)}}
"""The fields that are hidden unless a setting of ``[world]`` is true, by setting and type; marked likewise."""

_LOYALTIES: Final = st.integers(-1_000, 1_000)
_MULTIPLIERS: Final = st.integers(700, 2_500)
_SEEDS: Final = st.integers(0, 2**63)
_ACCEPTS: Final = st.integers(0, 5)
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
    counts = st.lists(_ACCEPTS, min_size=len(state.slot_accepts), max_size=len(state.slot_accepts))
    return evolve(
        state,
        run_seed=draw(_SEEDS),
        slot_accepts=tuple(draw(counts)),
        clients=tuple(draw(_other_client(client)) for client in state.clients),
        tasks=tuple(draw(_other_forecasts(state, task)) for task in state.tasks),
        employees=state.employees if state.config.world.skill_rates_visible else draw(_other_staff(state)),
    )


@st.composite
def with_other_rates(draw: st.DrawFn, state: State) -> State:
    """Draws a state whose staff has other rates, and whose active tasks have other forecasts, none of which is due.

    An agent may see the difference only where ``skill_rates_visible`` is true.
    """
    tasks = tuple(draw(_other_forecasts(state, task)) for task in state.tasks)
    return evolve(state, employees=draw(_other_staff(state)), tasks=tasks)


def reshuffled_clients(state: State) -> st.SearchStrategy[State]:
    """Draws a state with the clients in another order of the world, which decides what the market is made of."""
    return st.permutations(state.clients).map(lambda clients: evolve(state, clients=tuple(clients)))


@st.composite
def _other_staff(draw: st.DrawFn, state: State) -> tuple[Employee, ...]:
    return tuple(
        evolve(employee, rates_e4=tuple(draw(_RATES) for _ in employee.rates_e4)) for employee in state.employees
    )


@st.composite
def _other_client(draw: st.DrawFn, client: Client) -> Client:
    return evolve(client, loyalty_milli=draw(_LOYALTIES), reward_multiplier_milli=draw(_MULTIPLIERS))


@st.composite
def _other_forecasts(draw: st.DrawFn, state: State, task: Task) -> Task:
    if task.status != "active":
        return task
    later = st.none() | st.integers(state.now_us + 1, state.calendar.horizon_us)
    return evolve(task, completion_us=draw(later), milestone_us=draw(later))
