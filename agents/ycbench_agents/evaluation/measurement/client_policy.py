"""Which clients notes name as ones to work with or to avoid: a fixed reading of words (docs/measurements.md).

A text is read line by line, a line sentence by sentence, a sentence in pieces: cut at commas and words like "and"
(lists), and at brackets, dashes, arrows, colons and ``=`` (signs). A judgement in the piece of a name is that name's,
and so is one that follows the piece by signs alone. Else a name takes what is judged before or behind it in its
sentence; on a line of a list, else what the heading above says. The last mention of a client in a text counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Literal, Self, TypeAlias

import attrs

from ycbench_agents.evaluation.measurement.note_words import Attitude, judgements

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["NotesReading", "attitudes"]

_SENTENCES: Final = re.compile(r"[;!?]+|\.(?=\s|$)")
_ITEM: Final = re.compile(r"\s*(?:[-*+\u2022]|\d+[.)])\s+")
_APOSTROPHES: Final = str.maketrans("\u2019\u02bc", "''")
_JOINTS: Final = re.compile(
    r"(?P<list>[,|&]|\b(?:and|but|while|whereas|then|yet|or)\b)"
    r"|(?P<open>[(\[])|(?P<close>[)\]])|(?P<sign>\s-+\s|[-=]+>|[\u2013\u2014\u2192=:])",
    re.IGNORECASE,
)
_KEY: Final = re.compile(r"[*_\"'`]*\s?([:=])")
_WORD: Final = re.compile(r"\w")

_Joint: TypeAlias = Literal["list", "open", "close", "sign"]


@attrs.frozen
class _Mark:
    """A name (``client``) or a judgement (``attitude``) from one character to another."""

    start: int
    end: int
    client: str | None = None
    attitude: Attitude | None = None


@attrs.frozen
class _Piece:
    """A piece of a sentence.

    Args:
        joint: What stands before it.
        names: Its names, each with the judgement that its piece holds for it.
        first: Its first judgement.
        last: Its last judgement.
        judges_first: Whether a judgement stands before all names.
        ends_with_name: Whether nothing is said behind its last name.
    """

    joint: _Joint
    names: tuple[tuple[str, Attitude | None], ...]
    first: Attitude | None
    last: Attitude | None
    judges_first: bool
    ends_with_name: bool

    @classmethod
    def of(cls, joint: _Joint, marks: Sequence[_Mark], text: str, end: int) -> Self:
        """Return the piece of a sentence with these marks; it ends before the character ``end`` of the text."""
        judged: list[Attitude] = [mark.attitude for mark in marks if mark.attitude is not None]
        return cls(
            joint,
            tuple(_own(marks)),
            judged[0] if judged else None,
            judged[-1] if judged else None,
            judges_first=bool(marks) and marks[0].client is None,
            ends_with_name=bool(marks)
            and marks[-1].client is not None
            and _WORD.search(text, marks[-1].end, end) is None,
        )


def _own(marks: Sequence[_Mark]) -> Iterator[tuple[str, Attitude | None]]:
    """Yield the names of a piece, each with its judgement.

    Where the piece begins with a judgement, it is the nearest before the name; else the first between the name and the
    next one, else the nearest before, else the nearest behind.
    """
    before: Attitude | None = None
    for mark, (near, far) in zip(marks, _behind(marks), strict=True):
        if mark.client is None:
            before = mark.attitude
        else:
            yield mark.client, before if marks[0].client is None else near or before or far


def _behind(marks: Sequence[_Mark]) -> list[tuple[Attitude | None, Attitude | None]]:
    """Return for each mark the first judgement behind it: of those before the next name, and of all."""
    found: list[tuple[Attitude | None, Attitude | None]] = []
    near: Attitude | None = None
    far: Attitude | None = None
    for mark in reversed(marks):
        found.append((near, far))
        near, far = (mark.attitude, mark.attitude) if mark.client is None else (None, far)
    return found[::-1]


@attrs.frozen
class _Names:
    """Finds the names of clients.

    Args:
        clients: Their full names.
        sharing: Those that begin with the same word, in the order of the groups of the pattern.
        pattern: Finds the first word of a name, and the rest of the name where it follows.
    """

    clients: tuple[str, ...]
    sharing: tuple[tuple[str, ...], ...]
    pattern: re.Pattern[str]

    @classmethod
    def of(cls, clients: Sequence[str]) -> Self:
        """Return the finder of these names."""
        sharing: dict[str, tuple[str, ...]] = {}
        for name in clients:
            first = name.split()[0].lower()
            sharing[first] = (*sharing.get(first, ()), name)
        words = "|".join(_name_pattern(names) for names in sharing.values()) or "(?!)"
        return cls(tuple(clients), tuple(sharing.values()), re.compile(rf"\b(?:{words})", re.IGNORECASE))

    def marks(self, text: str) -> Iterator[_Mark]:
        """Yield where clients are named, by the whole name or by its first word."""
        for found in self.pattern.finditer(text):
            for client in self.sharing[(found.lastindex or 1) - 1]:
                yield _Mark(found.start(), found.end(), client=client)


def _name_pattern(names: Sequence[str]) -> str:
    """Return a pattern with one group for names that begin with the same word."""
    rests = [r"\s".join(map(re.escape, name.split()[1:])) for name in names]
    return rf"({re.escape(names[0].split()[0])})\b(?:\s(?:{'|'.join(filter(None, rests)) or '(?!)'})\b)?"


@attrs.frozen
class NotesReading:
    """What notes say of clients. A text that goes on from the one before is read from there.

    Args:
        text: The notes.
    """

    _names: _Names
    text: str = ""
    _said: Mapping[str, Attitude] = attrs.field(factory=dict[str, Attitude])
    _heading: Attitude | None = None

    @classmethod
    def of(cls, clients: Sequence[str]) -> Self:
        """Return the reading of empty notes.

        Args:
            clients: Their full names; the first word of a name is taken for it, too. Case does not count.
        """
        return cls(_Names.of(clients))

    def then(self, text: str) -> Self:
        """Return the reading of the text that the notes have next: the same as if it were read alone."""
        goes_on = self.text != "" and text.startswith(f"{self.text}\n")
        # With the last character before, for a line break there makes an empty line, and that ends a list.
        lines = (self.text[-1] + text[len(self.text) :]).splitlines()[1:] if goes_on else text.splitlines()
        said, heading = (dict(self._said), self._heading) if goes_on else (dict[str, Attitude](), None)
        for line in lines:
            heading = _read_line(line.translate(_APOSTROPHES), self._names, heading, said)
        return attrs.evolve(self, text=text, said=said, heading=heading)

    @property
    def attitudes(self) -> dict[str, Attitude]:
        """What the notes say by name, in the order of the clients; nothing for those not judged."""
        return {name: self._said[name] for name in self._names.clients if name in self._said}


def attitudes(notes: str, clients: Sequence[str]) -> dict[str, Attitude]:
    """Return what notes say of clients, by name, in the order of the clients; nothing for those not judged.

    Args:
        notes: The text.
        clients: Their full names; the first word of a name is taken for it, too. Case does not count.
    """
    return NotesReading.of(clients).then(notes).attitudes


def _read_line(line: str, names: _Names, heading: Attitude | None, said: dict[str, Attitude]) -> Attitude | None:
    """Add to ``said`` what a line says of clients, and return what the heading of the next line says."""
    sentences = [tuple(_pieces(sentence, names)) for sentence in _SENTENCES.split(line)]
    is_item = _ITEM.match(line) is not None
    if any(piece.names for pieces in sentences for piece in pieces):
        for pieces in sentences:
            said.update(_of_sentence(pieces, heading if is_item else None))
        return heading
    if is_item and not line.rstrip().endswith(":"):
        return heading  # a list goes on
    return next((piece.last for pieces in reversed(sentences) for piece in reversed(pieces) if piece.last), None)


def _pieces(sentence: str, names: _Names) -> Iterator[_Piece]:
    """Yield the pieces of a sentence."""
    judged = [_Mark(start, end, attitude=attitude) for start, end, attitude in judgements(sentence)]
    marks = sorted([*names.marks(sentence), *judged], key=lambda mark: mark.start)
    joint: _Joint = "list"
    place = 0
    ends: list[tuple[int, _Joint]] = [*_cuts(sentence, marks), (len(sentence), "list")]
    for start, following in ends:
        begin = place
        while place < len(marks) and marks[place].start < start:
            place += 1
        yield _Piece.of(joint, marks[begin:place], sentence, start)
        joint = following


def _cuts(sentence: str, marks: Sequence[_Mark]) -> list[tuple[int, _Joint]]:
    """Return where pieces of a sentence begin and what stands there, in order."""
    cuts: list[tuple[int, _Joint]] = [(found.start(), _joint(found)) for found in _JOINTS.finditer(sentence)]
    return sorted([*cuts, *((start, "list") for start in _further_keys(sentence, marks))])


def _joint(found: re.Match[str]) -> _Joint:
    for kind in ("list", "open", "close"):
        if found[kind] is not None:
            return kind
    return "sign"


def _further_keys(sentence: str, marks: Sequence[_Mark]) -> Iterator[int]:
    """Yield where "Vanguard=bad Cortex=good" has its second key, and further ones: marks of one kind before a sign."""
    seen: set[tuple[bool, str]] = set()
    for mark in marks:
        sign = _KEY.match(sentence, mark.end)
        if sign is not None:
            kind = (mark.client is None, sign[1])
            if kind in seen:
                yield mark.start
            seen.add(kind)


def _of_sentence(pieces: Sequence[_Piece], heading: Attitude | None) -> Iterator[tuple[str, Attitude]]:
    """Yield each client that a sentence judges."""
    owners = _owners(pieces)
    signed: dict[int, Attitude] = {}
    for piece, owner in zip(pieces, owners, strict=True):
        if owner is not None and piece.first is not None:
            signed.setdefault(owner, piece.first)
    judges_first = next((piece.judges_first for piece in pieces if piece.names or piece.first), False)
    ahead, behind = _ahead(pieces, owners, judges_first=judges_first), _from_behind(pieces, owners, signed)
    for place, piece in enumerate(pieces):
        others = (ahead[place], behind[place]) if judges_first else (behind[place], ahead[place])
        for client, own in piece.names:
            attitude = next(filter(None, (own, signed.get(place), *others, heading)), None)
            if attitude is not None:
                yield client, attitude


def _owners(pieces: Sequence[_Piece]) -> list[int | None]:
    """Return for each piece without a name that of the name that it follows by signs alone, lists in brackets aside."""
    owners: list[int | None] = []
    owner: int | None = None
    depth = 0
    for place, piece in enumerate(pieces):
        depth = max(0, depth + {"open": 1, "close": -1}.get(piece.joint, 0))
        if piece.names:
            owner, depth = place, 0
        elif piece.joint == "list" and depth == 0:
            owner = None
        owners.append(None if piece.names else owner)
    return owners


def _ahead(pieces: Sequence[_Piece], owners: Sequence[int | None], *, judges_first: bool) -> list[Attitude | None]:
    """Return for each piece the nearest judgement before it that is said of what follows."""
    found: list[Attitude | None] = []
    nearest: Attitude | None = None
    for place, piece in enumerate(pieces):
        found.append(nearest)
        if piece.names:
            nearest = piece.names[-1][1] if piece.judges_first else nearest
        elif owners[place] is None and (judges_first or _is_key(pieces, place)):
            nearest = piece.last or nearest
    return found


def _from_behind(
    pieces: Sequence[_Piece], owners: Sequence[int | None], signed: Mapping[int, Attitude]
) -> list[Attitude | None]:
    """Return for each piece the nearest judgement behind it that is said of what it follows, also at a list's end."""
    found: list[Attitude | None] = []
    nearest: Attitude | None = None
    for place, piece in reversed(tuple(enumerate(pieces))):
        found.append(nearest)
        if piece.names:
            in_list = place > 0 and piece.joint == "list" and pieces[place - 1].ends_with_name
            reached = piece.names[0][1] or signed.get(place) or nearest
            nearest = reached if in_list and not piece.judges_first else None
        elif piece.first is not None:
            nearest = None if owners[place] is None and _is_key(pieces, place) else piece.first
    return found[::-1]


def _is_key(pieces: Sequence[_Piece], place: int) -> bool:
    """Return whether a sign follows a piece, so that it says something of what is behind the sign."""
    return place + 1 < len(pieces) and pieces[place + 1].joint == "sign"
