"""Grids of cells: client policies by seed, trust by client, calls by command (figures 3b, 4b and 9 of the paper)."""

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.evaluation.figure.cells import STRONGEST, Cell, Grid, draw_grid
from ycbench_agents.evaluation.figure.column import means_by_seed, numbers, seed_names, seeds_of, texts
from ycbench_agents.evaluation.figure.style import HOUSE_STYLE, FigureStyle
from ycbench_agents.evaluation.figure.wording import multiple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd  # pyright: ignore[reportMissingTypeStubs] -- it has none, and is typed all the same
    from matplotlib.axes import Axes

__all__ = [
    "calls_grid",
    "client_policy_grid",
    "draw_calls",
    "draw_client_policy",
    "draw_final_trust",
    "final_trust_grid",
]

_CLIENT_INCHES: Final = 1.9  # for the name of one
_CLIENT_POLICIES: Final = ("both", "select", "avoid", "none")


def draw_client_policy(
    ax: Axes, frame: pd.DataFrame, style: FigureStyle = HOUSE_STYLE, *, names: Mapping[str, str] | None = None
) -> None:
    """Draw which clients each run's notes named: to work with and to avoid, one of the two, or none (figure 4b).

    Args:
        ax: Where to draw.
        frame: Rows of policy, seed, repeat and client_policy (both, select, avoid, none); repeats of a seed that differ
            are named one beside the other.
        style: Colours and letters.
        names: Short names by name, as ``short_names`` returns them; None for some of the frame alone.
    """
    draw_grid(ax, attrs.evolve(client_policy_grid(frame, style), names=names or {}), style)


def client_policy_grid(frame: pd.DataFrame, style: FigureStyle = HOUSE_STYLE) -> Grid:
    """Return what ``draw_client_policy`` draws; narrow cells have first letters."""
    found: dict[tuple[str, str], list[str]] = {}
    for policy, seed, kind in zip(
        texts(frame, "policy"), texts(frame, "seed"), texts(frame, "client_policy"), strict=True
    ):
        kinds = found.setdefault((policy, seed), [])
        kinds.extend([kind] if kind not in kinds else [])
    rows, columns = list(dict.fromkeys(texts(frame, "policy"))), seeds_of(frame)
    cells: list[Cell] = []
    for (policy, seed), kinds in found.items():
        words = [kind for kind in _CLIENT_POLICIES if kind in kinds]
        brief = "".join(word[0] for word in words)
        place = (columns.index(seed), rows.index(policy))
        cells.append(Cell(*place, ", ".join(words), *_client_policy_look(kinds, style), brief))
    key = ", ".join(f"{kind[0]} {kind}" for kind in _CLIENT_POLICIES)
    return Grid(tuple(rows), tuple(f"seed {seed}" for seed in seed_names(columns)), tuple(cells), key)


def _client_policy_look(kinds: Sequence[str], style: FigureStyle) -> tuple[str, float]:
    if len(kinds) > 1:
        return style.grey, 0.3
    looks = {"both": (style.accent, 0.5), "select": (style.accent, 0.25), "avoid": (style.warning, 0.35)}
    return looks.get(kinds[0], (style.grey, 0.08))


def draw_final_trust(
    ax: Axes, frame: pd.DataFrame, style: FigureStyle = HOUSE_STYLE, *, names: Mapping[str, str] | None = None
) -> None:
    """Draw the trust of each client at the end, as a mean over seeds (figure 3b).

    Args:
        ax: Where to draw.
        frame: Rows of policy, seed, client, is_adversarial and final_trust.
        style: Colours and letters.
        names: Short names by name, as ``short_names`` returns them; None for some of the frame alone.
    """
    draw_grid(ax, attrs.evolve(final_trust_grid(frame, style), names=names or {}), style)


def final_trust_grid(frame: pd.DataFrame, style: FigureStyle = HOUSE_STYLE) -> Grid:
    """Return what ``draw_final_trust`` draws."""
    hostile = dict(zip(texts(frame, "client"), texts(frame, "is_adversarial"), strict=True))
    columns = sorted(hostile, key=lambda client: (hostile[client] == "False", list(hostile).index(client)))
    pairs = [f"{p}\0{c}" for p, c in zip(texts(frame, "policy"), texts(frame, "client"), strict=True)]
    means = means_by_seed(pairs, texts(frame, "seed"), numbers(frame, "final_trust"))
    rows = list(dict.fromkeys(texts(frame, "policy")))
    values = {(p, c): fmean(means[f"{p}\0{c}"].values()) for p in rows for c in columns if means.get(f"{p}\0{c}")}
    most = max(values.values(), default=1.0) or 1.0
    cells: list[Cell] = []
    for (policy, client), value in values.items():
        colour = style.accent if hostile[client] == "False" else style.warning
        place = (columns.index(client), rows.index(policy))
        cells.append(Cell(*place, f"{value:.1f}", colour, STRONGEST * max(value, 0.0) / most))
    names = (f"{client}{' (adv.)' * (hostile[client] != 'False')}" for client in columns)
    return Grid(tuple(rows), tuple(names), tuple(cells), heading_inches=_CLIENT_INCHES)


def draw_calls(
    ax: Axes, frame: pd.DataFrame, style: FigureStyle = HOUSE_STYLE, *, names: Mapping[str, str] | None = None
) -> None:
    """Draw how often each command was said in a run, as a mean over seeds (figure 9); the shade is logarithmic.

    Args:
        ax: Where to draw.
        frame: Rows of policy, seed, repeat, command and calls; a command that a run did not say may have no row.
        style: Colours and letters.
        names: Short names by name, as ``short_names`` returns them; None for some of the frame alone.
    """
    draw_grid(ax, attrs.evolve(calls_grid(frame, style), names=names or {}), style)


def calls_grid(frame: pd.DataFrame, style: FigureStyle = HOUSE_STYLE) -> Grid:
    """Return what ``draw_calls`` draws."""
    rows, columns = sorted(set(texts(frame, "command"))), list(dict.fromkeys(texts(frame, "policy")))
    values = _mean_calls(frame, rows)
    most = max(values.values(), default=1.0)
    cells: list[Cell] = []
    for (command, policy), value in values.items():
        strength = STRONGEST * math.log1p(value) / math.log1p(max(most, 1.0))
        place = (columns.index(policy), rows.index(command))
        cells.append(Cell(*place, multiple(value) if value else "", style.accent, strength))
    return Grid(tuple(rows), tuple(columns), tuple(cells))


def _mean_calls(frame: pd.DataFrame, commands: Sequence[str]) -> dict[tuple[str, str], float]:
    """Return mean calls by command and policy; a run without a row of a command did not say it."""
    keys = list(zip(texts(frame, "policy"), texts(frame, "seed"), texts(frame, "repeat"), strict=True))
    said = {
        (*key, command): calls or 0.0
        for key, command, calls in zip(keys, texts(frame, "command"), numbers(frame, "calls"), strict=True)
    }
    runs = list(dict.fromkeys(keys))
    policies, seeds = [run[0] for run in runs], [run[1] for run in runs]
    means: dict[tuple[str, str], float] = {}
    for command in commands:
        by_seed = means_by_seed(policies, seeds, [said.get((*run, command), 0.0) for run in runs])
        means.update({(command, policy): fmean(values.values()) for policy, values in by_seed.items()})
    return means
