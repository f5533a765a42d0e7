"""Hand-made notes, and what they are read as."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ycbench_agents.evaluation import notes as note_words
from ycbench_agents.evaluation.notes import attitudes

CLIENTS = ("Cortex Intelligence", "Prism Analytics", "Vanguard ML", "Equinox Labs")
SHORT = {name.split()[0]: name for name in CLIENTS}


@pytest.mark.parametrize(
    ("notes", "selected", "avoided"),
    [
        ("", "", ""),
        ("Avoid Vanguard (inflate work). Focus Cortex (trust 4.2). Emp_4 best at research.", "Cortex", "Vanguard"),
        ("BLACKLIST: Vanguard ML, Equinox Labs", "", "Vanguard Equinox"),
        ("whitelist: cortex intelligence and PRISM ANALYTICS", "Cortex Prism", ""),
        ("Never accept tasks from Vanguard or Equinox again!", "", "Vanguard Equinox"),
        ("Only work with Cortex; don\u2019t take Equinox", "Cortex", "Equinox"),
        ("Vanguard and Equinox are adversarial", "", "Vanguard Equinox"),
        ("Cortex is reliable, Vanguard is unreliable", "Cortex", "Vanguard"),
        ("Focus on Cortex, Prism, and avoid Vanguard and Equinox", "Cortex Prism", "Vanguard Equinox"),
        ("Cortex is not adversarial", "", ""),
        ("Prefer non-adversarial clients: Cortex", "Cortex", ""),
        ("Do not focus on Prism", "", "Prism"),
        (
            "## Clients to avoid\n- Vanguard ML (0/4)\n- Equinox Labs (0/2)\n\n## Good clients\n* Cortex",
            "Cortex",
            "Vanguard Equinox",
        ),
        ("Avoid:\n1. Vanguard\nTrust levels\n1. Prism 3.1", "", "Vanguard"),
        ("Trust: Cortex 4.2, Prism 1.1\nVanguard 0/4", "", ""),
        ("Avoid clients that inflate work.", "", ""),
        ("Clients to avoid:\n- Vanguard\nPrism has trust 3", "", "Vanguard"),
        ("Prefer Vanguard.\nVanguard inflates work, avoid!", "", "Vanguard"),
        ("Cortexes and Prisma are no clients; avoid them", "", ""),
        # A judgement right behind a name is that name's.
        ("Cortex (good), Vanguard (bad)", "Cortex", "Vanguard"),
        ("Vanguard \u2014 adversarial, Cortex \u2014 reliable", "Cortex", "Vanguard"),
        ("Vanguard -> avoid, Cortex -> focus", "Cortex", "Vanguard"),
        ("Vanguard ML (late twice, adversarial), Cortex Intelligence (on time, loyal)", "Cortex", "Vanguard"),
        ("Vanguard (0/4) is adversarial, Cortex (4/4) is loyal", "Cortex", "Vanguard"),
        ("Vanguard - late, adversarial, Cortex - on time, loyal", "Cortex", "Vanguard"),
        ("Vanguard: bad Cortex: good", "Cortex", "Vanguard"),
        ("avoid=Vanguard prefer=Cortex", "Cortex", "Vanguard"),
        ("Avoid Vanguard, Cortex - Prism: loyal", "Prism", "Cortex Vanguard"),
        ('{"avoid": ["Vanguard", "Equinox"], "focus": ["Cortex"]}', "Cortex", "Vanguard Equinox"),
        ("Vanguard and Equinox (adversarial), Cortex (loyal)", "Cortex", "Vanguard Equinox"),
        ("Best client: Cortex - avoid Vanguard", "Cortex", "Vanguard"),
        ("Avoid Vanguard (good pay)", "", "Vanguard"),
        ("Avoid: Vanguard & Equinox; prefer: Cortex/Prism", "Cortex Prism", "Vanguard Equinox"),
        ("Cortex is good, Prism and Vanguard are bad", "Cortex", "Prism Vanguard"),
        ("Trust levels: Cortex 4, Vanguard 0 - avoid", "", "Vanguard"),
        ("Vanguard is unreliable: avoid. Cortex at 10:00", "", "Vanguard"),
        ("Best pay: Vanguard (late, inflates work)", "", "Vanguard"),
        ("Focus: Cortex (4.2), Vanguard (bad), Prism (3.1)", "Cortex Prism", "Vanguard"),
        # Others refer to what they stand before, or behind.
        ("Cortex 4/4, avoid Vanguard, Prism and Equinox are good", "Prism Equinox", "Vanguard"),
        ("Focus on Cortex, Prism, bad deadlines aside", "Cortex Prism", ""),
        ("Cortex 4/4, avoid: Vanguard, Equinox", "", "Vanguard Equinox"),
        ("Cortex, avoid Vanguard", "", "Vanguard"),
        ("Avoid for now, Vanguard and Equinox", "", "Vanguard Equinox"),
        ("Avoid Vanguard despite its good pay", "", "Vanguard"),
        ("Vanguard/Equinox are bad, Cortex is fine", "", "Vanguard Equinox"),
        ("Vanguard inflates so focus Cortex", "Cortex", "Vanguard"),
        # Words that only begin like those of dealing, and dealings of the past.
        ("Cortex is not usually late", "", ""),
        ("No significant problems with Cortex", "", ""),
        ("Cortex shows no signs of inflation", "", ""),
        ("Not a sign of trouble at Cortex", "", ""),
        ("Prism: 3 done, no work lost, never used twice", "", ""),
        ("Vanguard must not be used; no work with Equinox", "", "Vanguard Equinox"),
    ],
)
def test_notes_are_read(notes: str, selected: str, avoided: str) -> None:
    found = attitudes(notes, CLIENTS)
    for words, attitude in ((selected, "select"), (avoided, "avoid")):
        assert [name for name, judged in found.items() if judged == attitude] == [SHORT[word] for word in words.split()]


@given(
    st.text(max_size=200)
    | st.lists(st.sampled_from([*CLIENTS, "avoid", "focus", "not", "\n- ", ".", ","])).map(" ".join)
)
def test_only_named_clients_are_judged(notes: str) -> None:
    found = attitudes(notes, CLIENTS)
    assert all(name.split()[0].lower() in notes.lower() for name in found)
    assert list(found) == [name for name in CLIENTS if name in found]
    assert attitudes(notes.swapcase(), CLIENTS).keys() <= set(CLIENTS)


@given(st.lists(st.sampled_from(CLIENTS), min_size=1, unique=True))
def test_a_list_of_avoided_clients(names: list[str]) -> None:
    for notes in (f"Avoid {', '.join(names)}.", "AVOID:\n" + "\n".join(f"- {name}" for name in names)):
        assert set(attitudes(notes, CLIENTS).items()) == {(name, "avoid") for name in names}


def test_an_empty_line_ends_a_list() -> None:
    assert attitudes("Avoid:\n- Vanguard\n\n- Cortex", CLIENTS) == {"Vanguard ML": "avoid"}
    assert attitudes("Avoid:\n- Vanguard\n- Cortex", CLIENTS) == dict.fromkeys((CLIENTS[0], CLIENTS[2]), "avoid")


def test_clients_with_the_same_first_word_are_named_together() -> None:
    assert set(attitudes("Avoid nova", ("Nova Research", "Nova"))) == {"Nova Research", "Nova"}
    assert attitudes("Avoid nova", ()) == {}


@pytest.mark.parametrize(
    ("words", "sentence", "attitude"),
    [
        (note_words.AVOIDANCE, "{} Cortex", "avoid"),
        (note_words.PREFERENCE, "{} Cortex", "select"),
        (note_words.DEALING, "never {} Cortex", "avoid"),
        (note_words.DEALING, "only {} Cortex", "select"),
        ([word for word in note_words.NEGATIONS if word != "n't"], "{} reliable: Cortex", "avoid"),
        (note_words.FILLERS, "not {} reliable: Cortex", "avoid"),
    ],
)
def test_each_listed_word_is_read(words: tuple[str, ...], sentence: str, attitude: str) -> None:
    for word in words:
        text = sentence.format(word.replace("*", "")).replace("- reliable", "-reliable")
        assert attitudes(text, CLIENTS) == {"Cortex Intelligence": attitude}, text
