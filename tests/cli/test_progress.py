from __future__ import annotations

import io
import sys

import pytest

from affectlab.cli.progress import steps


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
