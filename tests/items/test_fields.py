from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ValidationError

from affectlab.items.fields import Identifier, OptionalText, Text, label_of


class Record(BaseModel):
    id: Identifier = "x"
    text: Text = "x"
    note: OptionalText = None
    label: Annotated[str | None, label_of("chiaro10")] = None


def refusal(**values: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        Record.model_validate(values)
    return str(caught.value)


@pytest.mark.parametrize("written", ["s 1", "场景7", "é", "🙂", "a\u3000b"])
def test_ids_hold_whatever_can_be_seen(written: str) -> None:
    assert Record(id=written).id == written


@pytest.mark.parametrize("written", ["", " ", "\u3000", "\t", "\u200b"])
def test_blank_ids_are_refused(written: str) -> None:
    assert "text that is not empty" in refusal(id=written)


@pytest.mark.parametrize("written", ["", " \n", "\u200b", "\ufeff \u200d", "\x00"])
def test_a_text_in_which_nothing_can_be_seen_is_empty(written: str) -> None:
    assert "text that is not empty" in refusal(text=written)
    assert Record.model_validate({"note": written}).note is None


def test_a_text_may_hold_invisible_characters_beside_others() -> None:
    assert Record(text="👩\u200d🔬").text == "👩\u200d🔬"


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ("a\u200b", "200B"),
        ("a\u200d", "200D"),
        ("a\n", "000A"),
        ("\ufeffa", "FEFF"),
        ("a\x1b[0m", "001B"),
        ("a\u2028", "2028"),
    ],
)
def test_ids_with_something_invisible_are_refused_by_its_code(written: str, code: str) -> None:
    assert f"cannot be seen (U+{code} is one)" in refusal(id=written)


def test_a_label_is_read_in_any_form_and_empty_is_none() -> None:
    assert Record.model_validate({"label": " SADNESS "}).label == "sadness"
    assert Record.model_validate({"label": " "}).label is None
    assert "string" in refusal(label=3)


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("sadnes", "; did you mean 'sadness'?"),
        ("embarassed", "; did you mean 'embarrassment'?"),
        ("zzz", "embarrassment ["),
    ],
)
def test_an_unknown_label_is_told_with_the_nearest(written: str, hint: str) -> None:
    text = refusal(label=written)
    assert "one of joy, pride" in text
    assert hint in text
