"""The friction report of model-assisted annotation as a document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from affectlab.annotate.assist.friction import Friction, Group, shown
from affectlab.annotate.assist.routing import OUTCOMES
from affectlab.metrics.scores import Cell, Table
from affectlab.report.cells import number_text
from affectlab.report.model import Document, Section
from affectlab.stats.estimate import Estimate, Unit

_ACCEPTED = 30


def document_of(source: str, found: Friction) -> Document:
    """Tables of the report, for the terminal and HTML.

    Args:
        source: The folder of the study.
        found: The report.
    """
    every = [*found.slots.values(), *([found.total] if len(found.slots) > 1 else [])]
    sections = [
        Section(
            "Where slots stand",
            found.notes,
            tuple(table for table in (_standing(every), _waiting(every)) if table.rows),
        ),
        Section(
            "Friction",
            tables=tuple(table for table in (_friction(every), _adjudicator(every), _residue(every)) if table.rows),
        ),
    ]
    strata = tuple(
        _by(f"by_{name}", f"By {name}", name, groups.values())
        for name, groups in found.strata.items()
        if len(groups) > 1
    )
    if strata:
        sections.append(Section("By stratum", tables=strata))
    hard = tuple(table for table in (_accepted(found), _confused(found)) if table.rows)
    if hard:
        sections.append(Section("Labels with friction", tables=hard))
    if found.usage:
        sections.append(Section("Calls", tables=(_usage(found),)))
    return Document(
        title="Model-assisted annotation",
        summary=f"{source}: {_sentence(found)}",
        sections=tuple(sections),
        details={"intervals": str(found.interval)},
    )


def _sentence(found: Friction) -> str:
    total, residue = found.total, found.total.contamination
    text = f"{residue.retained:,} of {total.slots:,} slots have a label"
    if total.outcomes["waiting"]:
        text += f", {total.outcomes['waiting']:,} wait for people"
    share = residue.share
    if share.value is None or share.low is None or share.high is None:
        return f"{text}; residual contamination is unknown ({share.reason})."
    low, high = (number_text(end, "share") for end in (share.low, share.high))
    return (
        f"{text}; an estimated {number_text(share.value, 'share')} % [{low}, {high}] of the labels are wrong, "
        f"which is {residue.expected:,.0f}."
    )


def _standing(groups: Iterable[Group]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (one.name, *(one.outcomes[outcome] for outcome in OUTCOMES), one.slots) for one in groups
    ]
    columns = ("slot", "models agreed", "adjudicator", "people", "waiting", "in all")
    return Table("standing", "Where each label is from", columns, tuple(rows), "Every slot is in exactly one column.")


def _waiting(groups: Iterable[Group]) -> Table:
    every = list(groups)
    reasons = list(dict.fromkeys(reason for one in every for reason in one.waiting))
    rows: list[tuple[Cell, ...]] = [(one.name, *(one.waiting.get(reason, 0) for reason in reasons)) for one in every]
    return Table("waiting", "Why people are asked", ("slot", *reasons), tuple(rows) if reasons else ())


def _friction(groups: Iterable[Group]) -> Table:
    rows = tuple(
        (one.name, one.labels["agreed"], one.labels["differ"], one.labels["no label"], one.disagreement, one.override)
        for one in groups
    )
    columns = ("slot", "agree", "differ", "no label", "disagreement", "changed by people")
    note = "Changed by people: of audited labels on which both models agree."
    return Table("friction", "The two models", columns, rows, note)


def _adjudicator(groups: Iterable[Group]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            one.name,
            sum(one.verdicts.values()),
            one.verdicts.get("accepted", 0),
            one.inconsistency,
            one.first_position,
            one.first_position_p,
            one.adjudicator_error,
            one.problems,
        )
        for one in groups
        if one.verdicts
    ]
    columns = ("slot", "asked", "accepted", "turns with order", "first place", "p", "changed by people", "problems")
    note = (
        "First place: share of votes for the candidate shown first; p: whether verdicts that turn with the order lean "
        "to it. Problems: audited disagreements whose verdict turns with the order, or which people changed "
        "(where it was neither: people took a candidate)."
    )
    return Table("adjudicator", "The adjudicator", columns, tuple(rows), note, {"p": "p"})


def _residue(groups: Sequence[Group]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for one in groups:
        residue = one.contamination
        rates = {source: rate for source, (_, rate) in residue.sources.items()}
        settled = sum(rate.n for rate in rates.values())
        audit = (residue.drawn, settled, residue.split)
        share = residue.share
        rows.append((one.name, residue.retained, *audit, rates["model-agreed"], rates["adjudicated"], share))
    columns = ("slot", "labels kept", "to audit", "settled", "people split", "error of agreed", "error of adjudicated")
    note = (
        "Contamination: share of all labels kept that are estimated to differ from what people would say; error rates "
        "are those of each slot. Audited labels that people are split on are in no error rate."
    )
    worst = [
        f"{one.name} {number_text(one.contamination.worst, 'share')} %"
        for one in groups
        if one.contamination.split and one.contamination.worst is not None
    ]
    note += f" If all of these were wrong, contamination would be: {', '.join(worst)}." if worst else ""
    return Table("contamination", "Residual contamination", (*columns, "contamination"), tuple(rows), note)


def _by(id_: str, title: str, name: str, groups: Iterable[Group]) -> Table:
    rows = tuple(
        (
            one.name,
            one.slots,
            one.outcomes["waiting"],
            one.disagreement,
            one.inconsistency,
            one.override,
            one.contamination.share,
        )
        for one in groups
    )
    columns = (name, "slots", "waiting", "disagreement", "turns with order", "changed by people", "contamination")
    return Table(id_, title, columns, rows)


def _accepted(found: Friction) -> Table:
    ranked = sorted(found.accepted.values(), key=lambda one: -_hits(one.problems))
    rows = tuple((one.name, one.problems.n, _hits(one.problems), one.problems) for one in ranked if one.problems.n)
    more = len(rows) - _ACCEPTED
    note = "Audited disagreements by the label people gave." + (
        f" {more} more are in the JSON output." if more > 0 else ""
    )
    return Table("accepted", "Problems by label", ("label", "audited", "problems", "rate"), rows[:_ACCEPTED], note)


def _hits(share: Estimate) -> int:
    return round((share.value or 0) * share.n)


def _confused(found: Friction) -> Table:
    rows = tuple(
        (one.slot, shown(one.labels[0]), shown(one.labels[1]), one.times, one.neither) for one in found.confused
    )
    columns = ("slot", "one model", "the other", "times", "people took neither")
    return Table("confused", "Labels the models confuse most", columns, rows)


def _usage(found: Friction) -> Table:
    names = list(dict.fromkeys(name for one in found.usage.values() for name in one))
    rows: list[tuple[Cell, ...]] = [(run, *(one.get(name) for name in names)) for run, one in found.usage.items()]
    spent = {name: much for name, much in found.per_label.items() if much is not None}
    note = f"By label kept: {', '.join(f'{name} {much:.3g}' for name, much in spent.items())}." if spent else ""
    units: dict[str, Unit] = {"seconds": "number", "cost": "number"}
    return Table("calls", "Calls", ("run", *names), tuple(rows), note, units)
