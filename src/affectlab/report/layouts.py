"""Tables that fit a terminal: several ways to set one, and the first that needs no broken word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table as Grid
from rich.text import Text

from affectlab.report.cells import visible


def styled(content: str, style: str = "") -> Text:
    """Text to print as it is, whatever it contains."""
    return Text(visible(content), style=style)


@dataclass(frozen=True, slots=True)
class Column:
    """A column: heading, one text per row, whether it holds figures (set flush right), whether its lines stay whole.

    Lines of figures are never broken either.
    """

    heading: Text
    texts: tuple[Text, ...]
    figures: bool = False
    whole: bool = False

    @property
    def least(self) -> int:
        """Cells it needs: its longest word, and the longest line that stays whole."""
        words = [word for text in (self.heading, *self.texts) for word in text.plain.split()]
        lines = [line for text in self.texts for line in text.plain.splitlines()] if self.figures or self.whole else []
        return max(map(cell_len, (*words, *lines)), default=1)

    @property
    def most(self) -> int:
        """Cells it can use: its longest line."""
        lines = [line for text in (self.heading, *self.texts) for line in text.plain.splitlines()]
        return max(self.least, max(map(cell_len, lines), default=1))


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
        for column, width in zip(self.columns, widths, strict=True):
            grid.add_column(column.heading, justify="right" if column.figures else "left", overflow="fold", width=width)
        for position, row in enumerate(zip(*(column.texts for column in self.columns), strict=True)):
            grid.add_row(*row, style="bold cyan" if position in self.own else "")
        return grid

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
    """The first of several sheets that fits where it is printed; the last one if none does."""

    def __init__(self, sheets: Sequence[Sheet]) -> None:
        self.sheets = sheets

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = options.max_width
        sheet = next((sheet for sheet in self.sheets if sheet.fits(room)), self.sheets[-1])
        if sheet.title:
            yield Text("")
            yield styled(sheet.title, "bold")
        yield sheet.grid(room)
        for note in sheet.notes:
            yield styled(note, "dim")
