"""docs/llm.md says what is so: its lines run as they stand, with a scripted model in place of the servers they name."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import attrs
import llm_page
import pytest
from pages import updated

from ycbench_agents.llm.prompt import system_prompt
from ycbench_agents.llm.settings import LLMSettings, settings_for
from ycbench_env import load_config

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "llm.md"
ADDRESS = re.compile(r"https?://[\w.-]+(?::\d+)?(?:/\w+)*/v1\b")
A_SERVER_STARTS = "python -m ycbench_agents.llm.loopback"
FOR_A_LINE_S = 240  # for one that hangs; nothing is measured


@attrs.frozen
class Block:
    """A fenced block of a page: the heading that it stands under, its language and its text."""

    heading: str
    language: str
    text: str


def blocks_of(page: Path) -> list[Block]:
    found: list[Block] = []
    for chapter in re.split(r"^#+ (?=.*\n\n)", page.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        heading, _, body = chapter.partition("\n")
        fenced = re.findall(r"^```(\w+)\n(.*?)^```$", body, re.MULTILINE | re.DOTALL)
        found += [Block(heading, language, text) for language, text in fenced]
    return found


BLOCKS = blocks_of(PAGE)
SHELL = [block for block in BLOCKS if block.language == "sh"]
SERVERS = list(
    dict.fromkeys(block.heading for block in SHELL if "your-own-key" in block.text or "token_b" in block.text)
)

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="the lines are for a POSIX shell")


def key_in(text: str) -> tuple[str, str] | None:
    """The variable that a block puts a key into, and the key."""
    found = re.search(r"^export (\w+)=(\S+)$", text, re.MULTILINE)
    return (found[1], found[2]) if found else None


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder for PATH with the programs of this environment."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name, start in (("python", ""), ("ycbench", "-m ycbench_agents.cli")):
        program = folder / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {start} "$@"\n', encoding="utf-8")
        program.chmod(0o755)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the lines are typed."""
    place = tmp_path / "here"
    place.mkdir()
    return place


def environ(programs: Path, url: str, more: dict[str, str]) -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("YCBENCH_", "OPENAI_"))}
    path = f"{programs}{os.pathsep}{clean.get('PATH', '')}"
    return {**clean, "PATH": path, "PYTHONUTF8": "1", "OPENAI_BASE_URL": url, **more}


def typed(text: str, url: str, programs: Path, folder: Path, more: dict[str, str]) -> str:
    """What lines print in a shell, asking the server at ``url`` in place of the one that they name."""
    done = subprocess.run(  # noqa: S603 -- lines of this project's own pages
        ["bash", "-euc", ADDRESS.sub(url, text)],  # noqa: S607 -- whichever there is
        cwd=folder,
        env=environ(programs, url, more),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=FOR_A_LINE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# ---- the lines


def test_what_is_tried_without_a_key_prints_what_the_page_says(programs: Path, folder: Path) -> None:
    start, run, printed = [block.text for block in BLOCKS if block.heading == "Without a key"]
    assert start.startswith(A_SERVER_STARTS)
    with serving(start, programs, folder) as url:
        told = typed(run, url, programs, folder, {})
    assert told == printed


@contextlib.contextmanager
def serving(line: str, programs: Path, folder: Path) -> Generator[str]:
    """The address of the server that a line starts, on a free port."""
    free = re.sub(r"--port \d+", "--port 0", line)
    assert free != line
    process = subprocess.Popen(  # noqa: S603 -- as above
        ["bash", "-euc", f"exec {free}"],  # noqa: S607 -- as above
        cwd=folder,
        env=environ(programs, "", {}),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        found = ADDRESS.search(said)
        assert found, said
        yield found[0]
    finally:
        process.terminate()
        process.communicate(timeout=FOR_A_LINE_S)


def test_every_server_has_its_chapter() -> None:
    assert SERVERS == ["OpenAI", "OpenRouter", "vLLM", "Ollama", "llama.cpp"]
    rows = re.findall(
        r"^\| \[([^]]+)\]\(#([^)]+)\) \| (.*?) \| (.*?) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert [name for name, *_ in rows] == SERVERS
    for name, anchor, address, key in rows:
        assert anchor == re.sub(r"\W", "", name.lower())
        text = "".join(block.text for block in SHELL if block.heading == name)
        assert re.findall(r"--base-url (\S+)", text)[:1] == ADDRESS.findall(address)
        exported = key_in(text)
        assert exported is None if key.startswith("none") else exported is not None
        assert exported is None or f"`{exported[0]}`" in key


def test_the_tables_are_the_generated_ones() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert updated(page, llm_page.tables()) == page, "run scripts/llm_page.py"
    rows = llm_page.tables()["settings"].splitlines()[2:]
    assert [row.split("`")[1] for row in rows] == [field.name for field in attrs.fields(LLMSettings)]
    assert all(row.rstrip("| ").count("|") == 5 for row in rows)


def test_what_the_page_says_of_settings_made_by_hand_is_so() -> None:
    made = LLMSettings(model="m")
    assert (made.temperature, made.top_p, made.timeout_s, made.max_retries) == (None, None, 600, 8)
    usual = settings_for(load_config("default", environ={}), {"model": "m"})
    differing = [name for name, value in made.public().items() if value != usual.public()[name]]
    assert differing == ["temperature", "top_p", "timeout_s", "max_retries"]
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert (
        "leaves `temperature` and `top_p` to the server, waits up to 600 seconds for a reply and tries 8 times" in page
    )


def test_the_template_of_the_page_has_no_placeholder_left_when_it_is_filled() -> None:
    (text,) = [block.text for block in SHELL if "--system-prompt" in block.text]
    template = text.partition("<<'END'\n")[2].partition("END\n")[0]
    config = load_config("default", environ={})
    filled = system_prompt(config, keep_turns=3, token_budget=None, tools=True, notes=True, template=template)
    assert "BenchCo, from 2025-01-01 at 09:00 on for 1 year" in filled
    assert "{" not in filled


@pytest.fixture(autouse=True)
def nothing_is_left_in_the_checkout() -> Iterator[None]:
    before = set(ROOT.iterdir())
    yield
    new = {path.name for path in set(ROOT.iterdir()) - before}
    assert {name for name in new if not name.startswith((".coverage", ".hypothesis"))} == set()  # of pytest's own
