"""Tables that fit a terminal: several ways to set one, and the first that needs no broken word.

Where even the narrowest needs one, its columns go into several tables under each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table as Grid
from rich.text import Text

from affectlab.report.cells import visible

_PIECES = re.compile(r"(?<=[:/_+])(?=\w)|(?<=\.)(?=[^\W\d])")
"""Where a long name may be broken: ``anger@0.025:|relative:|seed=1``, ``relevance.|bodily_|motives``."""


def pieces(name: str) -> list[str]:
    """A name cut where it may be broken.

    >>> pieces("permuted:anger@0.025:relative")
    ['permuted:', 'anger@0.025:', 'relative']
    """
    return _PIECES.split(name)


def styled(content: str, style: str = "") -> Text:
    """Text to print as it is, whatever it contains."""
    return Text(visible(content), style=style)


@dataclass(frozen=True, slots=True)
class Column:
    """A column: heading, one text per row, whether it holds figures (set flush right), whether its lines stay whole,
    whether its long names may be broken at their joints.

    Lines of figures are never broken either.
    """

    heading: Text
    texts: tuple[Text, ...]
    figures: bool = False
    whole: bool = False
    breaks: bool = False

    @property
    def least(self) -> int:
        """Cells it needs: its longest word or piece of a name, and the longest line that stays whole."""
        words = [word for text in (self.heading, *self.texts) for word in text.plain.split()]
        if self.breaks:
            words = [piece for word in words for piece in pieces(word)]
        lines = [line for text in self.texts for line in text.plain.splitlines()] if self.figures or self.whole else []
        return max(map(cell_len, (*words, *lines)), default=1)

    @property
    def most(self) -> int:
        """Cells it can use: its longest line."""
        lines = [line for text in (self.heading, *self.texts) for line in text.plain.splitlines()]
        return max(self.least, max(map(cell_len, lines), default=1))

    def within(self, width: int) -> Column:
        """The column with the names that are wider than it broken at their joints."""
        if not self.breaks:
            return self
        return replace(
            self, heading=_broken(self.heading, width), texts=tuple(_broken(one, width) for one in self.texts)
        )


def _broken(text: Text, width: int) -> Text:
    breaks = []
    for word in re.finditer(r"\S+", text.plain):
        if cell_len(word.group()) <= width:
            continue
        at, used = word.start(), 0
        for piece in pieces(word.group()):
            if used and used + cell_len(piece) > width:
                breaks.append(at)
                used = 0
            at, used = at + len(piece), used + cell_len(piece)
    return Text("\n").join(text.divide(breaks)) if breaks else text


@dataclass(frozen=True, slots=True)
class Sheet:
    """One way to set a table.

    Attributes:
        columns: Left to right.
        title: Line above it.
        notes: Lines below it.
        own: Rows that stand out.
        padding: Blanks after each column.
        ruled: Whether there is a line under the headings.
    """

    columns: tuple[Column, ...]
    title: str = ""
    notes: tuple[str, ...] = ()
    own: frozenset[int] = field(default_factory=frozenset)
    padding: int = 1
    ruled: bool = True

    @property
    def overhead(self) -> int:
        """Cells that are not a column's."""
        count = len(self.columns)
        return count * self.padding + (count + 1 if self.ruled else 0)

    @property
    def least(self) -> int:
        """Cells it needs for no word or figure to be broken."""
        return sum(column.least for column in self.columns) + self.overhead

    def fits(self, room: int) -> bool:
        """Whether no word or figure has to be broken in ``room`` cells."""
        return self.least <= room

    def grid(self, room: int) -> Grid:
        """The table in at most ``room`` cells, as wide as it can use."""
        grid = Grid(
            box=box.SIMPLE_HEAD if self.ruled else None,
            padding=(0, self.padding, 0, 0),
            header_style="table.header" if self.ruled else "dim",
        )
        widths = self._widths(room)
        columns = [
            column if width is None else column.within(width)
            for column, width in zip(self.columns, widths, strict=True)
        ]
        for column, width in zip(columns, widths, strict=True):
            grid.add_column(column.heading, justify="right" if column.figures else "left", overflow="fold", width=width)
        for position, row in enumerate(zip(*(column.texts for column in columns), strict=True)):
            grid.add_row(*row, style="bold cyan" if position in self.own else "")
        return grid

    def parts(self, room: int) -> Iterator[Sheet]:
        """The columns in as few sheets as they fit into, what names the rows in each: the columns before any figure,
        or the first alone where those leave no room.
        """
        figures = [index for index, column in enumerate(self.columns) if column.figures]
        names = self.columns[: figures[0]] if figures and figures[0] else self.columns[:1]
        rest = self.columns[len(names) :]
        if not all(replace(self, columns=(*names, column)).fits(room) for column in rest):
            names, rest = self.columns[:1], self.columns[1:]
        taken = names
        for column in rest:
            if len(taken) > len(names) and not replace(self, columns=(*taken, column)).fits(room):
                yield replace(self, columns=taken)
                taken = names
            taken = (*taken, column)
        yield replace(self, columns=taken)

    def _widths(self, room: int) -> Sequence[int | None]:
        if not self.fits(room):
            return [None] * len(self.columns)
        widths = [column.least for column in self.columns]
        wanted = [column.most for column in self.columns]
        spare = room - self.overhead - sum(widths)
        while spare > 0 and widths != wanted:
            # To the column that is furthest from what it can use.
            index = max(range(len(widths)), key=lambda i: wanted[i] - widths[i])
            widths[index] += 1
            spare -= 1
        return list(widths)


class Fitting:
    """The first of several sheets that fits where it is printed.

    Where none does, ``wide`` (the last one unless given) is taken, its columns in several tables under each other.
    """

    def __init__(self, sheets: Sequence[Sheet], wide: Sheet | None = None) -> None:
        self.sheets = sheets
        self.wide = wide or sheets[-1]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = options.max_width
        sheet = next((sheet for sheet in self.sheets if sheet.fits(room)), None)
        shown = sheet or self.wide
        if shown.title:
            yield Text("")
            yield styled(shown.title, "bold")
        for part in (shown,) if sheet else shown.parts(room):
            yield part.grid(room)
        for note in shown.notes:
            yield styled(note, "dim")
