"""Hand-made notes, and what they are read as."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ycbench_agents.evaluation.measurement.client_policy import attitudes

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
    ],
)
def test_notes_are_read_as_documented(notes: str, selected: str, avoided: str) -> None:
    found = attitudes(notes, CLIENTS)
    for words, attitude in ((selected, "select"), (avoided, "avoid")):
        assert [name for name, said in found.items() if said == attitude] == [SHORT[word] for word in words.split()]


@given(
    st.text(max_size=200)
    | st.lists(st.sampled_from([*CLIENTS, "avoid", "focus", "not", "\n- ", ".", ","])).map(" ".join)
)
def test_any_notes_are_read_and_only_clients_that_they_name_are_judged(notes: str) -> None:
    found = attitudes(notes, CLIENTS)
    assert all(name.split()[0].lower() in notes.lower() for name in found)
    assert list(found) == [name for name in CLIENTS if name in found]
    assert attitudes(notes.swapcase(), CLIENTS).keys() <= set(CLIENTS)


@given(st.lists(st.sampled_from(CLIENTS), min_size=1, unique=True))
def test_whoever_stands_in_a_list_of_avoided_clients_is_avoided(names: list[str]) -> None:
    for notes in (f"Avoid {', '.join(names)}.", "AVOID:\n" + "\n".join(f"- {name}" for name in names)):
        assert set(attitudes(notes, CLIENTS).items()) == {(name, "avoid") for name in names}
