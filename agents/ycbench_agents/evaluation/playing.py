"""Playing a suite from Python, in one call."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import attrs

from ycbench_agents.evaluation.backend import Pool, end_workers, processors
from ycbench_agents.evaluation.folder import EvaluationFolder
from ycbench_agents.evaluation.pinning import pinned
from ycbench_agents.evaluation.player import model_player, scripted_player
from ycbench_agents.evaluation.probing import is_own, own_players
from ycbench_agents.evaluation.redaction import Redaction
from ycbench_agents.evaluation.running import EvaluationPlan, evaluate
from ycbench_agents.evaluation.settings_table import SettingsTable, SuiteError
from ycbench_agents.evaluation.suite import Suite
from ycbench_agents.evaluation.suite_file import LoadedSuite, load_suite, refuse_twins, suite_of
from ycbench_agents.records import RecordWarning
from ycbench_env import Config, load_config

if TYPE_CHECKING:
    from collections.abc import Collection

    from ycbench_agents.evaluation.backend import BackendName
    from ycbench_agents.evaluation.episode import EpisodeKey
    from ycbench_agents.evaluation.failure import EpisodeFailure
    from ycbench_agents.evaluation.player import Player
    from ycbench_agents.evaluation.reading import Evaluation
    from ycbench_agents.evaluation.running import EvaluationWatcher
    from ycbench_agents.evaluation.suite import SuitePolicy

__all__ = ["QuietWatcher", "play_suite"]

_LLM: Final = "llm"
_HERE: Final = "__main__:"


class QuietWatcher:
    """Warns of what is odd and tells nothing else."""

    def begin(self, costs: Mapping[EpisodeKey, float], *, reused: int, tried_again: int) -> None:
        """Tell nothing."""

    def end(self, key: EpisodeKey, failure: EpisodeFailure | None) -> None:
        """Tell nothing."""

    def tell(self, message: str) -> None:
        """Warn."""
        warnings.warn(message, RecordWarning, stacklevel=2)


def play_suite(  # noqa: PLR0913 -- one an option of ycbench evaluate
    suite: Suite | Mapping[str, object] | Path | str,
    out: Path | str,
    *,
    policies: Collection[str] = (),
    processes: int | None = None,
    backend: BackendName = "processes",
    address: str | None = None,
    model: str | None = None,
    base_url: str | None = None,
    watcher: EvaluationWatcher | None = None,
) -> Evaluation:
    """Play what is missing of a suite, measure it, and return the evaluation; as ``ycbench evaluate`` does.

    Finished episodes are left alone and failed ones tried again; a failed episode is in the evaluation and raises
    nothing. Policies of one's own, ``module:Class``, are looked for where this process imports from. Language models
    are played in this process, also where an event loop is running, as in a notebook: then in another thread, which
    calls the watcher too. Of a held-out suite no warning and no error names a seed, or the folder of a run.

    Args:
        suite: Path of a TOML file; the keys and values of one, where ``presets`` may hold configurations too; or a
            suite. Environment variables change no setting of it.
        out: Folder of the evaluation.
        policies: Labels of the policies to play now; all where none is named.
        processes: How many episodes at once; one a processor where nothing is said.
        backend: ``processes``, ``ray`` or ``dask``.
        address: Of the cluster.
        model: Model of the policies ``llm`` for which the suite names none.
        base_url: Address of its server, likewise.
        watcher: Is told how far it is; None for one that only warns.

    Raises:
        SuiteError: The suite is not valid, or has no such policy.
        PolicyError: There is no such policy, or it refuses a parameter.
        ConfigError: A configuration cannot be used.
        EvaluationBusyError: Another process is playing into the folder.
        RecordError: A file in the folder is damaged, or nothing can be written there.
        WorkerLostError: Processes cannot be had.
        KeyboardInterrupt: Ctrl-C, or the notebook's stop button; what is played is kept, the same call goes on.
    """
    loaded = _loaded(suite, os.environ)
    chosen = _chosen(loaded.suite, policies)
    has_own = any(is_own(policy) for policy in loaded.suite.policies)
    import_path = tuple(str(Path(each).absolute()) for each in sys.path) if has_own else ()
    own = own_players(loaded.suite, import_path)
    plan = EvaluationPlan(
        loaded=loaded,
        players={
            (policy.label, preset.label): own.get(policy.label) or _player(policy, preset.config, model, base_url)
            for policy in loaded.suite.policies
            if policy.name != _LLM or policy.label in chosen
            for preset in loaded.suite.presets
        },
        folder=EvaluationFolder(out),
        chosen=chosen,
        import_path=import_path,
    )
    observer = watcher or QuietWatcher()
    for warning in loaded.warnings:
        observer.tell(warning)
    if has_own:
        end_workers()  # those of an earlier call have imported the module as it was then
    pool = Pool(processes or processors(), backend, address)
    odd: list[str] = []
    try:
        with Redaction.of_suite(loaded).telling(odd.append):
            played = evaluate(plan, pool, observer)
    finally:
        for message in odd:  # not sooner, since a watcher may warn of it
            observer.tell(message)
    if played.interrupted:
        raise KeyboardInterrupt
    return played.evaluation


def _loaded(suite: Suite | Mapping[str, object] | Path | str, environ: Mapping[str, str]) -> LoadedSuite:
    """Return a suite, whatever it is given as."""
    if isinstance(suite, Suite):
        return _loaded_value(suite)
    if not isinstance(suite, Mapping):
        return load_suite(Path(suite), _load, environ)
    values = cast("dict[str, object]", _plain(suite))
    configs: dict[str, Config] = {}
    if isinstance(values.get("presets"), list):
        values["presets"] = [_named(each, configs) for each in cast("list[object]", values["presets"])]
    return suite_of(SettingsTable(values, "suite"), Path(), lambda name: configs.get(str(name)) or _load(name), environ)


def _load(source: str | Path) -> Config:
    """Return a configuration without what the environment says, which no file of the evaluation would tell."""
    return load_config(source, environ={})


def _named(preset: object, configs: dict[str, Config]) -> object:
    """Return the name of a configuration, and keep it under that name; anything else as it is."""
    if not isinstance(preset, Config):
        return preset
    if configs.setdefault(preset.name, preset) is not preset:
        msg = f"suite: presets: two configurations are called {preset.name!r}; give one another `name`"
        raise SuiteError(msg)
    return preset.name


def _plain(value: object) -> object:
    """Return a value with the mappings and sequences of TOML in place of Python's other ones, like range(1, 4)."""
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in cast("Mapping[object, object]", value).items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_plain(each) for each in cast("Sequence[object]", value)]
    return str(value) if isinstance(value, Path) else value


def _loaded_value(suite: Suite) -> LoadedSuite:
    """Return a suite that is a value already."""
    if suite.is_held_out:
        msg = f"suite {suite.name!r}: got the hashes of its seeds only; play its TOML file, whose variable holds them"
        raise SuiteError(msg)
    if wrong := [seed for seed in suite.seeds if not seed.isdecimal()]:
        msg = f"suite {suite.name!r}: seeds: got {wrong[0]!r}, expected whole numbers of at least 0, as text"
        raise SuiteError(msg)
    for what, labels in (
        ("policies", [policy.label for policy in suite.policies]),
        ("presets", [preset.label for preset in suite.presets]),
        ("seeds", suite.seeds),
    ):
        if not labels or len(set(labels)) < len(labels):
            msg = f"suite {suite.name!r}: {what}: got {', '.join(labels) or 'none'}, expected each once, at least one"
            raise SuiteError(msg)
    place = f"suite {suite.name!r}"
    refuse_twins(suite.policies, place)
    suite = attrs.evolve(suite, policies=tuple(pinned(policy, place) for policy in suite.policies))
    return LoadedSuite(suite, {seed: int(seed) for seed in suite.seeds}, {})


def _chosen(suite: Suite, policies: Collection[str]) -> frozenset[str]:
    """Return the labels of the policies to play."""
    labels = [policy.label for policy in suite.policies]
    # A text is a collection of letters.
    unknown = [policies] if isinstance(policies, str) else [each for each in policies if each not in labels]
    if unknown:
        msg = f"policies: got {unknown[0]!r}, expected a list of labels of the suite: {', '.join(labels)}"
        raise SuiteError(msg)
    return frozenset(policies or labels)


def _player(policy: SuitePolicy, config: Config, model: str | None, base_url: str | None) -> Player:
    """Return who plays a row."""
    if policy.name == _LLM:
        return model_player(policy, config, model, base_url)
    player = scripted_player(policy, config)
    if policy.name.startswith(_HERE) and not player.deliberates:
        msg = (
            f"policy {policy.label!r}: got {policy.name!r}, a class of a notebook or a script, which worker processes "
            "cannot import; write it into a file, in a notebook with %%writefile my_policies.py, and name it "
            f"my_policies:{policy.name.removeprefix(_HERE)}"
        )
        raise SuiteError(msg)
    return player
