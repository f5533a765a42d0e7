"""The spaces of texts: members, drawing, copying. Gymnasium's own checks of them: tests/unit/env."""

import copy
import pickle
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from ycbench_env.actions import DEFAULT_GRAMMAR
from ycbench_env.spaces import CommandSpace, UnicodeText

COUNT = len(DEFAULT_GRAMMAR.commands)
VARIANT = DEFAULT_GRAMMAR.without_command("client")


def commands(seed: int | None = 1, employees: int = 3) -> CommandSpace:
    return CommandSpace(task_ids=5, employees=employees, seed=seed)


@pytest.mark.parametrize(
    "turn",
    ["", "task list", "a; b", [], ["task list", "sim resume"], ("task list",), np.str_("task list"), "--help"],
    ids=repr,
)
def test_a_turn_in_which_every_command_is_understood_is_a_member(turn: object) -> None:
    assert (turn in commands()) == (turn != "a; b")


@pytest.mark.parametrize(
    "turn", [None, 3, b"task list", "task", ["task list", "task"], ["task list", 3], {"task list"}, "sim resume &&"]
)
def test_anything_else_is_no_member(turn: object) -> None:
    assert turn not in commands()


def test_a_long_text_or_one_that_utf_8_cannot_hold_is_no_member() -> None:
    for text in ("a" * 21, "\u00e9" * 21, "\ud800", "a\udfffb", None, 3, b"a", ["a"]):
        assert text not in UnicodeText(20)
    for text in ("", "a" * 20, "\u00e9"):
        assert text in UnicodeText(20)


def test_every_command_is_drawn_and_every_draw_is_a_member() -> None:
    space = commands()
    drawn = [space.sample() for _ in range(1000)]
    assert all(turn in space for turn in drawn)
    assert {" ".join(turn.split()[:2]) for turn in drawn} == set(space.verbs)
    options = {option.name for spec in DEFAULT_GRAMMAR.commands for option in spec.options}
    assert options == {word for turn in drawn for word in turn.split() if word in options}
    words = {word for turn in drawn for word in turn.replace(",", " ").split() if word.startswith(("Task-", "Emp_"))}
    assert words == {*(f"Task-{number}" for number in range(1, 6)), *(f"Emp_{number}" for number in range(1, 4))}


def test_a_seed_starts_the_draws_anew() -> None:
    space = commands()
    first = [space.sample() for _ in range(20)]
    space.seed(1)
    assert [space.sample() for _ in range(20)] == first
    space.seed(2)
    assert [space.sample() for _ in range(20)] != first


def test_a_mask_or_probabilities_choose_commands() -> None:
    space = commands()
    assert space.verbs == tuple(spec.name for spec in DEFAULT_GRAMMAR.commands)
    mask = np.array([verb in {"task list", "sim resume"} for verb in space.verbs], dtype=np.int8)
    for choice in ({"mask": mask}, {"probability": mask / 2}):
        drawn = {" ".join(space.sample(**choice).split()[:2]) for _ in range(50)}  # pyright: ignore[reportArgumentType]
        assert drawn == {"task list", "sim resume"}
    assert space.sample(mask=np.ones(COUNT, np.int8)) in space


@pytest.mark.parametrize(
    "arguments",
    [
        {"mask": np.zeros(COUNT, np.int8)},
        {"mask": np.full(COUNT, 2, np.int8)},
        {"mask": np.arange(COUNT, dtype=np.int8)},
        {"mask": np.ones(COUNT + 1, np.int8)},
        {"mask": np.ones(COUNT, np.int64)},
        {"mask": [1] * COUNT},
        {"probability": np.ones(COUNT)},
        {"probability": np.array([2.0, -1.0] + [0.0] * (COUNT - 2))},
        {"probability": np.full(COUNT, np.nan)},
        {"probability": np.ones(COUNT, np.float32)},
        {"mask": np.ones(COUNT, np.int8), "probability": np.ones(COUNT)},
    ],
)
def test_a_mask_that_does_not_fit_is_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"a mask of 18 int8|[Pp]robabilities"):
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


def test_spaces_are_compared_by_what_they_hold() -> None:
    variant = CommandSpace(task_ids=5, employees=3, grammar=VARIANT)
    assert commands(1) == commands(2)
    for other in (CommandSpace(task_ids=6, employees=3), commands(employees=4), variant, UnicodeText(5)):
        assert commands() != other
    assert UnicodeText(5, seed=1) == UnicodeText(5)
    assert UnicodeText(5) != UnicodeText(6)
    assert UnicodeText(5) != gym.spaces.Text(5)
    assert repr(commands()) == "CommandSpace(task_ids=5, employees=3)"
    assert repr(variant) == "CommandSpace(task_ids=5, employees=3, grammar=<16 commands>)"
    assert repr(UnicodeText(5)) == "UnicodeText(5)"
    for space in (commands(), UnicodeText(5)):
        assert not space.is_np_flattenable
        with pytest.raises(TypeError, match="unhashable"):
            hash(space)


def test_a_variant_grammar_decides_what_is_a_member() -> None:
    space = CommandSpace(task_ids=1, employees=1, grammar=VARIANT, seed=1)
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


def test_turns_go_to_json_and_back() -> None:
    turns = ["task list", ("sim resume", "task list"), ["x"]]
    assert commands().from_jsonable(commands().to_jsonable(turns)) == ["task list", ["sim resume", "task list"], ["x"]]
