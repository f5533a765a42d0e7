"""Secret seeds: no message holds one, whatever is wrong with a run, whose folder is named by its seed."""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Callable, Generator
from pathlib import Path

import attrs
import pytest

from ycbench_agents.base import Json
from ycbench_agents.cli import main
from ycbench_agents.evaluation import play_suite
from ycbench_agents.evaluation.folder import EvaluationFolder
from ycbench_agents.evaluation.heldout import SeedHash, seeds_in_names, without_seeds
from ycbench_agents.evaluation.playing import QuietWatcher
from ycbench_agents.evaluation.reading import read_evaluation
from ycbench_agents.evaluation.redaction import NOT_SHOWN, Redaction
from ycbench_agents.llm.loopback import LoopbackServer, greedy_model
from ycbench_agents.records import RecordError, RecordMismatchError, RecordWarning, RunBusyError

SEED = 7_777_777_777_777_777_771
SALT = "0123456789abcdef"
SUITE = f"""
name = "secret"
presets = ["default"]
seeds = {{ variable = "HELDOUT", salt = "{SALT}" }}
limits = {{ max_turns = 3 }}
"""
NAME = SeedHash(SALT).of(SEED)
_OF_7 = SeedHash(SALT).of(7)


@pytest.fixture(autouse=True)
def _secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HELDOUT", str(SEED))


def _evaluate(policies: str, *options: str) -> int:
    Path("secret.toml").write_text(f"{SUITE}policies = [{policies}]\n", "utf-8")
    return main(["evaluate", "secret.toml", "--processes", "1", *options])


def _folder(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.mkdir()


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def _spoil(path: Path) -> None:
    path.write_bytes(b"{")


_MODEL = '{ name = "llm" }'


@pytest.mark.parametrize(
    ("name", "damage", "codes", "told"),
    [
        ("run.json", _spoil, (0, 1), ("failed: llm, default, seed NAME: RecordError",)),
        ("run.json", _folder, (0, 1), ("failed: llm, default, seed NAME: ",)),
        (
            "turns.jsonl",
            _cut,
            (0, 0),
            (
                "warning: out/secret/runs/(run of seed NAME)",
                "warning: llm, default, seed NAME: cannot be measured, so it counts as failed: MeasurementError\n",
                "which this report is made from: llm, default, seed NAME: finished there, failed here\n",
            ),
        ),
        (
            "turns.jsonl",
            _folder,
            (0, 2),
            (
                "seed NAME: cannot be measured, so it counts as failed: IsADirectoryError\n",
                "error: out/secret/runs/(run of seed NAME)/turns.jsonl: Is a directory",
            ),
        ),
        (
            "measures.json",
            _folder,
            (0, 1),
            ("to measure: 1 run, which has no measures", "failed: llm, default, seed NAME: RecordError"),
        ),
    ],
)
def test_a_damaged_run_is_told_of_without_its_seed(
    capsys: pytest.CaptureFixture[str],
    name: str,
    damage: Callable[[Path], None],
    codes: tuple[int, int],
    told: tuple[str, ...],
) -> None:
    with LoopbackServer(greedy_model) as server:
        options = ["--model", "greedy", "--base-url", server.base_url]
        assert _evaluate(_MODEL, *options) == 0
        [path] = Path("out/secret/runs").glob(f"*/{name}")
        damage(path)
        assert (main(["report", "out/secret", "--out", "report"]), _evaluate(_MODEL, *options)) == codes
    said = capsys.readouterr()
    assert str(SEED) not in said.out + said.err
    for text in told:
        assert text.replace("NAME", NAME) in said.err


def test_a_damaged_run_of_a_script_is_missing_until_it_is_begun_anew(capsys: pytest.CaptureFixture[str]) -> None:
    policies = '{ name = "idle" }, { name = "greedy" }'
    assert _evaluate(policies) == 0
    [path] = Path("out/secret/runs").glob("run-idle-*/run.json")
    _spoil(path)
    statuses = [episode.status for episode in read_evaluation("out/secret").episodes]
    assert statuses == ["missing", "finished"]
    assert _evaluate(policies) == 0
    said = capsys.readouterr()
    assert f"warning: idle, default, seed {NAME}: its record is damaged; played again" in said.err
    assert str(SEED) not in said.out + said.err


def test_what_somebody_else_put_among_the_files_is_named_with_advice(capsys: pytest.CaptureFixture[str]) -> None:
    Path("out/secret/playing/stray").mkdir(parents=True)
    assert _evaluate('{ name = "idle" }') == 2
    assert "playing/stray: Is a directory; ycbench evaluate has not made it: remove it, or" in capsys.readouterr().err


def test_secret_seeds_are_replaced_by_their_names_wherever_they_stand() -> None:
    digits = "0" * 20
    text = f"x/runs/run-my_bot-default-seed{SEED}-{digits}-repeat2/run.json: seed: {SEED} | 1"
    told = SeedHash(SALT).without_seeds(text, [SEED])
    assert told == f"x/runs/(run of seed {NAME})/run.json: seed: {NAME} | 1"


@attrs.frozen
class Played:
    """A held-out evaluation that was played once, and the server of its model."""

    folder: Path
    url: str


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Generator[Played]:
    folder = tmp_path_factory.mktemp("held_out") / "out"
    with LoopbackServer(greedy_model) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HELDOUT", str(SEED))
        text = SUITE.replace("max_turns = 3", "max_turns = 2")
        toml = folder.with_name("secret.toml")
        toml.write_text(
            f"{text}policies = [{{ name = 'llm', model = 'm', base_url = '{server.base_url}' }}]\n", "utf-8"
        )
        play_suite(toml, folder)
        toml.with_name("rules.toml").write_text('name = "mine"\n', "ascii")
        yield Played(folder, server.base_url)


@pytest.fixture
def copied(played: Played, tmp_path: Path) -> EvaluationFolder:
    """A copy of it, in the working directory."""
    place = EvaluationFolder("out")
    shutil.copytree(played.folder, place.path)
    for name in ("secret.toml", "rules.toml"):
        shutil.copy(played.folder.with_name(name), tmp_path)
    return place


def _remove(path: Path) -> None:
    path.unlink()


def _garble(path: Path) -> None:
    path.write_bytes(b"\xff\x00\n[]\n")


def _blame(path: Path) -> None:
    """Write a failure whose text names the run's folder."""
    [run] = path.with_name("runs").iterdir()
    row = {"policy": "llm", "preset": "default", "seed": NAME, "repeat": 1, "kind": "raised", "error": "E"}
    path.write_text(json.dumps({"format": 1, "failures": [{**row, "text": f"runs/{run.name}"}]}), "ascii")


def _loop(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to(path.name)


def _retype(path: Path) -> None:
    """Turn each number into a text and each truth value into the other, so that errors show what they got."""
    texts = path.read_text("ascii").splitlines() if path.suffix == ".jsonl" else [path.read_text("ascii")]
    path.write_text("".join(json.dumps(_retyped(json.loads(text))) + "\n" for text in texts), "ascii")


def _retyped(value: Json) -> Json:
    match value:
        case dict():
            return {key: each if key == "format" else _retyped(each) for key, each in value.items()}
        case list():
            return [_retyped(each) for each in value]
        case bool():
            return not value
        case int():
            return str(value)
        case _:
            return value


COMMANDS = (
    "report out --out report",
    "validate out --rules rules.toml",
    "export out",
    "export out/runs --format parquet --out turns.parquet",
    "replay out/runs",
    "resume out/runs --no-live",
    "evaluate secret.toml --out out --processes 1",
)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("run.json", _cut),
        ("run.json", _retype),
        ("run.json", _folder),
        ("turns.jsonl", _cut),
        ("turns.jsonl", _garble),
        ("turns.jsonl", _retype),
        ("turns.jsonl", _folder),
        ("measures.json", _folder),
        ("failures.json", _blame),
        ("results.json", _folder),
        ("suite.json", _remove),
        ("suite.json", _loop),
    ],
)
def test_whatever_is_damaged_no_command_tells_or_writes_a_seed_or_the_name_of_a_run(
    copied: EvaluationFolder, capsys: pytest.CaptureFixture[str], name: str, damage: Callable[[Path], None]
) -> None:
    [run] = copied.runs.iterdir()
    damage(run / name if (run / name).exists() else copied.path / name)
    codes = [main(command.split()) for command in COMMANDS]
    assert all(code in {0, 1, 2} for code in codes)
    assert set(codes) > {2}, "a command that shows nothing cannot leak"
    said = capsys.readouterr()
    secrets = (str(SEED), run.name[-20:])
    assert not [line for line in (said.out + said.err).splitlines() if any(secret in line for secret in secrets)]
    kept = {copied.failures, copied.lock, *copied.runs.rglob("*"), *copied.playing.rglob("*")}
    written = [path for path in Path().rglob("*") if path.is_file() and path not in kept]
    assert written
    assert not [path for path in written if any(secret.encode() in path.read_bytes() for secret in secrets)]


def test_a_suite_played_from_python_warns_and_fails_without_its_seeds(copied: EvaluationFolder) -> None:
    class Listening(QuietWatcher):
        def tell(self, message: str) -> None:
            told.append(message)

    told: list[str] = []
    [run] = copied.runs.iterdir()
    _cut(run / "turns.jsonl")
    with pytest.warns(RecordWarning) as warned:
        play_suite("secret.toml", copied.path)
    places = [str(each.message).partition(": ")[0] for each in warned]
    assert places == [f"out/runs/(run of seed {NAME})", f"out/runs/(run of seed {NAME})/turns.jsonl"]
    _cut(run / "turns.jsonl")
    play_suite("secret.toml", copied.path, watcher=Listening())
    assert [message.partition(": ")[0] for message in told] == places
    _folder(run / "turns.jsonl")
    with pytest.raises(IsADirectoryError) as caught:
        play_suite("secret.toml", copied.path)
    assert caught.value.filename == f"out/runs/(run of seed {NAME})/turns.jsonl"
    assert caught.value.__suppress_context__


def test_a_run_that_turns_out_otherwise_is_told_of_without_its_world(
    copied: EvaluationFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    [run] = copied.runs.iterdir()
    turns = run / "turns.jsonl"
    first, *others = turns.read_text("ascii").splitlines(keepends=True)
    turns.write_text(first.replace('"ok":true', '"ok":false') + "".join(others), "ascii")
    assert main(["replay", "out/runs"]) == 1
    assert main(["export", "out", "--format", "parquet", "--out", "turns.parquet"]) == 2
    said = capsys.readouterr()
    assert said.out == f"out/runs/(run of seed {NAME}): differs (recorded | now)\n  {NOT_SHOWN}\n"
    assert said.err.endswith(f"start anew in another folder; what differs is {NOT_SHOWN}\n")
    assert "ok" not in said.err


def test_runs_beside_a_lost_suite_are_not_exported_and_not_gone_on_with(
    copied: EvaluationFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    copied.suite.unlink()
    assert main(["export", "out/runs"]) == 2
    assert main(["resume", "out/runs"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "there is no suite.json; expected the folder that ycbench evaluate wrote" in said.err
    assert "resume: got runs of a held-out evaluation, or of one without a readable suite.json" in said.err
    [run] = copied.runs.iterdir()
    assert Redaction.of_folders([run]).told(f"{run}: {SEED}") == "out/runs/(run of seed not shown): not shown"


def test_what_belongs_to_no_held_out_evaluation_passes_as_it_is(copied: EvaluationFolder) -> None:
    [run] = copied.runs.iterdir()
    shutil.copytree(run, Path("other") / "runs" / run.name)
    assert EvaluationFolder.around(Path("other/runs")) is None
    public = Redaction.of_folders([Path("other"), Path("other/runs") / run.name, Path("nothing")])
    assert (public.is_needed, public.told(run)) == (False, str(run))
    with pytest.raises(RecordError, match=str(SEED)), public.telling(list[str]().append):
        raise RecordError(str(run))
    for path in (copied.path, copied.runs, run, copied.runs / "lost"):
        assert EvaluationFolder.around(path) == EvaluationFolder(copied.path.resolve())
    assert EvaluationFolder.around(run / "run.json") is None
    Path("loop").symlink_to("loop")
    assert EvaluationFolder.around(Path("loop")) is None


def test_errors_and_warnings_keep_their_kind(copied: EvaluationFolder) -> None:
    [run] = copied.runs.iterdir()
    redaction = Redaction.of_folders([copied.path])
    place = f"out/runs/(run of seed {NAME})"
    told: list[str] = []
    errors: tuple[Exception, ...] = (RunBusyError(f"{run}: busy"), OSError(f"{run}: odd"))
    for error in errors:
        with pytest.raises(type(error)) as caught, redaction.telling(told.append):
            raise error
        assert str(caught.value).startswith(place)
    with pytest.raises(RecordMismatchError) as differing, redaction.telling(told.append):
        raise RecordMismatchError(str(run), ["funds: 1 | 2"])
    assert str(differing.value) == f"{place}; what differs is {NOT_SHOWN}"
    assert differing.value.differences == ()
    with pytest.warns(ResourceWarning, match=r"^unclosed file out/runs/\(run of"), redaction.telling(told.append):
        warnings.warn(f"unclosed file {run}", ResourceWarning, stacklevel=1)
    assert told == []
    with redaction.telling(told.append):
        warnings.warn(f"{run}: cut", RecordWarning, stacklevel=1)
    assert told == [f"{place}: cut"]


def test_values_of_a_damaged_turn_are_not_shown(copied: EvaluationFolder) -> None:
    told = Redaction.of_folders([copied.path]).told(
        'x/turns.jsonl line 3: results: got "Helix, Task-9", expected a list'
    )
    assert told == "x/turns.jsonl line 3: results: got what is not shown, expected a list"


def test_a_place_in_a_file_is_no_seed() -> None:
    text = "suite.json: line 4 column 3 (char 3), turn 3, seed 3"
    told = without_seeds(text, [3], lambda _: "not shown")
    assert told == "suite.json: line 4 column 3 (char 3), turn 3, seed not shown"


def test_seeds_are_found_in_names_and_in_the_midst_of_other_digits() -> None:
    assert seeds_in_names(["run-a-default-seed7-0a", "run-b-seed-x-seed7-1", "notes", f"run-c-seed{SEED}"]) == (7, SEED)
    seed_hash = SeedHash(SALT)
    assert seed_hash.without_seeds(f"a{SEED}9 seed7 x7 a7 77", [7, SEED]) == f"a{NAME}9 seed{_OF_7} x{_OF_7} a7 77"
