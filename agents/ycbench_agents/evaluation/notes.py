"""Which clients notes name as ones to work with or to avoid: a fixed reading of words (docs/metrics.md).

A text is read line by line, a line sentence by sentence, a sentence in pieces: cut at commas and words like "and"
(lists), and at brackets, dashes, arrows, colons and ``=`` (signs). A judgement in the piece of a name belongs to that
name, and so does one that follows the piece by signs alone. Otherwise a name takes what is judged before or behind it
in its sentence; on a line of a list, the judgement of the heading above. The last mention of a client counts.

In the lists of words ``*`` stands for any further letters, a blank for any blanks, and a colon at the end for one that
follows. docs/metrics.md prints these lists, and a test compares the two.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, TypeAlias

import attrs

Attitude: TypeAlias = Literal["select", "avoid"]

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


def _any_of(phrases: Iterable[str]) -> str:
    """Return a pattern of any of the phrases, the longest first."""
    patterns: list[str] = []
    for phrase in sorted(phrases, key=len, reverse=True):
        words = r"\s+".join(re.escape(word).replace(r"\*", r"\w*") for word in phrase.removesuffix(":").split())
        begin = r"\b" if phrase[0].isalpha() and phrase != "n't" else ""
        end = r"\b(?=\s*:)" if phrase.endswith(":") else "" if phrase.endswith("-") else r"\b"
        patterns.append(f"{begin}{words}{end}")
    return f"(?:{'|'.join(patterns)})"


_FILLED: Final = rf"(?:\s+{_any_of(FILLERS)}){{0,3}}"
_DEAL: Final = rf"{_any_of(DEALING)}(?!\s+of\b)"  # no "sign of trouble", no "use of"
_JUDGEMENT: Final = re.compile(
    rf"""
    (?P<refused> {_any_of(word for word in NEGATIONS if word not in ("no", "non-"))}{_FILLED}\s+{_DEAL} )
  | (?P<negation> {_any_of(NEGATIONS)}{_FILLED}\s* )?
    (?:
        (?P<avoid> {_any_of(AVOIDANCE)} )
      | (?P<select> {_any_of(PREFERENCE)} )
    )
  | (?P<only> \bonly{_FILLED}\s+{_DEAL} | {_DEAL}\s+only\b )
    """,
    re.IGNORECASE | re.VERBOSE,
)
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


def attitudes(notes: str, clients: Sequence[str]) -> dict[str, Attitude]:
    """Return how notes judge clients, by name, in the order of the clients; nothing for those not judged.

    Args:
        notes: The text.
        clients: Their full names; the first word of a name is taken for it, too. Case does not count.
    """
    names, heading = tuple(clients), None
    found: dict[str, Attitude] = {}
    for line in notes.splitlines():
        judged, heading = _line(line.translate(_APOSTROPHES), names, heading)
        found.update(judged)
    return {name: found[name] for name in names if name in found}


@functools.lru_cache(2048)  # notes grow line by line, and each of their texts is read
def _line(
    line: str, clients: tuple[str, ...], heading: Attitude | None
) -> tuple[tuple[tuple[str, Attitude], ...], Attitude | None]:
    """Return the judgements of a line, and the heading of the next one."""
    sentences = [_pieces(sentence, clients) for sentence in _SENTENCES.split(line)]
    pieces = list(itertools.chain.from_iterable(sentences))
    is_item = _ITEM.match(line) is not None
    if any(piece.names for piece in pieces):
        above = heading if is_item else None
        return tuple(pair for sentence in sentences for pair in _judged(sentence, above)), heading
    if is_item and not line.rstrip().endswith(":"):
        return (), heading  # a list goes on
    return (), next((piece.last for piece in reversed(pieces) if piece.last), None)


# ---------------------------------------------------------------- sentences


@attrs.frozen
class _Mark:
    """A name (``client``) or a judgement (``attitude``) from one character to another."""

    start: int
    end: int
    client: str | None = None
    attitude: Attitude | None = None


@functools.lru_cache(8)
def _names(clients: tuple[str, ...]) -> tuple[re.Pattern[str], tuple[tuple[str, ...], ...]]:
    """Return a pattern of names, whole or their first word, and for each of its groups the clients so called."""
    sharing: dict[str, list[str]] = {}
    for name in clients:
        sharing.setdefault(name.split()[0].lower(), []).append(name)
    words: list[str] = []
    for names in sharing.values():
        rests = "|".join(filter(None, (r"\s".join(map(re.escape, name.split()[1:])) for name in names)))
        words.append(rf"({re.escape(names[0].split()[0])})\b(?:\s(?:{rests or '(?!)'})\b)?")
    pattern = re.compile(rf"\b(?:{'|'.join(words) or '(?!)'})", re.IGNORECASE)
    return pattern, tuple(map(tuple, sharing.values()))


def _marks(sentence: str, clients: tuple[str, ...]) -> Iterator[_Mark]:
    """Yield the names in a sentence, then its judgements; an avoidance that is taken back is none."""
    pattern, sharing = _names(clients)
    for found in pattern.finditer(sentence):
        for client in sharing[(found.lastindex or 1) - 1]:
            yield _Mark(*found.span(), client=client)
    for found in _JUDGEMENT.finditer(sentence):
        if found["refused"] or (found["avoid"] and not found["negation"]):
            yield _Mark(*found.span(), attitude="avoid")
        elif found["select"] or found["only"]:
            yield _Mark(*found.span(), attitude="avoid" if found["negation"] else "select")


@attrs.define(eq=False)
class _Piece:
    """A piece of a sentence; the last five are found among its neighbours."""

    joint: str  # what stands before it: list, open, close or sign
    names: list[tuple[str, Attitude | None]]  # its names, each with the judgement that the piece holds for it
    first: Attitude | None  # its first judgement
    last: Attitude | None  # its last judgement
    judges_first: bool  # whether a judgement stands before all names
    ends_with_name: bool  # whether no word stands behind its last name
    is_key: bool  # whether a sign follows, so that it judges what is behind the sign
    is_owned: bool = False  # whether it follows a name by signs alone, and refers to it
    signed: Attitude | None = None  # the first judgement of the pieces that it owns
    ahead: Attitude | None = None  # the nearest judgement before it that refers to what follows
    behind: Attitude | None = None  # the nearest behind it that refers to what it follows, also at a list's end


def _pieces(sentence: str, clients: tuple[str, ...]) -> list[_Piece]:
    """Return the pieces of a sentence.

    "Avoid Vanguard, Cortex - Prism: loyal" has four: "Avoid Vanguard", whose name the piece itself judges, "Cortex" (in
    a list), "Prism" (behind a sign, and a key, since a colon follows) and "loyal".
    """
    marks = sorted(_marks(sentence, clients), key=lambda mark: mark.start)
    cuts = [(found.start(), found.lastgroup or "") for found in _JOINTS.finditer(sentence)]
    seen: set[tuple[bool, str]] = set()
    for mark in marks:  # "Vanguard=bad Cortex=good" is cut before its second key: marks of one kind before a sign
        if sign := _KEY.match(sentence, mark.end):
            kind = (mark.client is None, sign[1])
            if kind in seen:
                cuts.append((mark.start, "list"))
            seen.add(kind)
    pieces: list[_Piece] = []
    joint, begin = "list", 0
    for start, following in [*sorted(cuts), (len(sentence), "list")]:
        end = bisect.bisect_left(marks, start, begin, key=lambda mark: mark.start)
        own, names = marks[begin:end], list[tuple[str, Attitude | None]]()
        judged: list[Attitude] = [mark.attitude for mark in own if mark.attitude is not None]
        first, last = (judged[0], judged[-1]) if judged else (None, None)
        judges_first = bool(own) and own[0].client is None
        # Where a piece begins with a judgement, a name has the nearest before it; else the one right behind it, else
        # the nearest before, else the nearest behind, which then is the first of the piece.
        before: Attitude | None = None
        for mark, after in itertools.zip_longest(own, own[1:]):
            before = mark.attitude or before
            if mark.client is not None:
                behind = after.attitude if after is not None else None
                names.append((mark.client, before if judges_first else behind or before or first))
        ends_with_name = bool(own) and own[-1].client is not None and not _WORD.search(sentence, own[-1].end, start)
        pieces.append(_Piece(joint, names, first, last, judges_first, ends_with_name, following == "sign"))
        joint, begin = following, end
    return pieces


def _judged(pieces: list[_Piece], heading: Attitude | None) -> Iterator[tuple[str, Attitude]]:  # noqa: C901 -- one pass forwards, one back
    """Yield each client that a sentence judges.

    In "Avoid Vanguard, Cortex - Prism: loyal" Prism owns "loyal", which only a sign parts from it. Cortex has no
    judgement in its piece and none signed, so it takes the nearest one ahead, as the sentence begins with a judgement:
    Vanguard and Cortex are avoided, Prism is selected.
    """
    judges_first = next((piece.judges_first for piece in pieces if piece.names or piece.first), False)
    owner, depth = None, 0  # within brackets lists do not part a judgement from its name
    ahead: Attitude | None = None
    for piece in pieces:
        piece.ahead = ahead
        depth = max(0, depth + {"open": 1, "close": -1}.get(piece.joint, 0))
        if piece.names:
            owner, depth = piece, 0
            ahead = piece.names[-1][1] if piece.judges_first else ahead
            continue
        if piece.joint == "list" and depth == 0:
            owner = None
        if owner is not None:
            piece.is_owned = True
            owner.signed = owner.signed or piece.first
        elif judges_first or piece.is_key:
            ahead = piece.last or ahead
    behind: Attitude | None = None
    for before, piece in reversed([*zip([None, *pieces], pieces, strict=False)]):
        piece.behind = behind
        if piece.names:
            in_list = before is not None and piece.joint == "list" and before.ends_with_name
            behind = (piece.names[0][1] or piece.signed or behind) if in_list and not piece.judges_first else None
        elif piece.first is not None:
            behind = None if piece.is_key and not piece.is_owned else piece.first
    for piece in pieces:
        others = (piece.ahead, piece.behind) if judges_first else (piece.behind, piece.ahead)
        for client, own in piece.names:
            if attitude := own or piece.signed or others[0] or others[1] or heading:
                yield client, attitude
