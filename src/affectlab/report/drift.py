"""Several runs of the decisions benchmark as a document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from affectlab import __version__
from affectlab.audits.drift import Drifted
from affectlab.benchmarks.decisions.tables import strength_table
from affectlab.metrics.scores import Table
from affectlab.report.decision_figures import STRENGTHS
from affectlab.report.model import Document, Section
from affectlab.stats.bootstrap import Interval


def document_of(found: Drifted, interval: Interval, command: str) -> Document:
    """Tables, maps, curves and how it was made, for the terminal and HTML.

    Args:
        found: What the runs say together.
        interval: How its intervals were made.
        command: What was typed.
    """
    sections = [Section("Drift", found.notes, found.tables)]
    if curves := tuple(_curves(found)):
        sections.append(Section("Drift over strength", (), curves))
    return Document(
        "Decisions under emotion",
        f"{len(found.runs)} run{'s' if len(found.runs) > 1 else ''}: {'; '.join(found.runs)}.",
        tuple(sections),
        {"command": command, "intervals": str(interval), "affectlab": __version__, "runs": found.made},
    )


def _curves(found: Drifted) -> Iterator[Table]:
    """A table a run: all emotions together and random vectors. Lines of each emotion are in the run's own report."""
    for place, (name, lines) in enumerate(found.curves.items(), start=1):
        together = [one for one in lines if not one.emotion and one.trend is not None]
        if together:
            yield replace(strength_table(together), id=f"{STRENGTHS}_{place}", title=f"By strength: {name}")
