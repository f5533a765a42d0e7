"""Grids of cells: client policies by seed, trust by client, calls by command (figures 3b, 4b and 9 of the paper)."""

# matplotlib's stubs leave **kwargs untyped, which strict mode reports at every call:
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING, Final

from ycbench_agents.evaluation.figure.column import means_by_seed, numbers, seeds_of, texts
from ycbench_agents.evaluation.figure.style import HOUSE_STYLE, FigureStyle
from ycbench_agents.evaluation.figure.wording import multiple, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd  # pyright: ignore[reportMissingTypeStubs] -- it has none, and is typed all the same
    from matplotlib.axes import Axes

__all__ = ["draw_calls", "draw_client_policy", "draw_final_trust"]

_STRONGEST: Final = 0.55  # up to which dark letters on light cells, and light ones on dark cells, stay readable
_TILTED: Final = 4  # columns, from which on their names are tilted
_CLIENT_POLICIES: Final = ("both", "select", "avoid", "none")


def draw_client_policy(ax: Axes, frame: pd.DataFrame, style: FigureStyle = HOUSE_STYLE) -> None:
    """Draw which clients each run's notes named: to work with and to avoid, one of the two, or none (figure 4b).

    Args:
        ax: Where to draw.
        frame: Rows of policy, seed, repeat and client_policy (both, select, avoid, none); repeats of a seed that differ
            are named one beside the other.
        style: Colours and letters.
    """
    found: dict[tuple[str, str], list[str]] = {}
    for policy, seed, kind in zip(
        texts(frame, "policy"), texts(frame, "seed"), texts(frame, "client_policy"), strict=True
    ):
        kinds = found.setdefault((policy, seed), [])
        kinds.extend([kind] if kind not in kinds else [])
    rows, columns = list(dict.fromkeys(texts(frame, "policy"))), seeds_of(frame)
    for (policy, seed), kinds in found.items():
        colour, strength = _client_policy_look(kinds, style)
        words = ", ".join(kind for kind in _CLIENT_POLICIES if kind in kinds)
        _draw_cell(ax, columns.index(seed), rows.index(policy), words, colour, strength, style)
    _draw_names(ax, rows, [f"seed {seed[:8]}" for seed in columns], style)


def _client_policy_look(kinds: Sequence[str], style: FigureStyle) -> tuple[str, float]:
    if len(kinds) > 1:
        return style.grey, 0.3
    looks = {"both": (style.accent, 0.5), "select": (style.accent, 0.25), "avoid": (style.warning, 0.35)}
    return looks.get(kinds[0], (style.grey, 0.08))


def draw_final_trust(ax: Axes, frame: pd.DataFrame, style: FigureStyle = HOUSE_STYLE) -> None:
    """Draw the trust of each client at the end, as a mean over seeds (figure 3b).

    Args:
        ax: Where to draw.
        frame: Rows of policy, seed, client, is_adversarial and final_trust.
        style: Colours and letters.
    """
    hostile = dict(zip(texts(frame, "client"), texts(frame, "is_adversarial"), strict=True))
    columns = sorted(hostile, key=lambda client: (hostile[client] == "False", list(hostile).index(client)))
    pairs = [f"{p}\0{c}" for p, c in zip(texts(frame, "policy"), texts(frame, "client"), strict=True)]
    means = means_by_seed(pairs, texts(frame, "seed"), numbers(frame, "final_trust"))
    rows = list(dict.fromkeys(texts(frame, "policy")))
    values = {(p, c): fmean(means[f"{p}\0{c}"].values()) for p in rows for c in columns if means.get(f"{p}\0{c}")}
    most = max(values.values(), default=1.0) or 1.0
    for (policy, client), value in values.items():
        colour = style.accent if hostile[client] == "False" else style.warning
        place = (columns.index(client), rows.index(policy))
        _draw_cell(ax, *place, f"{value:.1f}", colour, _STRONGEST * max(value, 0.0) / most, style)
    _draw_names(ax, rows, [f"{client}{' (adv.)' * (hostile[client] != 'False')}" for client in columns], style)


def draw_calls(ax: Axes, frame: pd.DataFrame, style: FigureStyle = HOUSE_STYLE) -> None:
    """Draw how often each command was said in a run, as a mean over seeds (figure 9); the shade is logarithmic.

    Args:
        ax: Where to draw.
        frame: Rows of policy, seed, repeat, command and calls; a command that a run did not say may have no row.
        style: Colours and letters.
    """
    rows, columns = sorted(set(texts(frame, "command"))), list(dict.fromkeys(texts(frame, "policy")))
    values = _mean_calls(frame, rows)
    most = max(values.values(), default=1.0)
    for (command, policy), value in values.items():
        strength = _STRONGEST * math.log1p(value) / math.log1p(max(most, 1.0))
        place = (columns.index(policy), rows.index(command))
        _draw_cell(ax, *place, multiple(value) if value else "", style.accent, strength, style)
    _draw_names(ax, rows, [shortened(policy) for policy in columns], style)


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


def _draw_cell(  # noqa: PLR0913 -- a place, a text and a look
    ax: Axes, column: int, row: int, words: str, colour: str, strength: float, style: FigureStyle
) -> None:
    ax.bar(column, 0.92, bottom=row - 0.46, width=0.94, color=colour, alpha=max(strength, 0.04), linewidth=0)
    ax.text(column, row, words, size=style.size - 1, color=style.ink, ha="center", va="center")


def _draw_names(ax: Axes, rows: Sequence[str], columns: Sequence[str], style: FigureStyle) -> None:
    ax.set_xlim(-0.5, max(len(columns), 1) - 0.5)
    ax.set_ylim(max(len(rows), 1) - 0.5, -0.5)
    ax.xaxis.tick_top()
    names = [shortened(column, 27) for column in columns]
    if len(columns) > _TILTED:
        ax.set_xticks(range(len(columns)), names, rotation=35, ha="left", rotation_mode="anchor")
    else:
        ax.set_xticks(range(len(columns)), names)
    ax.set_yticks(range(len(rows)), [shortened(row) for row in rows])
    ax.tick_params(length=0, labelcolor=style.ink, pad=3)
    ax.spines["bottom"].set_visible(False)
