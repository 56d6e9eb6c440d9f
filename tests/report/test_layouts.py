from __future__ import annotations

import io
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from affectlab.report.layouts import Column, Fitting, Sheet, pieces, styled


def sheet(*texts: str, figures: bool = False, padding: int = 1) -> Sheet:
    return Sheet(tuple(Column(styled("h"), (styled(text),), figures) for text in texts), padding=padding)


def printed(room: int, *sheets: Sheet) -> str:
    out = io.StringIO()
    Console(file=out, width=room).print(Fitting(sheets))
    return out.getvalue()


def test_width_is_counted_in_full() -> None:
    # Two words of 5 cells, a blank after each, and 3 cells of rule: 15.
    assert sheet("alpha", "gamma").fits(15)
    assert not sheet("alpha", "gamma").fits(14)
    assert sheet("alpha", "gamma", padding=0).fits(13)


def test_figures_are_never_broken_and_words_are_kept_whole() -> None:
    assert Column(styled("h"), (styled("one three"),)).least == 5
    assert Column(styled("h"), (styled("1.0 [0.5]"),), figures=True).least == 9
    assert Column(styled("heading"), (styled("x"),)).least == 7


def test_names_are_broken_where_their_parts_meet() -> None:
    column = Column(styled("h"), (styled("permuted:anger@0.025:relative"),), breaks=True)
    assert column.least == len("anger@0.025:")
    assert column.within(21).texts[0].plain == "permuted:anger@0.025:\nrelative"
    assert column.within(40).texts[0].plain == "permuted:anger@0.025:relative"
    assert Column(styled("h"), (styled("a:b"),)).within(1).texts[0].plain == "a:b"
    assert pieces("relevance.bodily_motives") == ["relevance.", "bodily_", "motives"]
    assert pieces("0.025 a/b 12:30") == ["0.025 a/", "b 12:", "30"]


def test_columns_that_do_not_fit_stand_in_parts_with_the_names_in_each() -> None:
    wide = Sheet(tuple(Column(styled(f"h{n}"), (styled("x" * 8),)) for n in range(4)), "Title", ("A note.",))
    # A column takes 10 cells with its blank and rule, and the frame 1: two fit into 21.
    assert [len(part.columns) for part in wide.parts(21)] == [2, 2, 2]
    assert [part.columns[1].heading.plain for part in wide.parts(21)] == ["h1", "h2", "h3"]
    assert [len(part.columns) for part in wide.parts(31)] == [3, 2]
    named = (*wide.columns[:2], *(replace(column, figures=True) for column in wide.columns[2:]))
    both = [[column.heading.plain for column in part.columns] for part in replace(wide, columns=named).parts(31)]
    assert both == [["h0", "h1", "h2"], ["h0", "h1", "h3"]]
    text = printed(21, wide)
    assert text.count("x" * 8) == 6
    assert text.count("Title") == text.count("A note.") == 1
    assert [len(part.columns) for part in replace(wide, columns=wide.columns[:1]).parts(5)] == [1]


def test_the_first_sheet_that_fits_is_printed() -> None:
    wide, narrow = sheet("a" * 30), sheet("b" * 5)
    assert "a" * 30 in printed(60, wide, narrow)
    assert "bbbbb" in printed(20, wide, narrow)


def test_the_last_is_printed_when_none_fits() -> None:
    assert max(map(cell_len, printed(10, sheet("a" * 30)).splitlines())) <= 10


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=30), min_size=1, max_size=5), st.integers(20, 120))
def test_never_wider_than_the_room(texts: list[str], room: int) -> None:
    assert max(map(cell_len, printed(room, sheet(*texts)).splitlines()), default=0) <= room


def test_spare_room_goes_to_the_column_that_needs_it() -> None:
    text = printed(40, sheet("a few words in a row here", "x"))
    assert "a few words in a row here" in text
