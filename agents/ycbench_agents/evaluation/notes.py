"""Which clients notes name as ones to work with or to avoid: a fixed reading of words (docs/metrics.md).

A text is read line by line, a line sentence by sentence, a sentence in pieces: cut at commas and words like "and"
(lists), and at brackets, dashes, arrows, colons and ``=`` (signs). A judgement in the piece of a name belongs to that
name, and so does one that follows the piece by signs alone. Otherwise a name takes what is judged before or behind it
in its sentence; on a line of a list, what the heading above says. The last mention of a client in a text counts.

In the lists of words ``*`` stands for any further letters, a blank for any blanks, and a colon at the end for one that
follows. docs/metrics.md prints these lists, and a test compares the two.
"""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, Self, TypeAlias

import attrs

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


def _judgements(text: str) -> Iterator[tuple[int, int, Attitude]]:
    """Yield where words judge, from and to which character, and how; an avoidance that is taken back is left out."""
    for found in _JUDGEMENT.finditer(text):
        if found["refused"] or (found["avoid"] and not found["negation"]):
            yield found.start(), found.end(), "avoid"
        elif found["select"] or found["only"]:
            yield found.start(), found.end(), "avoid" if found["negation"] else "select"


# ---------------------------------------------------------------- sentences

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


@attrs.frozen
class _Mark:
    """A name (``client``) or a judgement (``attitude``) from one character to another."""

    start: int
    end: int
    client: str | None = None
    attitude: Attitude | None = None


@attrs.frozen
class _Piece:
    """A piece of a sentence."""

    joint: str  # what stands before it: list, open, close or sign
    names: tuple[tuple[str, Attitude | None], ...]  # its names, each with the judgement that its piece holds for it
    first: Attitude | None  # its first judgement
    last: Attitude | None  # its last judgement
    judges_first: bool  # whether a judgement stands before all names
    ends_with_name: bool  # whether no word stands behind its last name


def _piece(joint: str, marks: Sequence[_Mark], text: str, end: int) -> _Piece:
    """Return the piece of a sentence with these marks; it ends before the character ``end`` of the text.

    Where a piece begins with a judgement, a name has the nearest before it; else the one right behind it, else the
    nearest before, else the nearest behind, which then is the first of the piece.
    """
    judged: list[Attitude] = [mark.attitude for mark in marks if mark.attitude is not None]
    first, judges_first = next(iter(judged), None), bool(marks) and marks[0].client is None
    names: list[tuple[str, Attitude | None]] = []
    before: Attitude | None = None
    for mark, following in itertools.zip_longest(marks, marks[1:]):
        if mark.client is None:
            before = mark.attitude
        else:
            behind = following.attitude if following is not None else None
            names.append((mark.client, before if judges_first else behind or before or first))
    ends_with_name = bool(marks) and marks[-1].client is not None and _WORD.search(text, marks[-1].end, end) is None
    return _Piece(joint, tuple(names), first, judged[-1] if judged else None, judges_first, ends_with_name)


@attrs.frozen
class _Names:
    """Finds the names of clients."""

    clients: tuple[str, ...]  # their full names
    sharing: tuple[tuple[str, ...], ...]  # those with the same first word, as the groups of the pattern
    pattern: re.Pattern[str]  # finds the first word of a name, and the rest of the name where it follows

    def marks(self, text: str) -> Iterator[_Mark]:
        """Yield where clients are named, by the whole name or by its first word."""
        for found in self.pattern.finditer(text):
            for client in self.sharing[(found.lastindex or 1) - 1]:
                yield _Mark(found.start(), found.end(), client=client)


def _names_of(clients: Sequence[str]) -> _Names:
    sharing: dict[str, list[str]] = {}
    for name in clients:
        sharing.setdefault(name.split()[0].lower(), []).append(name)
    words: list[str] = []
    for names in sharing.values():
        rests = "|".join(filter(None, (r"\s".join(map(re.escape, name.split()[1:])) for name in names)))
        words.append(rf"({re.escape(names[0].split()[0])})\b(?:\s(?:{rests or '(?!)'})\b)?")
    pattern = re.compile(rf"\b(?:{'|'.join(words) or '(?!)'})", re.IGNORECASE)
    return _Names(tuple(clients), tuple(map(tuple, sharing.values())), pattern)


@attrs.frozen
class NotesReading:
    """What notes say of clients. A text that goes on from the one before is read from there."""

    _names: _Names
    text: str = ""  # the notes
    _said: Mapping[str, Attitude] = attrs.field(factory=dict[str, Attitude])
    _heading: Attitude | None = None

    @classmethod
    def of(cls, clients: Sequence[str]) -> Self:
        """Return the reading of empty notes.

        Args:
            clients: Their full names; the first word of a name is taken for it, too. Case does not count.
        """
        return cls(_names_of(clients))

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
    judged = (_Mark(start, end, attitude=attitude) for start, end, attitude in _judgements(sentence))
    marks = sorted([*names.marks(sentence), *judged], key=lambda mark: mark.start)
    cuts = [(found.start(), found.lastgroup or "") for found in _JOINTS.finditer(sentence)]
    seen: set[tuple[bool, str]] = set()
    for mark in marks:  # "Vanguard=bad Cortex=good" is cut before its second key: marks of one kind before a sign
        if sign := _KEY.match(sentence, mark.end):
            kind = (mark.client is None, sign[1])
            if kind in seen:
                cuts.append((mark.start, "list"))
            seen.add(kind)
    joint, begin = "list", 0
    for start, following in [*sorted(cuts), (len(sentence), "list")]:
        end = bisect.bisect_left(marks, start, begin, key=lambda mark: mark.start)
        yield _piece(joint, marks[begin:end], sentence, start)
        joint, begin = following, end


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
