"""Short names: what tells a name from the others, in little room."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.evaluation.figure.lettering import DOTS, LABEL_INCHES, fitted, printable, text_width
from ycbench_agents.evaluation.figure.style import HOUSE_STYLE
from ycbench_agents.evaluation.figure.wording import same_start

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

__all__ = ["short_names"]

_WORD: Final = re.compile(r"[^\s/_,:;|=()\[\]+-]+")
_HEAD: Final = 4  # letters that are kept of names which begin alike


@attrs.frozen
class _Name:
    """A name on one line, and its words with their places."""

    line: str
    words: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, name: str) -> _Name:
        """Return the words of a name."""
        line = printable(name)
        found = list(_WORD.finditer(line))
        return cls(line, tuple(each[0] for each in found), tuple(each.span() for each in found))

    def text(self, kept: Sequence[int]) -> str:
        """Return some of the words, ascending, with dots for those between them."""
        pieces = [self.words[kept[0]]]
        for before, place in itertools.pairwise(kept):
            gap = self.line[self.spans[before][1] : self.spans[place][0]] if place == before + 1 else DOTS
            pieces += [gap, self.words[place]]
        return "".join(pieces)

    def dispensable(self, counts: Counter[str]) -> list[int]:
        """Return places of words, those first that say least.

        These are who made a model, as in ``maker/model``, then what most names have; of equal ones the last.

        Args:
            counts: How many names have a word.
        """
        slash = self.line.find("/")
        return sorted(
            range(len(self.words)),
            key=lambda place: (self.spans[place][1] > slash, -counts[self.words[place]], -place),
        )


def short_names(
    names: Iterable[str],
    inches: float = LABEL_INCHES,
    points: float = HOUSE_STYLE.size,
    given: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return a short text for each name, no two alike; a name that fits is its own.

    Words are left out until the rest fits: first who made a model, then what names have in common. What no other name
    has together always stays. Only where words are too long for that, names are cut, and numbered if need be.

    Args:
        names: The names; equal ones share a text. What a text is depends on all of them: names of several figures that
            are to be called alike have to be made in one call, and given to the others.
        inches: How wide a text may be; the default has room in every figure.
        points: Height of the letters; likewise.
        given: Texts that some names have already; they stay, and no other name gets one of them.
    """
    texts = {name: text for name, text in (given or {}).items() if name in (names := sorted(set(names)))}
    taken, rest = frozenset((given or {}).values()), {name: _Name.of(name) for name in names if name not in texts}
    found = _by_words(rest, lambda text: text not in taken and text_width(text, points) <= inches)
    texts.update(found)
    return texts | _cut([name for name in rest if name not in found], inches, points, taken.union(found.values()))


def _by_words(names: Mapping[str, _Name], fits: Callable[[str], bool]) -> dict[str, str]:
    """Return texts of whole words for the names that have one that fits and is nobody else's."""
    counts = Counter(word for name in names.values() for word in {*name.words})
    sets = {key: frozenset(name.words) for key, name in names.items()}
    found = {key: _telling(name, [sets[other] for other in sets], counts, fits) for key, name in names.items()}
    uses = Counter(found.values())
    return {key: text for key, text in found.items() if fits(text) and (uses[text] == 1 or text == key)}


def _telling(name: _Name, others: Iterable[frozenset[str]], counts: Counter[str], fits: Callable[[str], bool]) -> str:
    """Return the words of a name that fit, or as few as tell it from others that lack any of its words."""
    rivals = [other for other in others if not other.issuperset(name.words)]
    kept, text = list(range(len(name.words))), name.line
    for place in name.dispensable(counts):
        if fits(text):
            break
        rest = [each for each in kept if each != place]
        words = {name.words[each] for each in rest}
        if rest and not any(rival.issuperset(words) for rival in rivals):
            kept, text = rest, name.text(rest)
    return text


def _cut(names: Sequence[str], inches: float, points: float, taken: frozenset[str]) -> dict[str, str]:
    """Return texts with the middle left out, and of names that begin alike most of what they begin with."""
    texts = {name: fitted(name, inches, points) for name in names}
    heads = {name: text.partition(DOTS)[0] for name, text in texts.items() if DOTS in text}
    for name, head in heads.items():
        alike = [other for other in heads if other.startswith(head) or name.startswith(heads[other])]
        if len(alike) > 1:
            texts[name] = fitted(_from(name, len(same_start(alike))), inches, points)
    return _numbered(texts, inches, points, taken)


def _from(name: str, begin: int) -> str:
    """Return a name without what lies between its head and the place where it begins to differ from others."""
    return name if begin <= _HEAD + 1 else f"{name[:_HEAD]}{DOTS}{name[begin - 1 :]}"


def _numbered(texts: Mapping[str, str], inches: float, points: float, taken: frozenset[str]) -> dict[str, str]:
    """Return texts with numbers behind those that another name has already."""
    found: dict[str, str] = {}
    for name, text in texts.items():
        short, number = text, 1
        while short in taken or short in found.values():
            number += 1
            mark = f" #{number}"
            short = f"{fitted(name, inches - text_width(mark, points), points)}{mark}"
        found[name] = short
    return found
