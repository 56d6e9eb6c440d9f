"""An agreement study as a document."""

from __future__ import annotations

from collections.abc import Sequence

from affectlab.annotate.agreement import figures_table, overview, scores_of
from affectlab.report.model import Document, Section
from affectlab.stats.agreement.summary import SlotAgreement


def document_of(source: str, found: Sequence[SlotAgreement]) -> Document:
    """Tables, matrices and methods sentences of every slot, for the terminal and HTML.

    Args:
        source: What the answers are from.
        found: At least one slot.
    """
    sections = [Section("Slots", tables=(overview(found),))] if len(found) > 1 else []
    for one in found:
        sheet = scores_of(one)
        sections.append(Section(one.slot, sheet.notes, (figures_table(one), *sheet.tables), sheet.matrices))
    return Document(
        title="Agreement among annotators",
        summary=f"{source}: {sum(len(one.ratings) for one in found):,} answers to {len(found)} slots."
        if len(found) > 1
        else f"{source}: {len(found[0].ratings):,} answers.",
        sections=tuple(sections),
        details={"intervals": str(found[0].interval), "levels": {one.slot: one.level for one in found}},
    )
