"""Every console, shell and Python block of README.md and docs runs, page by page, from top to bottom."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ycbench_agents.llm.loopback import LoopbackServer, greedy_model

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LONG = {"README.md", *(f"docs/{name}.md" for name in ("classic", "cli", "datasets", "evaluation", "llm"))}  # years
LONG |= {"docs/policies.md", "docs/report.md", "docs/validation.md"}  # and suites
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN = {"json", "text", ""}  # to look at, not to run
NOT_RUN = re.compile(
    r"^(?:[A-Z_]+=\S+ )*(make|uv|pip|\S*/pip|vllm|ollama|llama-server) .*$", re.MULTILINE
)  # installing, other servers
ADDRESS = re.compile(r"https?://[\w.-]+(?::\d+)?(?:/\w+)*/v1\b")
LINK = re.compile(r"\]\((?!https?://|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)")

DRIVER = r"""
import doctest, json, os, pathlib, re, subprocess, sys, types
module = types.ModuleType("page"); sys.modules["page"] = module; servers = []
try:
    for number, language, text in json.loads(pathlib.Path(sys.argv[1]).read_text()):
        print(f"--- block at line {number}", file=sys.stderr, flush=True)
        if name := re.match(r"# ([\w./-]+\.(?:py|toml))\n", text):  # a file of the reader's own
            pathlib.Path(name[1]).parent.mkdir(parents=True, exist_ok=True)
            pathlib.Path(name[1]).write_text(text)
        elif language == "python":
            exec(compile(text, f"block at line {number}", "exec"), vars(module))
        elif language == "pycon":
            test = doctest.DocTestParser().get_doctest(text, {}, "block", None, number)
            test.globs = vars(module)  # a parser's own are a copy, and later blocks would not see the names
            assert not doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, clear_globs=False).failed
        elif language in ("console", "sh"):
            for name, value in re.findall(r"^export (\w+)=(\S+)$", text, re.MULTILINE):
                os.environ[name] = value
            few = {"YCBENCH_LOOP__MAX_TURNS": "3"} if "llm" in text or "--model" in text else {}
            command = ["bash", "-euo", "pipefail", "-c", text]
            if "llm.loopback" in text:
                servers.append(subprocess.Popen(command))
            else:
                subprocess.run(command, check=True, stdin=subprocess.DEVNULL, env={**os.environ, **few})
finally:
    for server in servers:
        server.kill()
"""


def blocks_of(page: Path) -> list[tuple[int, str, str]]:
    """Line number, language and text of each block; of a console block the lines behind the prompt."""
    text = page.read_text(encoding="utf-8")
    found: list[tuple[int, str, str]] = []
    for match in FENCE.finditer(text):
        language, body = match[1], match[2]
        if language == "console":
            lines = re.findall(r"^(?:\$|>) (.*)$", body, re.MULTILINE)
            body = "\n".join(lines) + "\n"
        if language not in SHOWN:
            found.append((text.count("\n", 0, match.start()) + 1, language, body))
    return found


def runnable(text: str, url: str) -> str:
    """The text of a block with the test's server, without lines that install or serve, and with short searches."""
    return re.sub(r"--budget \d+", "--budget 1", NOT_RUN.sub(":", ADDRESS.sub(url, text)))


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with the files of the checkout that pages name."""
    for name in ("configs", "docs/data", "pyproject.toml", "README.md"):
        source, target = ROOT / name, tmp_path / "checkout" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
    return tmp_path / "checkout"


def page_parameters() -> list[object]:
    names = [page.relative_to(ROOT).as_posix() for page in PAGES if any(blocks_of(page))]
    return [pytest.param(name, marks=pytest.mark.slow if name in LONG else ()) for name in names]


@pytest.mark.skipif(shutil.which("bash") is None, reason="the lines are for a POSIX shell")
@pytest.mark.parametrize("name", page_parameters())
def test_page_runs(name: str, checkout: Path, tmp_path: Path) -> None:
    environ = {key: value for key, value in os.environ.items() if not key.startswith(("YCBENCH_", "OPENAI_"))}
    with LoopbackServer(greedy_model) as server:
        blocks = [
            (
                n,
                language,
                runnable(text, server.base_url)
                if language in {"console", "sh"}
                else ADDRESS.sub(server.base_url, text),
            )
            for n, language, text in blocks_of(ROOT / name)
        ]
        (tmp_path / "blocks.json").write_text(json.dumps(blocks), encoding="utf-8")
        environ |= {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{environ.get('PATH', '')}",
            "OPENAI_BASE_URL": server.base_url,
            "OPENAI_API_KEY": "a-key-of-this-test",
            "PYTHONPATH": str(checkout),
        }
        done = subprocess.run(
            [sys.executable, "-c", DRIVER, str(tmp_path / "blocks.json")],
            cwd=checkout,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-5000:]


def anchors_of(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", re.sub(r"`|\[([^]]*)\]\([^)]*\)", r"\1", each).lower()).replace(" ", "-")
        for each in headings
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for target, anchor in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        file = (page.parent / target).resolve() if target else page
        if not file.exists() or (anchor and file.suffix == ".md" and anchor not in anchors_of(file)):
            broken.append(f"{target}#{anchor}")
    assert not broken


def test_make_targets_named_on_pages_exist() -> None:
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {
        name
        for page in PAGES
        for name in re.findall(r"(?:^\$ |`)make ([a-z][a-z0-9-]*)", page.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert named <= targets


def test_nothing_is_installed_from_a_registry_that_lacks_it() -> None:
    sources = [
        *PAGES,
        *(ROOT / "ycbench_env").rglob("*.py"),
        *(ROOT / "agents").rglob("*.py"),
        *(ROOT / "notebooks").glob("*.ipynb"),
    ]
    assert [path.name for path in sources if "install 'ycbench-env" in path.read_text(encoding="utf-8")] == []
