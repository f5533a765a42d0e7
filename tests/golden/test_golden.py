"""Golden playthroughs: short episodes that a person can read; a change of the rules shows as a diff in one.

After a change that is meant: ``python tests/golden/test_golden.py`` writes the files anew; read the diff.
"""

# ruff: noqa: ANN401 -- answers are JSON of many shapes

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import attrs
import gymnasium as gym
import pytest

from ycbench_env.registration import PRESET_OF_ID
from ycbench_env.wrappers import ScratchpadMemory

HERE: Final = Path(__file__).parent


@attrs.frozen
class Playthrough:
    """An episode to play: what it shows, where, and the turns."""

    name: str
    shows: str
    env_id: str
    seed: int
    config: dict[str, Any]
    turns: tuple[str, ...]


def contract(task_id: str, team: str) -> str:
    """Return the commands that take a task on."""
    one = f"--task-id {task_id}"
    return f"task accept {one} && task assign {one} --employees {team} && task dispatch {one}"


_ALL_SEVEN: Final = "Emp_1,Emp_2,Emp_3,Emp_4,Emp_5,Emp_6,Emp_7"
_BY_ID: Final = "task assign --task-id Task-4 --employee-id"

PLAYTHROUGHS: Final = (
    Playthrough(
        name="first_contract",
        shows="A contract from the market to the bank: what every command answers on the way.",
        env_id="YCBench-v0",
        seed=1,
        config={},
        turns=(
            "company status\nemployee list\nclient list",
            "market browse --limit 3; market browse --domain training --reward-min-cents 600000 --limit 2 --offset 1",
            "task inspect --task-id Task-8\ntask accept --task-id Task-8",
            "task assign --task-id Task-8 --employees Emp_4, Emp_6, Emp_7; task dispatch --task-id Task-8 && task list",
            "sim resume",
            "task inspect --task-id Task-8\ncompany status\nclient history",
            *[""] * 5,
            "finance ledger --to 02/03/2025; finance ledger --category task_reward; report monthly",
        ),
    ),
    Playthrough(
        name="trap_and_mistakes",
        shows="A client that inflates the work once it is accepted, a cancel, and how mistakes are answered.",
        env_id="YCBench-v0",
        seed=2,
        config={"world": {"initial_prestige_level": 2.0, "trust_fragility": 0.6}},
        turns=(
            "market browse --limit 4",
            "task inspect --task-id Task-5",
            "task accept --task-id Task-5; task inspect --task-id Task-5",
            "task dispatch --task-id Task-5\nsim resume\ntask accept --task-id Task-5",
            "task assign --task-id Task-5 --employees Emp_1,emp_2\ntask assing --task-id Task-5 --employees Emp_1",
            "task cancel --task-id Task-5",
            'task cancel --task-id Task-5 --reason "four times the work; no thanks"',
            "task cancel --task-id Task-5 --reason again && company status",
            "market browse --limit 0; task list --status open; scratchpad write --content client's late",
            "```bash\n$ yc-bench task inspect --task-id Task-5\n```",
            "task cancel --help",
        ),
    ),
    Playthrough(
        name="shared_team_to_bankruptcy",
        shows="Reference rules: one team on two tasks, milestones, raises, a late end, and no money left.",
        env_id="YCBenchReference-v0",
        seed=3,
        config={
            "loop": {"auto_advance_after_turns": 2},
            "world": {
                "initial_funds_cents": 8_000_000,
                "task_progress_milestones": [0.5],
                "dist": {"domain_count": {"type": "constant", "value": 2}},
            },
        },
        turns=(
            "market browse --limit 3",
            f"{contract('Task-26', 'Emp_4,Emp_6')}\n{contract('Task-189', 'Emp_4,Emp_6,Emp_7')}",
            "scratchpad write --content 'both teams share Emp_4 and Emp_6'; sim resume",
            "sim resume",
            "employee list; client list; task list",
            *[""] * 5,
            "company status; sim resume",
        ),
    ),
    Playthrough(
        name="classic_hidden_skills",
        shows="Classic rules: tasks of nobody, skills unseen, milestones, compounding raises, payrolls on the way.",
        env_id="YCBenchClassicHard-v0",
        seed=1,
        config={"world": {"initial_funds_cents": 12_000_000}},
        turns=(
            "company status\nemployee list\nclient list",
            "market browse --required-prestige-lte 1 --limit 2; market browse --limit 2",
            "task accept --task-id Task-9; task accept --task-id Task-4",
            f"{_BY_ID} Emp_2; {_BY_ID} Emp_2; {_BY_ID} Emp_9 && task list",
            f"task assign --task-id Task-4 --employees {_ALL_SEVEN} && task dispatch --task-id Task-4",
            "sim resume\nsim resume\nsim resume\nsim resume",
            "employee list; task inspect --task-id Task-4; company status",
            f"{contract('Task-2', 'Emp_1')}\nsim resume\nreport monthly",
            "task cancel --task-id Task-2 --reason 'one alone is too slow'",
            "sim resume",
        ),
    ),
)


def transcript(playthrough: Playthrough) -> str:
    """Return an episode as text: for each turn the commands, the answers, and the status that follows."""
    env = ScratchpadMemory(gym.make(playthrough.env_id, config={**_preset(playthrough), **playthrough.config}))
    observation, _ = env.reset(seed=playthrough.seed)
    where = f"{playthrough.env_id}, seed {playthrough.seed}, {json.dumps(playthrough.config)}"
    lines = [playthrough.shows, where, "", f"    {_status(observation)}"]
    for number, turn in enumerate(playthrough.turns, 1):
        observation, reward, terminated, truncated, info = env.step(turn)
        lines += ["", f"=== turn {number}" + ("" if turn else ": nothing")]
        for result in info["results"]:
            lines += [f"> {result['command']}", *_answer(result["output"], "" if result["ok"] else "refused: ")]
        if info["forced_advance"]:
            lines.append("(time was moved on)")
            lines += [f"  {json.dumps(event)}" for event in info["events"]]
        lines.append(f"    {_status(observation)}")
        if reward:
            lines.append(f"    reward {reward:+,.2f}")
        if observation["notes"]:
            lines.append(f"    notes: {observation['notes']}")
        if terminated or truncated:
            lines.append(f"    the end: {info['terminal_reason']}")
    return "\n".join(lines) + "\n"


def _preset(playthrough: Playthrough) -> dict[str, str]:
    return {"extends": PRESET_OF_ID[playthrough.env_id]}


def _status(observation: Any) -> str:
    """Return the first line of what a language model reads."""
    return observation["text"].splitlines()[0]


def _answer(output: dict[str, Any], mark: str) -> list[str]:
    """Return an answer with a line for each key, and for each item of a list of objects."""
    lines: list[str] = []
    for key, value in output.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            lines.append(f"  {key}:")
            lines += [f"    {json.dumps(item, ensure_ascii=False)}" for item in value]
        elif key in {"error", "help"}:
            lines += [f"  {mark}{line}" for line in str(value).splitlines()]
        else:
            lines.append(f"  {key}: {json.dumps(value, ensure_ascii=False)}")
    return lines


def golden_file(playthrough: Playthrough) -> Path:
    """Return where an episode is kept."""
    return HERE / f"{playthrough.name}.txt"


@pytest.mark.parametrize("playthrough", PLAYTHROUGHS, ids=lambda one: one.name)
def test_the_episode_goes_as_it_was_written_down(playthrough: Playthrough) -> None:
    expected = golden_file(playthrough).read_text(encoding="utf-8")
    assert transcript(playthrough).splitlines() == expected.splitlines()


def test_every_text_here_is_an_episode() -> None:
    assert {file.stem for file in HERE.glob("*.txt")} == {one.name for one in PLAYTHROUGHS}


if __name__ == "__main__":
    for one in PLAYTHROUGHS:
        golden_file(one).write_text(transcript(one), encoding="utf-8", newline="\n")
