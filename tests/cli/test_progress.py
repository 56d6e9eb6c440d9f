from __future__ import annotations

import io
import sys

import pytest

from affectlab.cli.progress import steps
from affectlab.cli.run import progress_bar
from affectlab.runs import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _shown(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, *, silent: bool = False) -> str:
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with steps(silent=silent) as told:
        for done in range(1, 4):
            told("texts", done, 3)
        told("resamples", 1, 2)
    return stream.getvalue()


def test_each_step_has_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = _shown(monkeypatch, Terminal())
    for part in ("texts", "3/3", "resamples", "1/2", "/s"):
        assert part in shown


def test_nothing_is_shown_elsewhere_or_when_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _shown(monkeypatch, io.StringIO()) == ""
    assert _shown(monkeypatch, Terminal(), silent=True) == ""


def test_what_takes_minutes_says_in_lines_where_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    stream, clock = io.StringIO(), iter([0.0, 1.0, 2.0, 40.0, 41.0])
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr("affectlab.cli.progress.monotonic", lambda: next(clock))
    with steps(lines=True) as told:
        for done in range(4):
            told("texts", done, 9)
    # Begun at 1 s; at 2 s it is too soon, at 40 s more than half a minute has gone, at 41 s it is too soon again.
    assert stream.getvalue() == "texts: 0 of 9\ntexts: 2 of 9\n"


def test_a_long_run_says_every_half_minute_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    stream, clock = io.StringIO(), iter([0.0, 1.0, 31.0, 40.0, 62.0])
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr("affectlab.cli.progress.monotonic", lambda: next(clock))
    with progress_bar("decisions × m") as show:
        for done in range(4):
            show(Progress(done, 9, int(done == 3)))
    assert stream.getvalue() == "decisions × m: 1 of 9\ndecisions × m (1 failed): 3 of 9\n"
