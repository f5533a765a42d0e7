"""The spaces of texts: members, drawing, copying, and how gymnasium uses them."""

import copy
import os
import pickle
import subprocess
import sys
import warnings
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv

from ycbench_env.actions import DEFAULT_GRAMMAR, parse_turn
from ycbench_env.spaces import CommandSpace, UnicodeText


def commands(seed: int | None = 1) -> CommandSpace:
    return CommandSpace(task_ids=5, employees=3, seed=seed)


# ---- members


@pytest.mark.parametrize(
    "turn",
    [
        "",
        "task list",
        "task list; sim resume",
        [],
        ["task list", "sim resume"],
        ("task list",),
        np.str_("task list"),
        "--help",
    ],
    ids=repr,
)
def test_a_turn_in_which_every_command_is_understood_is_a_member(turn: object) -> None:
    assert turn in commands()


@pytest.mark.parametrize(
    "turn", [None, 3, b"task list", "task", ["task list", "task"], ["task list", 3], {"task list"}, "sim resume &&"]
)
def test_anything_else_is_no_member(turn: object) -> None:
    assert turn not in commands()


@pytest.mark.parametrize("text", ["a" * 21, "\u00e9" * 21, "\ud800", "a\udfffb", None, 3, b"a", ["a"]])
def test_a_long_text_or_one_that_utf_8_cannot_hold_is_no_member(text: object) -> None:
    assert text not in UnicodeText(20)


# ---- drawing


def test_every_command_is_drawn_and_every_draw_is_a_member() -> None:
    space = commands()
    drawn = [space.sample() for _ in range(2000)]
    assert all(turn in space for turn in drawn)
    assert {" ".join(turn.split()[:2]) for turn in drawn} == set(space.verbs)
    options = {option.name for spec in DEFAULT_GRAMMAR.commands for option in spec.options}
    assert options == {word for turn in drawn for word in turn.split() if word in options}
    words = {word for turn in drawn for word in turn.replace(",", " ").split() if word.startswith(("Task-", "Emp_"))}
    assert words == {*(f"Task-{number}" for number in range(1, 6)), *(f"Emp_{number}" for number in range(1, 4))}


def test_equal_seeds_draw_equal_commands_in_every_process() -> None:
    program = (
        "from ycbench_env.spaces import *\n"
        "space = CommandSpace(task_ids=5, employees=3, seed=1)\ntext = UnicodeText(50, seed=1)\n"
        "print(ascii([space.sample() for _ in range(200)] + [text.sample() for _ in range(50)]))"
    )
    outputs = {
        subprocess.run(  # noqa: S603 -- this project's own code
            [sys.executable, "-c", program],
            capture_output=True, text=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "1", "random")
    }  # fmt: skip
    space, text = commands(), UnicodeText(50, seed=1)
    assert outputs == {ascii([space.sample() for _ in range(200)] + [text.sample() for _ in range(50)]) + "\n"}


def test_a_seed_starts_the_draws_anew() -> None:
    space = commands()
    first = [space.sample() for _ in range(20)]
    space.seed(1)
    assert [space.sample() for _ in range(20)] == first
    space.seed(2)
    assert [space.sample() for _ in range(20)] != first


def test_a_mask_allows_some_commands() -> None:
    space = commands()
    assert space.verbs[0] == "company status"
    assert space.verbs == tuple(spec.name for spec in DEFAULT_GRAMMAR.commands)
    mask = np.array([verb in {"task list", "sim resume"} for verb in space.verbs], dtype=np.int8)
    assert {" ".join(space.sample(mask=mask).split()[:2]) for _ in range(50)} == {"task list", "sim resume"}


_COUNT = len(DEFAULT_GRAMMAR.commands)


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ({"mask": np.zeros(_COUNT, np.int8)}, "at least one 1"),
        ({"mask": np.full(_COUNT, 2, np.int8)}, "zeros and ones"),
        ({"mask": np.arange(_COUNT, dtype=np.int8)}, "zeros and ones"),
        ({"mask": np.ones(_COUNT + 1, np.int8)}, r"shape \(19,\), expected int8 of shape \(18,\)"),
        ({"mask": np.ones(_COUNT, np.int64)}, "got int64"),
        ({"mask": [1] * _COUNT}, "got list"),
        ({"probability": np.ones(_COUNT)}, "add up to 1"),
        ({"probability": np.array([2.0, -1.0] + [0.0] * (_COUNT - 2))}, "at least 0"),
        ({"probability": np.full(_COUNT, np.nan)}, "at least 0"),
        ({"probability": np.ones(_COUNT, np.float32)}, "got float32"),
        ({"mask": np.ones(_COUNT, np.int8), "probability": np.ones(_COUNT)}, "both"),
    ],
)
def test_a_mask_that_does_not_fit_is_refused(arguments: dict[str, Any], shown: str) -> None:
    with pytest.raises(ValueError, match=shown):
        commands().sample(**arguments)


def test_unicode_text_draws_printable_texts_of_its_length() -> None:
    for length in (0, 1, 10, 10_000):
        space = UnicodeText(length, seed=3)
        drawn = [space.sample() for _ in range(200)]
        assert all(text in space and text.isprintable() for text in drawn)
        assert len(max(drawn, key=len)) == min(length, 80)
    assert not all(text.isascii() for text in drawn)
    with pytest.raises(ValueError, match="no mask"):
        space.sample(mask=np.ones(3))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_a_world_without_tasks_or_employees_still_has_commands() -> None:
    space = CommandSpace(task_ids=0, employees=0, seed=1)
    assert all(space.sample() in space for _ in range(300))


@pytest.mark.parametrize("arguments", [{"task_ids": -1, "employees": 1}, {"task_ids": 1, "employees": -1}])
def test_a_negative_number_is_refused(arguments: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="got -1, expected at least 0"):
        CommandSpace(task_ids=arguments["task_ids"], employees=arguments["employees"])
    with pytest.raises(ValueError, match="got -1, expected at least 0"):
        UnicodeText(-1)


# ---- values


def test_spaces_are_compared_by_what_they_hold() -> None:
    variant = DEFAULT_GRAMMAR.without_command("client")
    assert commands(1) == commands(2)
    assert commands() != CommandSpace(task_ids=6, employees=3)
    assert commands() != CommandSpace(task_ids=5, employees=4)
    assert commands() != CommandSpace(task_ids=5, employees=3, grammar=variant)
    assert commands() != UnicodeText(5)
    assert UnicodeText(5, seed=1) == UnicodeText(5)
    assert UnicodeText(5) != UnicodeText(6)
    assert UnicodeText(5) != gym.spaces.Text(5)
    assert repr(commands()) == "CommandSpace(task_ids=5, employees=3)"
    assert repr(CommandSpace(task_ids=5, employees=3, grammar=variant)) == (
        "CommandSpace(task_ids=5, employees=3, grammar=<16 commands>)"
    )
    assert repr(UnicodeText(5)) == "UnicodeText(5)"
    assert not commands().is_np_flattenable
    assert not UnicodeText(5).is_np_flattenable
    for space in (commands(), UnicodeText(5)):
        with pytest.raises(TypeError, match="unhashable"):
            hash(space)


def test_a_variant_grammar_decides_what_is_a_member() -> None:
    space = CommandSpace(task_ids=1, employees=1, grammar=DEFAULT_GRAMMAR.without_command("client"), seed=1)
    assert "client list" not in space
    assert not any("client " in space.sample().split("--")[0] for _ in range(200))


@pytest.mark.parametrize("space", [commands(1), UnicodeText(30, seed=1)], ids=["commands", "text"])
def test_a_copy_draws_the_same_and_by_itself(space: gym.Space[str]) -> None:
    for twin in (copy.deepcopy(space), pickle.loads(pickle.dumps(space))):  # noqa: S301 -- its own bytes
        assert twin == space
        state = space.np_random.bit_generator.state
        drawn = [twin.sample() for _ in range(20)]
        assert space.np_random.bit_generator.state == state
        assert [copy.deepcopy(space).sample() for _ in range(2)] == drawn[:1] * 2


# ---- gymnasium


class Echo(gym.Env[Any, str]):
    """Shows the number of commands and the turn; ends after three turns."""

    metadata = {"render_modes": []}  # noqa: RUF012 -- gymnasium's own form

    def __init__(self) -> None:
        self.action_space = CommandSpace(task_ids=5, employees=3)
        self.observation_space = gym.spaces.Dict({"text": UnicodeText(10_000), "turn": UnicodeText(10)})
        self._turn = 0

    def reset(
        self,
        *,
        seed: int | None = None,
        options: dict[str, Any] | None = None,  # noqa: ARG002 -- gymnasium's own form
    ) -> tuple[dict[str, str], dict[str, Any]]:
        super().reset(seed=seed)
        self._turn = 0
        return {"text": f"\u00e9{self.np_random.integers(100)}", "turn": "0"}, {}

    def step(self, action: object) -> tuple[dict[str, str], float, bool, bool, dict[str, Any]]:
        self._turn += 1
        text = "\n".join(parsed.text for parsed in parse_turn(action))
        return {"text": text, "turn": str(self._turn)}, 0.0, self._turn == 3, False, {}


def test_gymnasium_s_checker_accepts_both_spaces() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the missing registration
        check_env(Echo(), skip_render_check=True)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_vector_environments_take_and_give_texts(asynchronous: bool) -> None:
    makers = [Echo, Echo]
    env = AsyncVectorEnv(makers, shared_memory=False) if asynchronous else SyncVectorEnv(makers)
    try:
        observations, _ = env.reset(seed=1)
        assert observations in env.observation_space
        env.action_space.seed(1)
        action = env.action_space.sample()
        assert action in env.action_space
        observations, *_ = env.step(action)
        assert observations == {"text": action, "turn": ("1", "1")}
        observations, *_ = env.step(("task list", "sim resume;\nbogus"))
        assert observations["text"] == ("task list", "sim resume\nbogus")
    finally:
        env.close()
