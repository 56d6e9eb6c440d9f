from __future__ import annotations

import pytest

from affectlab.benchmarks.prompt import PromptTemplate
from affectlab.errors import UserError


def test_braces_in_data_are_data() -> None:
    template = PromptTemplate("Read: {story}", ("story",))
    assert template.fill(story="He typed {x} and {0} and left {") == "Read: He typed {x} and {0} and left {"


def test_literal_braces_are_doubled() -> None:
    assert PromptTemplate('{{"a": {b}}}', ("b",)).fill(b="1") == '{"a": 1}'


@pytest.mark.parametrize(
    ("text", "fields", "named"),
    [
        ("Read: {story} {oops}", ("story",), "{oops}"),
        ("Read: {story", ("story",), "brace"),
        ("Read }", (), "brace"),
        ("Read", ("story",), "lacks {story}"),
        ("Read {story!r}", ("story",), "format specification"),
        ("Read {story:>9}", ("story",), "format specification"),
        ("Read {}", (), "{}"),
        ("Read {story.upper}", ("story",), "{story.upper}"),
    ],
)
def test_a_template_that_is_not_its_fields_is_refused_when_made(text: str, fields: tuple[str, ...], named: str) -> None:
    with pytest.raises(UserError, match=named.replace("{", r"\{").replace("}", r"\}")):
        PromptTemplate(text, fields)
