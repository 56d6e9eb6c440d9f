"""The bar that long commands show on standard error: how far, how fast, how long yet."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress

_BETWEEN_LINES = 30.0
"""Seconds."""


def bar(*, silent: bool = False) -> Progress:
    """A bar with rate and time left; nothing where standard error is not a terminal.

    Args:
        silent: Show nothing there either.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        SpinnerColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Any) -> Text:
            speed = task.finished_speed or task.speed
            return Text("" if speed is None else f"{speed:.1f}/s" if speed < 100 else f"{speed:.0f}/s")

    console = Console(file=sys.stderr)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Rate())
    return Progress(*columns, TimeRemainingColumn(), console=console, disable=silent or not console.is_terminal)


def now_and_then(shown: Progress) -> Callable[..., None]:
    """What prints a line on standard error at most every half minute, where that is no terminal that shows the bar: a
    log of minutes of work is not silent. With ``at_once=True`` it does not wait."""
    last = monotonic()

    def say(line: str, *, at_once: bool = False) -> None:
        nonlocal last
        if not shown.console.is_terminal and ((now := monotonic()) - last > _BETWEEN_LINES or at_once):
            print(line, file=sys.stderr, flush=True)
            last = now

    return say


@contextmanager
def steps(*, silent: bool = False, lines: bool = False) -> Iterator[Callable[[str, int, int], None]]:
    """A bar for each thing that is done, told what it is, how much of it is done, and how much there is.

    Args:
        silent: Show nothing on a terminal either.
        lines: Where standard error is no terminal, print a line as each thing begins, and one every half minute: for
            what takes minutes.
    """
    with bar(silent=silent) as shown:
        tasks: dict[str, Any] = {}
        say = now_and_then(shown)

        def told(what: str, done: int, total: int) -> None:
            new = what not in tasks
            if new:
                tasks[what] = shown.add_task(what, total=total)
            shown.update(tasks[what], completed=done)
            if lines and not silent:
                say(f"{what}: {done} of {total}", at_once=new)

        yield told
