"""From answers to tables of agreement."""

from __future__ import annotations

from dataclasses import replace

from affectlab.annotate.agreement import agreement, scores_of
from affectlab.annotate.answers import Answer


def test_confusions_add_up_over_pairs_of_annotators() -> None:
    said = {"ann": "xx", "bob": "yy", "cem": "yx"}
    answers = [Answer(f"i{n}", who, value) for who, values in said.items() for n, value in enumerate(values)]
    (found,) = agreement(answers)
    (table,) = [one for one in scores_of(found).tables if one.id == "confused"]
    # Ann and Bob on both items, Ann and Cem on the first, Bob and Cem on the second, in either direction.
    assert table.rows == (("x", "y", 4),)


def test_notes_of_a_slot_stand_in_its_sheet() -> None:
    (found,) = agreement([Answer("i", who, "x") for who in ("ann", "bob")])
    assert "Read this." in scores_of(replace(found, notes=("Read this.",))).notes
