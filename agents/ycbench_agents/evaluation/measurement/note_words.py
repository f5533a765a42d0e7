"""The words by which notes judge clients; docs/measurements.md prints these lists, and a test compares the two.

In the lists ``*`` stands for any further letters, a blank for any blanks, and a colon at the end for one that follows.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["AVOIDANCE", "DEALING", "FILLERS", "NEGATIONS", "PREFERENCE", "Attitude", "judgements"]

Attitude: TypeAlias = Literal["select", "avoid"]
"""What notes say of a client."""

AVOIDANCE: Final = (
    *("avoid*", "blacklist*", "black-list*", "black list*", "ban", "bans", "banned", "boycott*", "skip*", "ignor*"),
    *("reject*", "refus*", "stay away", "staying away", "keep away", "steer clear", "drop", "dropped", "dropping"),
    *("quit", "exclud*", "beware", "adversar*", "unreliable", "untrust*", "distrust*", "dishonest", "scam*", "trap"),
    *("traps", "malicious", "cheat*", "inflat*", "scope creep*", "scope-creep*", "rat", "rats", "toxic", "dangerous"),
    *("bad", "worst", "no more", "never:", "no work with", "no work for", "no work from", "no deal with"),
    *("no deals with", "no dealing with", "no working with"),
)
"""Words that say that a client is to be avoided."""

PREFERENCE: Final = (
    *("prefer*", "focus*", "prioritis*", "prioritiz*", "whitelist*", "white-list*", "white list*", "allowlist*"),
    *("allow-list*", "allow list*", "favor*", "favour*", "concentrat*", "stick to", "stick with", "sticking to"),
    *("sticking with", "stay with", "staying with", "build trust", "build up trust", "building trust"),
    *("building up trust", "select*", "target*", "specialise*", "specialize*", "reliable", "trusted", "trustworthy"),
    *("loyal", "honest", "safe", "good", "best", "great", "main client", "main clients", "core client"),
    *("core clients", "key client", "key clients", "primary client", "primary clients"),
)
"""Words that say that a client is one to work with."""

DEALING: Final = (
    *("accept", "accepting", "be accepted", "take", "taking", "be taken", "work", "working", "be worked", "use"),
    *("using", "be used", "touch", "touching", "be touched", "deal", "dealing", "pick", "picking", "be picked"),
    *("bother", "bothering", "sign", "signing", "be signed", "choose", "choosing", "be chosen"),
)
"""Words of dealing with a client: with a negation before them an avoidance, beside "only" a preference."""

NEGATIONS: Final = ("not", "n't", "never", "no", "no longer", "stop", "cannot", "hardly", "without", "non-")
"""Words that turn a preference into an avoidance, and take an avoidance back; "no" and "non-" not before dealing."""

FILLERS: Final = (
    *("a", "an", "the", "any", "so", "too", "very", "really", "that", "to", "be", "ever", "even", "again", "just"),
    *("simply", "more", "known", "sign of", "signs of", "evidence of", "hint of", "hints of", "trace of"),
)
"""Words of which up to three may stand between a negation, or "only", and its word."""

_NEVER_BEFORE_DEALING: Final = ("no", "non-")


def _pattern(phrase: str) -> str:
    words = r"\s+".join(re.escape(word).replace(r"\*", r"\w*") for word in phrase.removesuffix(":").split())
    begin = r"\b" if phrase[0].isalpha() and phrase != "n't" else ""
    end = r"\b(?=\s*:)" if phrase.endswith(":") else "" if phrase.endswith("-") else r"\b"
    return f"{begin}{words}{end}"


def _any_of(phrases: Iterable[str]) -> str:
    return "(?:" + "|".join(_pattern(phrase) for phrase in sorted(phrases, key=len, reverse=True)) + ")"


_FILLED: Final = rf"(?:\s+{_any_of(FILLERS)}){{0,3}}"
_DEAL: Final = rf"{_any_of(DEALING)}(?!\s+of\b)"  # no "sign of trouble", no "use of"
_REFUSAL: Final = _any_of(phrase for phrase in NEGATIONS if phrase not in _NEVER_BEFORE_DEALING)
_JUDGEMENT: Final = re.compile(
    rf"""
    (?P<refused> {_REFUSAL}{_FILLED}\s+{_DEAL} )
  | (?P<negation> {_any_of(NEGATIONS)}{_FILLED}\s* )?
    (?:
        (?P<avoid> {_any_of(AVOIDANCE)} )
      | (?P<select> {_any_of(PREFERENCE)} )
    )
  | (?P<only> \bonly{_FILLED}\s+{_DEAL} | {_DEAL}\s+only\b )
    """,
    re.IGNORECASE | re.VERBOSE,
)


def judgements(text: str) -> Iterator[tuple[int, int, Attitude]]:
    """Yield where words judge, from and to which character, and how; an avoidance that is taken back is left out."""
    for found in _JUDGEMENT.finditer(text):
        if found["refused"] or (found["avoid"] and not found["negation"]):
            yield found.start(), found.end(), "avoid"
        elif found["select"] or found["only"]:
            yield found.start(), found.end(), "avoid" if found["negation"] else "select"
