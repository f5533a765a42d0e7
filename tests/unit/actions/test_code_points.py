"""What a character means does not depend on the interpreter's Unicode tables, which grow with its version.

Run as a program it prints the digest of a range, so that another interpreter can be asked.
"""

import hashlib
import subprocess
import sys
import types
from pathlib import Path

if __name__ == "__main__":  # another interpreter, which has no packages of its own
    sys.path += sys.argv[1:]

import pytest

pytestmark = pytest.mark.no_cover  # slow under coverage, and other tests reach the same lines

ROOT = Path(__file__).parents[3]
PYTHONS = [Path.home() / ".pyenv" / "versions" / version / "bin" / "python3" for version in ("3.12.1", "3.13.0")]
USUAL = ("```{0}\ntask list\n```", "scratchpad write --content {0}x")
"""A character where it may be a tag of a fence, a blank, a dash, a quote, a sign or text."""

MORE = (
    "task list{0}",
    "task accept {0}task-id Task{0}1",
    "market browse --limit 1{0}",
    "scratchpad write --content '{0}' {0}",
    "TASK{0} list",
)
"""The same where a mistake is explained, which takes longer."""


def digest(codes: range, templates: tuple[str, ...]) -> str:
    """Return the SHA-256 of what each of these code points means in each place."""
    from ycbench_env.actions import parse_turn  # noqa: PLC0415 -- found by the program below

    found = hashlib.sha256()
    for code in codes:
        for parsed in parse_turn([template.format(chr(code)) for template in templates]):
            found.update(ascii((parsed.text, parsed.command, parsed.error, parsed.chained)).encode())
    return found.hexdigest()


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        (
            range(0x3100),
            "0a9cdc58f5297c0a2daf3a5d1d5135041e784babe71d199a903e9a2ae6316eae",
        ),  # with every character that means something
        (range(0x3100, 0x110000, 67), "33ca57141b3849485984afab7e6f5559b29b077c72f0dcb997137171464fe1ef"),
        pytest.param(
            range(0x110000),
            "180cbf612777954cf3bf4b7424f85c03065bb6d858327c47e277622645966605",
            marks=pytest.mark.slow,
        ),
    ],
    ids=["signs", "samples", "all"],
)
def test_every_code_point_means_what_it_meant(codes: range, expected: str) -> None:
    assert digest(codes, USUAL) == expected


def test_a_letter_that_only_new_pythons_know_is_no_tag() -> None:
    from ycbench_env.actions import parse_turn  # noqa: PLC0415 -- as above

    for letter in ("\U00031350", "\u00e9", "\u0663"):
        (parsed,) = parse_turn(f"```{letter}\ntask list\n```")
        assert parsed.error is not None
        (parsed,) = parse_turn(f"market browse --limit {letter}")
        assert parsed.error is not None


@pytest.mark.slow
@pytest.mark.parametrize("python", PYTHONS, ids=lambda path: path.parent.parent.name)
def test_another_interpreter_reads_every_code_point_alike(python: Path) -> None:
    if not python.exists():
        pytest.skip(f"there is no {python}")
    packages = str(Path(pytest.__file__).parents[1])
    command = [str(python), __file__, str(ROOT), packages]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 -- this file
    assert done.stdout.split() == answers()


def answers() -> list[str]:
    """Return the digests that interpreters are compared by."""
    return [digest(range(0, 0x110000, 3), USUAL), digest(range(0, 0x40000, 17), MORE)]


if __name__ == "__main__":
    package = types.ModuleType("ycbench_env")  # without what the package itself imports, which has compiled parts
    package.__path__ = [f"{sys.argv[1]}/ycbench_env"]
    sys.modules["ycbench_env"] = package
    sys.stdout.write("\n".join(answers()))
