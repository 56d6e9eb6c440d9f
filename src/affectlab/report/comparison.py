"""A comparison of two runs as a document."""

from __future__ import annotations

from dataclasses import replace

from affectlab.metrics.scores import Cell, Table
from affectlab.report import words
from affectlab.report.cells import number_text
from affectlab.report.model import Document, Section
from affectlab.report.names import figure_name
from affectlab.runs import Comparison
from affectlab.stats.estimate import Estimate, Unit, unit_of_difference
from affectlab.stats.paired import PairedResult


def document_of(comparison: Comparison) -> Document:
    """Tables and notes of a comparison, for the terminal and HTML."""
    a, b = comparison.a, comparison.b
    return Document(
        title=f"{a.run.benchmark.title}: A against B",
        summary=f"A: {a.name} ({a.run.folder.path}). B: {b.name} ({b.run.folder.path}). {_sentence(comparison)}",
        sections=(Section("Differences", _notes(comparison), (_differences(comparison), *_mcnemar(comparison))),),
        details={
            "A": {"run": str(a.run.folder.path), "condition": a.condition},
            "B": {"run": str(b.run.folder.path), "condition": b.condition},
            "intervals": str(comparison.interval),
            "differing settings": {name: {"A": pair[0], "B": pair[1]} for name, pair in comparison.differs.items()},
        },
    )


def _sentence(comparison: Comparison) -> str:
    main = comparison.results[0]
    adjusted = comparison.adjusted[main.name]
    if main.difference.value is None or adjusted is None:
        return f"The difference in {main.name} is undefined ({main.difference.reason})."
    verdict = "A difference is shown" if adjusted < 0.05 else "No difference is shown"
    unit = _unit(comparison, main.name)
    found = words.value_text(_difference(main, unit))
    detectable = ""
    if main.detectable is not None:
        size = number_text(main.detectable, unit) + (" points" if unit == "share" else "")
        detectable = f"; these items would have shown a difference of {size} four times out of five"
    return f"{verdict} in {figure_name(main.name)}: {found} (adjusted p = {adjusted:.3g}){detectable}."


def _unit(comparison: Comparison, name: str) -> Unit:
    """What a figure counts: its runs say it."""
    return comparison.a.run.scores[comparison.a.condition].figure(name).unit


def _difference(result: PairedResult, unit: Unit) -> Estimate:
    return replace(result.difference, unit=unit_of_difference(unit))


def _row(result: PairedResult, adjusted: float | None, unit: Unit) -> tuple[Cell, ...]:
    def cell(value: float | None) -> Cell:
        return value if value is None or unit == "share" else Estimate(result.name, value, unit=unit)

    return (
        result.name,
        cell(result.a),
        cell(result.b),
        _difference(result, unit),
        result.p,
        adjusted,
        cell(result.detectable),
    )


def _differences(comparison: Comparison) -> Table:
    rows = [
        _row(result, comparison.adjusted[result.name], _unit(comparison, result.name)) for result in comparison.results
    ]
    return Table(
        "differences",
        "A minus B on the same items",
        ("figure", "A", "B", "A − B", "p", "p adjusted", "detectable"),
        tuple(rows),
        "Interval: paired cluster bootstrap. p: paired permutation, A and B swapped within clusters. "
        "A figure that leaves unread answers out is taken over the answers read on both sides. "
        f"Adjusted: Benjamini–Hochberg over the {len(rows)} figures shown. "
        "Detectable: smallest true difference found with power .8 at level .05.",
        {"A": "share", "B": "share", "p": "p", "p adjusted": "p", "detectable": "share"},
    )


def _mcnemar(comparison: Comparison) -> list[Table]:
    test = comparison.mcnemar
    if test is None:
        return []
    return [
        Table(
            "mcnemar",
            "Items wholly right: exact McNemar test",
            ("items", "only A right", "only B right", "A − B", "p", "mid-p", "detectable"),
            ((test.n, test.b, test.c, test.difference, test.p, test.mid_p, comparison.mcnemar_detectable),),
            "No item is wholly right in one run and not in the other: p is 1 by convention."
            if test.no_discordant
            else "Unreadable replies counted wrong.",
            {"A − B": "difference", "p": "p", "mid-p": "p", "detectable": "share"},
        )
    ]


def _notes(comparison: Comparison) -> tuple[str, ...]:
    notes = []
    differs = [name for name in comparison.differs if not name.startswith("model.")]
    if differs:
        notes.append(f"The runs differ in more than the model: {', '.join(differs)}.")
    if comparison.left_out:
        notes.append(f"Only one run answers {', '.join(comparison.left_out)}: left out here.")
    if not comparison.differs and comparison.a.condition == comparison.b.condition:
        notes.append("The runs have the same settings: any difference is chance, or a change of the code.")
    if comparison.mcnemar is not None and comparison.mcnemar.reason:
        notes.append(f"No McNemar p-value: {comparison.mcnemar.reason}.")
    return tuple(notes)
