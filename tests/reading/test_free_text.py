"""Free text."""

from __future__ import annotations

import pytest

from affectlab.reading import Outcome, read_text


@pytest.mark.parametrize(
    "text",
    [
        "It “hurt” me…",
        "  It “hurt” me…\n",
        "<think>Hm.</think>It “hurt” me…",
        "```\nIt “hurt” me…\n```",
        "<answer>It “hurt” me…</answer>",
        "Answer: It “hurt” me…",
        "**Answer:** It “hurt” me…",
        '"It “hurt” me…"',
    ],
)
def test_the_text_is_kept_as_written(text: str) -> None:
    assert read_text(text).value == "It “hurt” me…"


@pytest.mark.parametrize(
    ("text", "finish", "outcome"),
    [
        (None, "stop", Outcome.EMPTY),
        ("...", "stop", Outcome.UNPARSEABLE),
        ("It hurt", "length", Outcome.TRUNCATED),
        ("<think>It", "stop", Outcome.TRUNCATED),
        ("I'm sorry, but I can't help with that.", "stop", Outcome.REFUSAL),
    ],
)
def test_no_text(text: str | None, finish: str, outcome: Outcome) -> None:
    assert read_text(text, finish=finish).outcome is outcome


def test_somebody_else_who_cannot_help_is_no_refusal() -> None:
    assert read_text("She feels low because her friend could not come to the party.").ok
