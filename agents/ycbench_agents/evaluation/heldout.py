"""Held-out seeds: secret numbers that results name by a salted hash.

What protects what: the hash hides a seed only as far as nobody can guess it, for the salt is public and every number
can be tried. So seeds should be drawn at random, of 64 bits or more; scrypt makes each try cost a few hundredths of a
second and 16 MiB. The salt keeps tables that were computed for another suite from fitting. Records of the runs hold the
seeds and the worlds in the clear: they stay where they were played and are never exported.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Final, Self

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ycbench_agents.base import JsonObject
    from ycbench_agents.records.strict_json import Table

__all__ = ["MANY_TO_GUESS", "SeedHash", "secret_seeds", "seeds_in_names", "without_seeds"]

MANY_TO_GUESS: Final = 2**40
"""Seeds below this can be found by trying them all."""

_METHOD: Final = "scrypt-n14-r8-p1"
_COST: Final = 2**14
_BLOCK: Final = 8
_BYTES: Final = 10
_SEED: Final = re.compile(r"[0-9]{1,30}")
_SEED_IN_NAME: Final = re.compile(r"^run-.*-seed([0-9]{1,30})")
_NO_PLACE: Final = "".join(f"(?<!{word} )" for word in ("line", "column", "char", "turn"))
_RUN_FOLDER: Final = re.compile(r"run-[a-z0-9_-]*-seed([0-9]{1,30})-[0-9a-f]{20}(?:-repeat[0-9]+)?")


@attrs.frozen
class SeedHash:
    """How the seeds of a held-out suite are named.

    Args:
        salt: Public text, drawn once at random for each suite.
        method: Name of the hash function.
    """

    salt: str
    method: str = _METHOD

    def of(self, seed: int) -> str:
        """Return the name of a seed: 20 hexadecimal digits."""
        data = hashlib.scrypt(str(seed).encode("ascii"), salt=self.salt.encode(), n=_COST, r=_BLOCK, p=1, dklen=_BYTES)
        return data.hex()

    def without_seeds(self, text: str, seeds: Iterable[int] = ()) -> str:
        """Return a text in which no secret seed stands, but its name; see the function ``without_seeds``."""
        return without_seeds(text, seeds, self.of)

    def to_dict(self) -> JsonObject:
        """Return it as JSON values."""
        return {"method": self.method, "salt": self.salt}

    @classmethod
    def from_table(cls, table: Table) -> Self:
        """Return what ``to_dict`` wrote.

        Raises:
            RecordError: A value is missing, or the function is another.
        """
        if table.get("method", str) != _METHOD:
            table.refuse("method", _METHOD)
        return cls(table.get("salt", str))


def without_seeds(text: str, seeds: Iterable[int], named: Callable[[int], str]) -> str:
    """Return a text in which no secret seed stands, but what it is called.

    Args:
        text: The text. What looks like the folder of a run, whose name holds the seed, is replaced as a whole: the
            digits at its end let anybody try seeds faster than the salted hash does.
        seeds: Secret seeds that are known, which are replaced wherever they stand.
        named: Returns what a seed is called.
    """
    told = _RUN_FOLDER.sub(lambda folder: f"(run of seed {named(int(folder[1]))})", text)
    for seed in sorted(seeds, reverse=True):  # the longest first, for a short one may be a part of it
        told = re.sub(_place_of(seed), lambda _, seed=seed: named(seed), told)
    return told


def _place_of(seed: int) -> str:
    """Return a pattern of where a seed stands; a small one is no part of a longer number or a hash, and no place."""
    return str(seed) if seed >= MANY_TO_GUESS else rf"(?:(?<=seed)|(?<![0-9a-f]){_NO_PLACE}){seed}(?![0-9a-f])"


def seeds_in_names(names: Iterable[str]) -> tuple[int, ...]:
    """Return the seeds that stand in names of runs' folders, from the smallest to the largest."""
    found = (_SEED_IN_NAME.search(name) for name in names)
    return tuple(sorted({int(each[1]) for each in found if each is not None}))


def secret_seeds(variable: str, environ: Mapping[str, str]) -> tuple[int, ...]:
    """Return the seeds in an environment variable, with commas or blanks between them.

    Raises:
        ValueError: There are none, or what stands there is none; the message shows nothing of it.
    """
    words = environ.get(variable, "").replace(",", " ").split()
    if not words:
        msg = f"environment variable {variable}: got nothing, expected secret seeds like {variable}='123...,456...'"
        raise ValueError(msg)
    wrong = [str(place) for place, word in enumerate(words, 1) if not _SEED.fullmatch(word)]
    if wrong:
        msg = f"environment variable {variable}: number {', '.join(wrong)} is no seed, expected whole numbers of at "
        raise ValueError(msg + "least 0 and at most 30 digits, with commas between them")
    seeds = tuple(int(word) for word in words)
    if len(set(seeds)) < len(seeds):
        msg = f"environment variable {variable}: got a seed twice, expected each once"
        raise ValueError(msg)
    return seeds
