"""Which clients notes name as ones to work with or to avoid: a fixed reading of words (docs/measurements.md).

A text is read line by line, a line sentence by sentence, a sentence piece by piece (at commas and words like "and").
Words of preference and of avoidance are looked for in each piece; a client named there is selected or avoided by them.
A name in a piece without such words takes those of the nearest piece before it in its sentence, else of the nearest
after it; on a line of a list, else those of the heading above the list. The last mention of a client in a text counts.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["Attitude", "attitudes"]

Attitude: TypeAlias = Literal["select", "avoid"]
"""What notes say of a client."""

_NEGATION: Final = r"(?:\bnot|n't|\bnever|\bno|\bno\s+longer|\bstop|\bcannot|\bhardly)"
_DEAL: Final = r"(?:accept|tak|work|us|touch|deal|pick|bother|sign|choos)\w*"
_WORDS: Final = re.compile(
    rf"""
    (?P<avoid>
        \bavoid\w*|\bblack-?\s?list\w*|\bban(?:ned|s)?\b|\bboycott\w*|\bskip\w*|\bignor\w*|\breject\w*|\brefus\w*
      | \bstay(?:ing)?\s+away|\bkeep\s+away|\bsteer\s+clear|\bdrop(?:ped|ping)?\b|\bquit\b|\bexclud\w*|\bbeware
      | \badversar\w*|\bunreliable|\buntrust\w*|\bdistrust\w*|\bdishonest|\bscam\w*|\btraps?\b|\bmalicious|\bcheat\w*
      | \binflat\w*|\bscope[\s-]+creep\w*|\brats?\b|\btoxic|\bdangerous|\bbad\b|\bworst\b|\bno\s+more\b
      | {_NEGATION}\b(?:\s+\w+){{0,2}}?\s+{_DEAL}|\bnever\s*:
    )
  | (?P<select>
        \bprefer\w*|\bfocus\w*|\bprioriti[sz]\w*|\bwhite-?\s?list\w*|\ballow-?\s?list\w*|\bfavou?r\w*|\bconcentrat\w*
      | \bstick(?:ing)?\s+(?:to|with)|\bstay(?:ing)?\s+with|\bonly\s+(?:\w+\s+){{0,2}}?{_DEAL}|\b{_DEAL}\s+only\b
      | \bbuild(?:ing)?\s+(?:up\s+)?trust|\bselect\w*|\btarget\w*|\bspeciali[sz]e\w*
      | \breliable|\btrusted|\btrustworthy|\bloyal|\bhonest|\bsafe\b|\bgood\b|\bbest\b|\bgreat\b
      | \b(?:main|core|key|primary)\s+clients?
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_NEGATED: Final = re.compile(rf"(?:{_NEGATION}|\bnon-?)(?:\s+(?:an?|the|so|very|to|be))*\s*$", re.IGNORECASE)
_SENTENCES: Final = re.compile(r"[;!?]+|\.(?=\s|$)")
_PIECES: Final = re.compile(r",|\s+-+\s+|[()\u2013\u2014|]|\b(?:and|but|while|whereas|then|yet|or)\b|&", re.IGNORECASE)
_ITEM: Final = re.compile(r"\s*(?:[-*+\u2022]|\d+[.)])\s+")
_APOSTROPHES: Final = str.maketrans("\u2019\u02bc", "''")


@attrs.frozen
class _Piece:
    names: tuple[str, ...]
    attitude: Attitude | None


def attitudes(notes: str, clients: Sequence[str]) -> dict[str, Attitude]:
    """Return what notes say of clients, by name, in the order of the clients; nothing for those not judged.

    Args:
        notes: The text.
        clients: Their full names; the first word of a name is taken for it, too. Case does not count.
    """
    finders = {name: re.compile(rf"\b{re.escape(name.split()[0])}\b", re.IGNORECASE) for name in clients}
    found: dict[str, Attitude] = {}
    heading: Attitude | None = None
    for line in notes.translate(_APOSTROPHES).splitlines():
        pieces = [list(_pieces(sentence, finders)) for sentence in _SENTENCES.split(line)]
        has_names = any(piece.names for piece in itertools.chain.from_iterable(pieces))
        if not has_names:
            heading = _heading(line, list(itertools.chain.from_iterable(pieces)), heading)
            continue
        fallback = heading if _ITEM.match(line) else None
        for sentence in pieces:
            found.update(_of_sentence(sentence, fallback))
    return {name: found[name] for name in clients if name in found}


def _heading(line: str, pieces: Sequence[_Piece], current: Attitude | None) -> Attitude | None:
    """Return the attitude under which the lines of a list after this one stand; an item goes on with the list."""
    if _ITEM.match(line) and not line.rstrip().endswith(":"):
        return current
    return next((piece.attitude for piece in reversed(pieces) if piece.attitude), None)


def _pieces(sentence: str, finders: Mapping[str, re.Pattern[str]]) -> Iterator[_Piece]:
    """Yield the pieces of a sentence that hold a name or an attitude, a piece with both of one kind as often."""
    for text in _PIECES.split(sentence):
        names = sorted((found.start(), name) for name, finder in finders.items() for found in finder.finditer(text))
        marks = list(_marks(text))
        if not names:
            yield from (_Piece((), mark) for _, mark in marks[-1:])
        for start, name in names:
            near = [*reversed([mark for mark in marks if mark[0] < start]), *marks]
            yield _Piece((name,), near[0][1] if near else None)


def _marks(text: str) -> Iterator[tuple[int, Attitude]]:
    """Yield where words judge and how; a negation before one turns a preference round and takes an avoidance back."""
    for found in _WORDS.finditer(text):
        negated = _NEGATED.search(text[: found.start()]) is not None
        if found["select"] is not None:
            yield found.start(), "avoid" if negated else "select"
        elif not negated:
            yield found.start(), "avoid"


def _of_sentence(pieces: Sequence[_Piece], fallback: Attitude | None) -> Iterator[tuple[str, Attitude]]:
    """Yield each client that a sentence judges."""
    for place, piece in enumerate(pieces):
        near = (piece, *reversed(pieces[:place]), *pieces[place + 1 :], _Piece((), fallback))
        judging = next((other for other in near if other.attitude is not None), None)
        if judging is not None and judging.attitude is not None:
            for name in piece.names:
                yield name, judging.attitude
