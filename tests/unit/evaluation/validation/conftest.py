"""Rules, and files that are tampered with."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import attrs
import pytest

from ycbench_agents.evaluation.validation import Replay, Rules, SuiteRule, Validation, validate

if TYPE_CHECKING:
    from ycbench_agents.evaluation.folder import EvaluationFolder
    from ycbench_agents.evaluation.suite_file import LoadedSuite


class Bench(Protocol):
    """What the fixture ``bench`` gives (tests/unit/evaluation/conftest.py)."""

    folder: Path
    text: str

    @property
    def out(self) -> EvaluationFolder: ...

    def load(self, text: str | None = None, **environ: str) -> LoadedSuite: ...

    def play(self, *chosen: str, **environ: str) -> object: ...


@attrs.define
class Judge:
    """An evaluation that was played, and the rules for it."""

    bench: Bench
    rules: Rules

    @property
    def folder(self) -> Path:
        return self.bench.out.path

    def run(self, policy: str, seed: int) -> Path:
        [path] = self.bench.out.runs.glob(f"run-{policy}-default-seed{seed}-" + 20 * "[0-9a-f]")
        return path

    def validate(self) -> Validation:
        return validate(self.folder, self.rules)

    def broken(self) -> dict[str, tuple[str, ...]]:
        """The places that break each broken rule."""
        return {check.rule: check.where for check in self.validate().checks if check.is_failed}

    def status(self, rule: str) -> str:
        [status] = [check.status for check in self.validate().checks if check.rule == rule]
        return status

    def edit(self, name: str | Path, change: Callable[[Any], None]) -> None:
        """Change what a file of JSON holds."""
        path = self.folder / name
        value = json.loads(path.read_bytes())
        change(value)
        path.write_text(json.dumps(value), "ascii")

    def edit_turn(self, policy: str, seed: int, turn: int, change: Callable[[Any], None]) -> None:
        path = self.run(policy, seed) / "turns.jsonl"
        lines = path.read_text("ascii").splitlines()
        value = json.loads(lines[turn - 1])
        change(value)
        lines[turn - 1] = json.dumps(value)
        path.write_text("".join(f"{line}\n" for line in lines), "ascii")


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the evaluation is kept that is played once, for every test to have a copy of."""
    return tmp_path_factory.mktemp("validation") / "out"


@pytest.fixture
def judge(bench: Bench, kept: Path) -> Judge:
    """An evaluation under rules that ask for everything but a clean checkout, which tests do not come from."""
    if kept.exists():
        shutil.copytree(kept, bench.folder / "out")
    else:
        bench.play()
        shutil.copytree(bench.folder / "out", kept)
    suite = bench.load().suite
    return Judge(bench, Rules("strict", "all", SuiteRule(suite), replay=Replay(policies=True)))
