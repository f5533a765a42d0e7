"""What may be told of evaluations: of held-out ones no seed, no name of a run's folder, and nothing of a world.

Whoever prints or raises something about runs takes it through here, for what names a file of a run names its seed.
"""

from __future__ import annotations

import contextlib
import re
import warnings
from typing import TYPE_CHECKING, Final, Self

import attrs

from ycbench_agents.evaluation.evaluation_file import EvaluationFile
from ycbench_agents.evaluation.folder import EvaluationFolder
from ycbench_agents.evaluation.heldout import SeedHash, seeds_in_names, without_seeds
from ycbench_agents.records import RecordError, RecordMismatchError, RecordWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable
    from pathlib import Path

    from ycbench_agents.evaluation.old_suite import Suite
    from ycbench_agents.evaluation.suite_file import LoadedSuite

__all__ = ["NOT_SHOWN", "Redaction"]

NOT_SHOWN: Final = "not shown, since the suite is held out"
"""What stands in place of what may not be told."""

_UNKNOWN: Final = "not shown"
_OF_A_TURN: Final = re.compile(r"(turns\.jsonl line [0-9]+: .*?: got ).*(, expected )", re.DOTALL)


@attrs.frozen
class _Secret:
    """The seeds of one evaluation.

    Args:
        seed_hash: How they are named; None where suite.json cannot be read, so that nobody knows.
        names: What they are called.
        seeds: Those that are known.
    """

    seed_hash: SeedHash | None
    names: tuple[str, ...]
    seeds: tuple[int, ...] = attrs.field(repr=False)

    @classmethod
    def of(cls, suite: Suite, seeds: Iterable[int]) -> _Secret | None:
        """Return the secret of a suite, None where its seeds are public."""
        return None if suite.seed_hash is None else cls(suite.seed_hash, suite.seeds, tuple(seeds))

    @classmethod
    def in_folder(cls, folder: EvaluationFolder) -> _Secret | None:
        """Return the secret of an evaluation, None where its seeds are public.

        Where suite.json is lost or cannot be read nobody can tell, so they are taken for secret.
        """
        try:
            suite = EvaluationFile.read(folder).suite
        except RecordError:
            return cls(None, (), _seeds_in(folder))
        return cls.of(suite, _seeds_in(folder))

    def name(self, seed: int) -> str:
        """Return what a seed is called; one of 21 digits or more is cut short in the names of folders."""
        name = _UNKNOWN if self.seed_hash is None else self.seed_hash.of(seed)
        return name if name in self.names else _UNKNOWN


def _seeds_in(folder: EvaluationFolder) -> tuple[int, ...]:
    try:
        return seeds_in_names(path.name for path in folder.runs.iterdir())
    except OSError:
        return ()


@attrs.frozen
class Redaction:
    """Takes out of texts what may not be told; what belongs to public evaluations passes as it is."""

    _secrets: tuple[_Secret, ...] = ()

    @classmethod
    def of_suite(cls, loaded: LoadedSuite) -> Self:
        """Return the redaction for a suite that is played."""
        secret = _Secret.of(loaded.suite, loaded.seeds.values())
        return cls(() if secret is None else (secret,))

    @classmethod
    def of_folders(cls, folders: Iterable[Path]) -> Self:
        """Return the redaction for folders of evaluations, of their runs, or of anything else."""
        places = dict.fromkeys(place for folder in folders if (place := EvaluationFolder.around(folder)) is not None)
        return cls(tuple(secret for place in places if (secret := _Secret.in_folder(place)) is not None))

    @property
    def is_needed(self) -> bool:
        """Whether there is something to hide."""
        return bool(self._secrets)

    def told(self, what: object) -> str:
        """Return what may be told of a message, a warning, an error or a path."""
        if not self._secrets:
            return str(what)
        text = str(what)
        if isinstance(what, RecordMismatchError) and what.differences:  # these tell of the world
            text = f"{text.splitlines()[0]}; what differs is {NOT_SHOWN}"
        text = _OF_A_TURN.sub(rf"\1what is {_UNKNOWN}\2", text)
        for secret in self._secrets:
            text = without_seeds(text, secret.seeds, secret.name)
        return text

    def _error(self, error: RecordError | OSError) -> RecordError | OSError:
        """Return an error of the same kind that tells only what may be told."""
        if isinstance(error, OSError) and error.errno is not None:
            return OSError(error.errno, error.strerror, error.filename and self.told(error.filename))
        if isinstance(error, RecordMismatchError):
            return RecordMismatchError(self.told(error), ())
        return type(error)(self.told(error))

    @contextlib.contextmanager
    def telling(self, tell: Callable[[str], None], kind: type[Warning] = RecordWarning) -> Generator[None]:
        """Hand over warnings as they come up, and raise errors of records and of the system, redacted.

        Args:
            tell: Is handed what a warning says.
            kind: Class of the warnings; others are redacted and shown as ever. Those of records always come up.

        Raises:
            RecordError: There was one.
            OSError: There was one.
        """
        show = warnings.showwarning

        def warn(message: Warning | str, category: type[Warning], *place: object) -> None:
            if issubclass(category, kind):
                tell(self.told(message))
            else:
                show(self.told(message), category, *place)  # pyright: ignore[reportArgumentType] -- as they came

        with warnings.catch_warnings():
            warnings.simplefilter("always", RecordWarning)
            warnings.showwarning = warn
            try:
                yield
            except (RecordError, OSError) as error:
                if not self._secrets:
                    raise
                raise self._error(error) from None
