"""The run among the published figures: one table, sorted by the benchmark's main figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from affectlab.metrics.scores import Cell, Scores, Table
from affectlab.report.cells import is_breakdown
from affectlab.report.model import RunReport
from affectlab.report.names import figure_name, same_figure
from affectlab.stats.estimate import Estimate

BASELINES = "baselines"
"""Id of the table a scorer may give with what chance and majority would score: name, then a column per figure."""


_MANY = 30
"""Rows that are still shown whole."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The reference table, and which of its rows are this run's: row -> what to call it among rows of this run."""

    table: Table
    own: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class _Row:
    name: str
    figures: Mapping[str, Cell]
    kind: str
    source: str = ""
    note: str = ""
    own: str = ""


def standing(report: RunReport) -> Standing | None:
    """This run's row among the reference rows; ``None`` when there are no references.

    There is one row a condition, or one for all of them where a sheet is about the whole run: then what is published
    are means over conditions, and a single one is not like them. ``None`` too where nothing published is like anything
    of the run.

    Columns are the figures of the references, the run's headline figures first; figures that a run has not in its
    headline are taken from its breakdowns. Chance and majority are worked out on the run's own gold where the scorer
    gives them. The best row comes first, by what is best of the main figure; rows without that figure come last.
    """
    if not report.references or not report.scores:
        return None
    figures = _figures(report)
    if not figures:
        return None
    main = figures[0]
    sign = 1 if main in report.smaller_better else -1
    rows = sorted(_rows(report, figures), key=lambda row: _order(row.figures.get(main), sign))
    columns = ("Who", *map(figure_name, figures), "Kind", "Source", "Note")
    ours = ((name, row.figures.get(name)) for row in rows for name in figures)
    table = Table(
        "references",
        "This run and published figures",
        columns,
        tuple((row.name, *map(row.figures.get, figures), row.kind, row.source, row.note) for row in rows),
        "Published figures come from other items, prompts and dates: landmarks, not a ranking.",
        {figure_name(name): cell.unit for name, cell in ours if isinstance(cell, Estimate)},
    )
    return Standing(_without_empty_columns(table), {i: row.own for i, row in enumerate(rows) if row.own})


def nearest(place: Standing, beside: int) -> Standing | None:
    """This run's rows with so many others before and after each; ``None`` where all rows may be shown."""
    kept = [index for index in range(len(place.table.rows)) if any(abs(index - mine) <= beside for mine in place.own)]
    if not place.own or len(place.table.rows) <= _MANY:
        return None
    rows = tuple(place.table.rows[index] for index in kept)
    own = {new: place.own[old] for new, old in enumerate(kept) if old in place.own}
    return Standing(replace(place.table, rows=rows), own)


def baselines(report: RunReport, condition: str, figure: str) -> dict[str, float]:
    """What models that read nothing score on a figure: from the run's own table of them, else from the references."""
    rows = [row for row in _own_baselines(report.scores[condition], [figure]) if row.figures]
    if rows:
        return {row.name: value for row in rows if isinstance(value := row.figures[figure], float)}
    published = (row for row in report.references if row.kind == "baseline" and figure in row.figures)
    return {row.name: row.figures[figure] for row in published}


def _rows(report: RunReport, figures: list[str]) -> Iterator[_Row]:
    apart = report.together is None and len(report.scores) > 1
    for label, scores in _alike(report).items():
        name = f"{report.model_name} ({label})"
        yield _Row(name, _known(scores), "this run", own=label.removeprefix("this run, ") if apart else name)
    for reference in report.references:
        published: dict[str, Cell] = {
            name: float(value) for name, value in reference.figures.items() if name in figures
        }
        if not published:
            continue
        yield _Row(reference.name, published, reference.kind, reference.source, reference.note)
    yield from _own_baselines(next(iter(report.scores.values())), figures)


def _alike(report: RunReport) -> Mapping[str, Scores]:
    """What of the run may stand beside published figures, by what to call it."""
    if (together := report.together) is not None:
        return {"this run, mean over its emotions": together}
    several = len(report.scores) > 1
    return {f"this run, {condition}" if several else "this run": scores for condition, scores in report.scores.items()}


def _known(scores: Scores) -> dict[str, Cell]:
    """Every figure of a run by id: a breakdown's ``macro_f1`` in row ``physical`` is ``macro_f1:physical``."""
    known: dict[str, Cell] = {}
    for table in scores.tables:
        if is_breakdown(table):
            for row in table.rows:
                for cell in row[1:]:
                    if isinstance(cell, Estimate):
                        known.setdefault(f"{cell.name}:{row[0]}", cell)
    return known | {estimate.name: estimate for estimate in scores.headline}


def _own_baselines(scores: Scores, figures: list[str]) -> Iterator[_Row]:
    for table in scores.tables:
        if table.id == BASELINES:
            for row in table.rows:
                values: dict[str, Cell] = {
                    figure: value
                    for heading, value in zip(table.columns, row, strict=True)
                    for figure in figures
                    if same_figure(heading, figure) and isinstance(value, float)
                }
                yield _Row(str(row[0]), values, "baseline", "this run's gold")


def _figures(report: RunReport) -> list[str]:
    alike = _alike(report).values()
    headline = [estimate.name for scores in alike for estimate in scores.headline]
    published = {name: None for reference in report.references for name in reference.figures}
    ours = [name for name in dict.fromkeys(headline) if name in published]
    # A benchmark's protocols need not share figures: what this run cannot have is no landmark for it.
    known = {name for scores in alike for name in _known(scores)}
    return ours + [name for name in published if name not in ours and name in known]


def _order(cell: Cell, sign: int) -> tuple[bool, float]:
    value = cell.value if isinstance(cell, Estimate) else cell
    return (False, sign * value) if isinstance(value, float) else (True, 0.0)


def _without_empty_columns(table: Table) -> Table:
    keep = [i for i in range(len(table.columns)) if any(row[i] not in ("", None) for row in table.rows)]
    return replace(
        table,
        columns=tuple(table.columns[i] for i in keep),
        rows=tuple(tuple(row[i] for i in keep) for row in table.rows),
    )
