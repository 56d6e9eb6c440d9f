"""Where gold comes from, what is pending, and wide tables."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from affectlab.annotate.answers import Answer, Decision
from affectlab.annotate.exchange.gold import (
    PendingError,
    Settled,
    gold_counts,
    gold_to_csv,
    gold_to_jsonl,
    require_settled,
    same_value,
    settle,
    wide_to_csv,
)
from affectlab.errors import UserError


def human(item: str, *values: Any, slot: str = "s") -> list[Answer]:
    status = ["submitted" if value is not None else "skipped" for value in values]
    return [Answer(item, f"p{n}", value, slot, "human", status[n]) for n, value in enumerate(values)]  # type: ignore[arg-type]


def models(item: str, *values: Any, slot: str = "s") -> list[Answer]:
    status = ["submitted" if value is not None else "invalid" for value in values]
    return [Answer(item, f"m{n}", value, slot, "model", status[n]) for n, value in enumerate(values)]  # type: ignore[arg-type]


def only(answers: list[Answer], decisions: Any = (), **options: Any) -> tuple[Any, str]:
    (found,) = settle(answers, decisions, **options)
    return found.value, found.source


@pytest.mark.parametrize(
    ("answers", "options", "value", "source"),
    [
        (human("i", "joy", "joy"), {}, "joy", "unanimous"),
        (human("i", "joy"), {}, None, "pending"),
        (human("i", "joy"), {"annotators": 1}, "joy", "single"),
        (human("i", "joy", None), {}, None, "pending"),
        (human("i", "joy", "fear"), {"majority": True}, None, "pending"),
        (human("i", "joy", "joy", "fear"), {"majority": True}, "joy", "majority"),
        (human("i", "joy", "joy", "fear"), {}, None, "pending"),
        (human("i", "joy", "joy", "fear", "fear"), {"majority": True}, None, "pending"),
        (human("i", ("a", "b"), ("b", "a")), {}, ("a", "b"), "unanimous"),
        (human("i", {"a": 1.0, "b": 0.0}, {"a": 1.0}), {}, {"a": 1.0, "b": 0.0}, "unanimous"),
        (models("i", "joy", "joy"), {}, "joy", "model-agreed"),
        (models("i", "joy", "fear"), {}, None, "pending"),
        (models("i", "joy"), {}, None, "pending"),
        (models("i", "joy", None), {}, None, "pending"),
        # A person's word counts, models' agreement does not outvote it.
        (models("i", "joy", "joy") + human("i", "fear"), {"annotators": 1}, "fear", "single"),
        (models("i", "joy", "joy") + human("i", "fear"), {}, None, "pending"),
    ],
)
def test_how_a_slot_is_settled(answers: list[Answer], options: dict[str, Any], value: Any, source: str) -> None:
    assert only(answers, **options) == (value, source)


def test_the_last_decision_counts_before_everything() -> None:
    decisions = [Decision("i", "s", "joy", "carl"), Decision("i", "s", "fear", "dora")]
    (found,) = settle(human("i", "joy", "joy"), decisions)
    assert found == Settled("i", "s", "fear", "adjudicated", 2, 0, "dora")
    assert only([], [Decision("i", "s", "joy", "judge", "model")]) == ("joy", "model-adjudicated")
    (none,) = settle(human("i", "joy", "fear"), [Decision("i", "s", None, "carl")])
    assert (none.value, none.source, none.open) == (None, "no-gold", False)


def test_what_nobody_answered_is_pending() -> None:
    assert [one.source for one in settle([], expected=[("i", "s"), ("j", "s")])] == ["pending", "pending"]


def test_five_slots_of_which_one_differs() -> None:
    answers = [one for slot in "abcde" for one in human("i", "x", "y" if slot == "c" else "x", slot=slot)]
    gold = settle(answers)
    assert [one.source for one in gold] == ["unanimous", "unanimous", "pending", "unanimous", "unanimous"]
    assert gold_counts(gold)["c"] == {"pending": 1}
    with pytest.raises(PendingError, match=r"1 of 5 slots are pending \(c 1\): i \(c\)\. Nothing was written"):
        require_settled(gold)
    require_settled(settle(answers, [Decision("i", "c", "y", "carl")]))


def test_equal_values() -> None:
    assert same_value(("a", "b"), ("b", "a"))
    assert same_value({"a": 0.0}, {})
    assert not same_value((), {})
    assert not same_value("1", 1.0)


def test_gold_as_tables() -> None:
    gold = settle([*human("i", "=joy", "=joy"), *human("j", ("a", "b"), ("b", "a"), slot="t")])
    rows = list(csv.reader(io.StringIO(gold_to_csv(gold))))
    assert rows == [
        ["item", "slot", "value", "type", "source", "answers", "agreeing", "by"],
        ["i", "s", "'=joy", "label", "unanimous", "2", "2", ""],
        ["j", "t", '["a", "b"]', "set", "unanimous", "2", "2", ""],
    ]
    assert [json.loads(line)["value"] for line in gold_to_jsonl(gold).splitlines()] == ["=joy", ["a", "b"]]


def test_wide_tables() -> None:
    answers = [*human("i", "joy", None), *models("i", "fear"), *human("j", "joy", "joy")]
    rows = list(csv.reader(io.StringIO(wide_to_csv(answers, settle(answers), bom=True).removeprefix("\ufeff"))))
    assert rows == [
        ["item", "s/p0", "s/p1", "s/m0 (model)", "s (gold)", "s (source)"],
        ["i", "joy", "", "fear", "", "pending"],
        ["j", "joy", "joy", "", "joy", "unanimous"],
    ]


def test_annotators_called_gold_keep_their_columns() -> None:
    answers = [Answer("i", "gold", "sad", "s"), Answer("i", "source", "joy", "s")]
    rows = list(csv.reader(io.StringIO(wide_to_csv(answers, [Settled("i", "s", "fear", "adjudicated", 2, 0, "carl")]))))
    assert rows == [
        ["item", "s/gold", "s/source", "s (gold)", "s (source)"],
        ["i", "sad", "joy", "fear", "adjudicated"],
    ]
    same = [Answer("i", "x", "sad", "s", "model"), Answer("i", "x (model)", "joy", "s")]
    with pytest.raises(UserError, match=r"would be 's/x \(model\)'"):
        wide_to_csv(same)


def test_how_many_gave_the_gold() -> None:
    (found,) = settle(human("i", "joy", "joy", "fear"), majority=True)
    assert (found.answers, found.agreeing) == (3, 2)
