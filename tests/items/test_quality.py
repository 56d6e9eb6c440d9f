from __future__ import annotations

import pytest

from affectlab.errors import UserError
from affectlab.items import Row
from affectlab.items.clean import unescape_text
from affectlab.items.personal import drop_personal, personal_columns
from affectlab.items.quality import conflicting_labels, outside, shared_values, valence_clash
from affectlab.labels import load


def test_values_of_another_list() -> None:
    space = load("cue_plutchik9")
    assert outside(["Joy", "Disappointment", "joy", "Neutral/None", "Disappointment"], space) == ["Disappointment"]


@pytest.mark.parametrize(
    ("polarity", "emotion", "clash"),
    [
        ("Positive", "Sadness", True),
        ("Negative", "Joy", True),
        ("positive", "Joy", False),
        ("Positive", "Surprise", False),
        ("Negative", "Anticipation", False),
        ("Neutral", "Joy", False),
        ("Positive", "Neutral/None", False),
        ("积极", "愤怒", True),
    ],
)
def test_valence_clash(polarity: str, emotion: str, clash: bool) -> None:
    assert valence_clash(polarity, emotion, load("cue_plutchik9")) is clash


def test_valence_clash_refuses_what_it_cannot_judge() -> None:
    with pytest.raises(UserError, match="not a label of 'cue_polarity3'"):
        valence_clash("good", "Joy", load("plutchik8"))
    with pytest.raises(UserError, match="not a label of 'plutchik8'"):
        valence_clash("Positive", "Ennui", load("plutchik8"))
    with pytest.raises(UserError, match="no positive and negative groups"):
        valence_clash("Positive", "Irony", load("cue_intent8"))


def test_conflicting_labels() -> None:
    rows = [
        ("a", "Nice one", frozenset({"joy"})),
        ("b", "other", frozenset({"joy"})),
        ("c", "nice  one", frozenset({"anger"})),
        ("d", "OTHER", frozenset({"joy"})),
    ]
    assert conflicting_labels(rows) == [("a", "c")]


def test_shared_values() -> None:
    left: list[dict[str, object]] = [{"author": "x"}, {"author": None}, {}]
    assert shared_values(left, [{"author": "x"}, {"author": "y"}, {"author": None}], "author") == {"x"}


def test_personal_columns() -> None:
    columns = ["text", "author", "rater_id", "User Name", "e-mail", "WorkerId", "作者", "authority", "label"]
    assert personal_columns(columns) == ["author", "User Name", "e-mail", "WorkerId", "作者"]


def test_personal_columns_are_dropped_or_hashed() -> None:
    rows = [Row(1, {"text": "x", "author": "Ann"}), Row(2, {"text": "y", "author": "Ann"}), Row(3, {"author": None})]
    dropped, names = drop_personal(rows)
    assert names == ("author",)
    assert dropped == [Row(1, {"text": "x"}), Row(2, {"text": "y"}), Row(3, {})]
    hashed, _ = drop_personal(rows, salt=b"secret")
    marks = [row.data.get("author") for row in hashed]
    assert marks[0] == marks[1] != "Ann"
    assert marks[2] is None
    assert drop_personal(rows, salt=b"other")[0][0].data["author"] != marks[0]
    assert drop_personal(rows, keep={"author"}) == (rows, ())


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("so tired\\n@user &amp; done ", "so tired\n@user & done"),
        ("I was late_comma_ again", "I was late, again"),
        ("a\\r\\nb", "a\nb"),
        ("&lt;3 &amp;lt;", "<3 &lt;"),
        ("  plain 好 ", "plain 好"),
        ("", ""),
    ],
)
def test_unescape_text(raw: str, clean: str) -> None:
    assert unescape_text(raw) == clean
