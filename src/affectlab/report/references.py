"""The run among the published figures: one table, sorted by the benchmark's main figure."""

from __future__ import annotations

from dataclasses import dataclass

from affectlab.metrics.scores import Cell, Table
from affectlab.report.model import RunReport
from affectlab.report.words import figure_name


@dataclass(frozen=True, slots=True)
class Standing:
    """The reference table and which of its rows are this run's."""

    table: Table
    own: frozenset[int]


def standing(report: RunReport) -> Standing | None:
    """This run's row (one per condition) among the reference rows; ``None`` when there are no references.

    Columns are the figures of the references, the run's headline figures first. Rows without the main
    figure come last.
    """
    if not report.references or not report.scores:
        return None
    figures = _figures(report)
    rows: list[tuple[float | None, bool, tuple[Cell, ...]]] = []
    for condition, scores in report.scores.items():
        mine = {estimate.name: estimate for estimate in scores.headline}
        label = "this run" if len(report.scores) == 1 else f"this run, {condition}"
        cells: list[Cell] = [mine.get(figure) for figure in figures]
        first = mine.get(figures[0]) if figures else None
        row = (f"{report.model_name} ({label})", *cells, label.split(",")[0], "", "")
        rows.append((first.value if first else None, True, row))
    for reference in report.references:
        published: list[Cell] = [_share(reference.figures.get(figure)) for figure in figures]
        row = (reference.name, *published, reference.kind, reference.source, reference.note)
        rows.append((reference.figures.get(figures[0]) if figures else None, False, row))
    rows.sort(key=lambda entry: (entry[0] is None, -(entry[0] or 0.0)))
    columns = ("Who", *map(figure_name, figures), "Kind", "Source", "Note")
    table = Table(
        "references",
        "This run and published figures",
        columns,
        tuple(row for _, _, row in rows),
        "Published figures come from other items, prompts and dates: landmarks, not a ranking.",
    )
    return Standing(_without_empty_columns(table), frozenset(i for i, (_, own, _) in enumerate(rows) if own))


def _figures(report: RunReport) -> list[str]:
    headline = [estimate.name for scores in report.scores.values() for estimate in scores.headline]
    published = {name: None for reference in report.references for name in reference.figures}
    ours = [name for name in dict.fromkeys(headline) if name in published]
    return ours + [name for name in published if name not in ours]


def _share(value: float | None) -> float | None:
    return None if value is None else float(value)


def _without_empty_columns(table: Table) -> Table:
    keep = [i for i in range(len(table.columns)) if any(row[i] not in ("", None) for row in table.rows)]
    return Table(
        table.id,
        table.title,
        tuple(table.columns[i] for i in keep),
        tuple(tuple(row[i] for i in keep) for row in table.rows),
        table.note,
    )
