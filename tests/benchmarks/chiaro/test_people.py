from __future__ import annotations

import pytest

from affectlab.benchmarks.chiaro.people import acting_people, bystanders, role_collision, role_prefix


@pytest.mark.parametrize(
    ("sentence", "people"),
    [
        ("Ravi opens the gate. Mei waits. Tom\u00e1s stays.", ("ravi", "mei", "tom\u00e1s")),
        ("Ana, Ben and Carl argue over the key.", ("ana", "ben", "carl")),
        ("The chef burns the sauce while the waiter drops a tray.", ("chef", "waiter")),
        ("Her neighbor loudly sings, and Ravi\u2019s dog barks.", ("neighbor", "ravi")),
        ("Then Carla jumps, and Maria Lopez Vega runs.", ("carla", "maria")),
        ("The key goes to the tall nurse; the nurse leaves.", ("nurse",)),
    ],
)
def test_identified_people_who_act(sentence: str, people: tuple[str, ...]) -> None:
    assert acting_people(sentence) == people


@pytest.mark.parametrize(
    "sentence",
    [
        "A steward opens the gate.",
        "The gate opens in front of the steward.",
        "A train leaves for Lisbon in May.",
        "Rain falls on the tent.",
        "Both skirts rip.",
        "The house planted by his late wife is sold.",
        "The GPS stops.",
        "On Monday the English class starts.",
        "",
    ],
)
def test_places_mentions_and_things_are_nobody(sentence: str) -> None:
    assert acting_people(sentence) == ()


def test_bystanders_are_those_whom_no_role_names() -> None:
    sentence = "Ravi opens the gate, the nurse waits, and Tom\u00e1s leaves."
    assert bystanders(sentence, "Ravi, the guard", "the nurse at the gate") == ("tom\u00e1s",)
    assert bystanders(sentence, "Ravi, the guard", "Tom\u00e1s") == ("nurse",)
    assert bystanders("Ravi opens the gate, the nurse waits.", "Ravi", "the nurse") == ()


@pytest.mark.parametrize(
    ("role", "prefix"),
    [
        ("the older cousin in the doorway", ("older", "cousin")),
        ("Ravi, the guard", ("ravi",)),
        ("the student who passes", ("student",)),
        ("the violinist whose bow snaps", ("violinist",)),
        ("the chef\u2019s assistant", ("chef", "assistant")),
        ("the one who", ()),
        ("Mr. Lund", ("mr", "lund")),
    ],
)
def test_prefix(role: str, prefix: tuple[str, ...]) -> None:
    assert role_prefix(role) == prefix


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("the student who passes", "the student who fails"),
        ("the student", "the tall student"),
        ("the student", "the tall blond Danish student"),
        ("The Student", "a student"),
        ("the violinist in the first row", "the violinist in the last row"),
        ("the nurse on the night shift at the clinic", "the doctor on the night shift at the clinic"),
        ("the one who stays", "the clerk"),
        ("Maya", "Maya's brother"),
    ],
)
def test_collisions(a: str, b: str) -> None:
    assert role_collision(a, b)
    assert role_collision(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("the older sister", "the younger sister"),
        ("Maya", "Ravi"),
        ("the nurse", "the clerk behind the desk"),
        ("the man at the left machine", "the girl at the right machine"),
        ("\u5c0f\u660e", "\u5c0f\u7ea2"),
    ],
)
def test_roles_that_can_be_told_apart(a: str, b: str) -> None:
    assert role_collision(a, b) is None


def test_a_role_that_names_nobody_is_said_to_do_so() -> None:
    assert "says who it is" in (role_collision("the one who stays", "the clerk") or "")


def test_half_of_all_words_in_common_is_too_many() -> None:
    # {nurse, red, coat} and {clerk, red, coat}: 2 of 4 words in common; with {clerk, red, hat}: 1 of 5.
    assert role_collision("the nurse in the red coat", "the clerk in the red coat")
    assert role_collision("the nurse in the red coat", "the clerk in the red hat") is None
