from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from affectlab.report.layouts import Column, Fitting, Sheet, styled


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
