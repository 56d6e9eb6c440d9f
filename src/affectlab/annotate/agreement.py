"""From answers in long form to agreement on each slot, and to the tables that show it.

People and models never share a figure: answers of each kind are compared among themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from affectlab.annotate.answers import Answer, Kind
from affectlab.errors import UserError, did_you_mean
from affectlab.metrics.scores import Cell, Matrix, Scores, Table
from affectlab.stats.agreement import REASONS, Ratings, ratings
from affectlab.stats.agreement.sentence import NAMES, methods_sentence
from affectlab.stats.agreement.summary import (
    Scale,
    SlotAgreement,
    slot_agreement,
    split_intensities,
)
from affectlab.stats.bootstrap import USUAL, Interval
from affectlab.stats.estimate import Estimate

_PAIRS_SHOWN = 30


@dataclass(frozen=True)
class Asked:
    """What to compute.

    Attributes:
        scale: How answers are compared; by slot in ``scales`` where slots differ.
        values: Slot -> all values there are, in order; ``""`` for every slot that is not named.
        scales: Slot -> how its answers are compared.
        slots: Which slots; all when empty.
        upstream: Slot on which annotators must agree, for agreement given that.
        kind: Whose answers.
        schema: Version of the label set, where the answers hold several.
        interval: How intervals are made.
    """

    scale: Scale = field(default_factory=Scale)
    values: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    scales: Mapping[str, Scale] = field(default_factory=dict)
    slots: tuple[str, ...] = ()
    upstream: str | None = None
    kind: Kind = "human"
    schema: str | None = None
    interval: Interval = USUAL


def agreement(answers: Iterable[Answer], asked: Asked | None = None) -> list[SlotAgreement]:
    """Agreement on every slot, in order of first mention.

    A slot of intensities becomes one of the labels given at all (``SLOT: labels``, compared as sets) and one for each
    label (``SLOT: LABEL``, 0 where it was not given).

    Raises:
        UserError: When there is no such slot, answers of several versions of the label set would be mixed, nobody of
            the kind answered, or the values do not fit the level.
    """
    asked = asked or Asked()
    mine = _chosen(answers, asked)
    by_slot: dict[str, list[Answer]] = {}
    for one in mine:
        by_slot.setdefault(one.slot, []).append(one)
    for name in (*asked.slots, *([asked.upstream] if asked.upstream else [])):
        if name not in by_slot:
            raise UserError(f"There is no slot {name!r}{_near(name, by_slot)} There are: {', '.join(by_slot)}.")
    above = None
    if asked.upstream is not None:
        above = (asked.upstream, _ratings(by_slot[asked.upstream], asked, asked.upstream))
    found = []
    for slot, given in by_slot.items():
        if asked.slots and slot not in asked.slots:
            continue
        missing = Counter(one.status if one.value is None or not one.counts else "" for one in given)
        del missing[""]
        scale = asked.scales.get(slot, asked.scale)
        for name, data, used in _expanded(slot, given, asked, scale):
            given_above = above if above is not None and slot != asked.upstream else None
            with _naming(name):
                found.append(slot_agreement(name, data, used, asked.interval, missing=missing, upstream=given_above))
    return found


def _near(name: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    return did_you_mean(get_close_matches(name, list(known), n=1)) or "."


@contextmanager
def _naming(slot: str) -> Iterator[None]:
    """Errors in here name the slot they are about."""
    try:
        yield
    except UserError as error:
        raise UserError(f"Slot {slot!r}: {error}") from error


def _chosen(answers: Iterable[Answer], asked: Asked) -> list[Answer]:
    every = list(answers)
    mine = [one for one in every if one.kind == asked.kind]
    if not mine:
        kinds = Counter(one.kind for one in every)
        there = ", ".join(f"{count} of kind {kind}" for kind, count in kinds.items()) or "none"
        raise UserError(f"There are no answers of kind {asked.kind} ({there}).")
    if asked.schema is not None:
        mine = [one for one in mine if one.schema == asked.schema]
        if not mine:
            known = ", ".join(sorted({one.schema or "(none)" for one in every}))
            raise UserError(f"No answer has version {asked.schema!r} of the label set; there are: {known}.")
    versions = sorted({one.schema for one in mine if one.schema})
    if len(versions) > 1:
        raise UserError(
            f"The answers were given under {len(versions)} versions of the label set ({', '.join(versions)}). "
            "Agreement across versions means nothing: choose one with --schema."
        )
    return mine


def _expanded(slot: str, given: Sequence[Answer], asked: Asked, scale: Scale) -> list[tuple[str, Ratings, Scale]]:
    counted = [one for one in given if one.counts]
    if not any(isinstance(one.value, Mapping) for one in counted):
        with _naming(slot):
            return [(slot, _ratings(counted, asked, slot), scale)]
    rows = [(one.item, one.annotator, one.value) for one in counted if isinstance(one.value, Mapping)]
    if len(rows) < len(counted):
        raise UserError(f"Slot {slot!r} mixes intensities with other answers; one slot takes one kind.")
    labels = [(item, who, tuple(name for name, much in value.items() if much > 0)) for item, who, value in rows]
    numeric = scale if scale.level in ("interval", "ratio", "ordinal") else replace(scale, level="interval")
    return [
        (f"{slot}: labels", ratings(labels), replace(scale, level="masi", weights=None)),
        *((f"{slot}: {label}", data, numeric) for label, data in split_intensities(rows).items()),
    ]


def _ratings(given: Sequence[Answer], asked: Asked, slot: str) -> Ratings:
    declared = asked.values.get(slot, asked.values.get(""))
    if any(isinstance(one.value, tuple) for one in given):
        declared = None
    return ratings(((one.item, one.annotator, one.value) for one in given if one.counts), declared)


def overview(found: Sequence[SlotAgreement]) -> Table:
    """One row for each slot: what was compared, and the coefficients every paper gives."""
    rows: list[tuple[Cell, ...]] = []
    for one in found:
        figures = {figure.name: figure for figure in one.figures}
        kappa = figures.get("cohen_kappa") or figures.get("mean_pairwise_kappa")
        alpha = next((figure for name, figure in figures.items() if name.startswith("alpha_")), None)
        rows.append(
            (one.slot, one.level, len(one.ratings.raters), one.ratings.paired_units, one.figures[0], kappa, alpha)
        )
    columns = ("slot", "level", "annotators", "items compared", "agreement", "Cohen's κ", "Krippendorff's α")
    note = "κ of two annotators; for more the mean over pairs. Items with one answer are not compared."
    return Table("agreement", "Agreement by slot", columns, tuple(rows), note)


def figures_table(found: SlotAgreement) -> Table:
    """The coefficients of a slot with what they rest on."""
    rows = tuple((_named(one), one, one.n, one.clusters, one.reason.replace("_", " ")) for one in found.figures)
    note = "n counts answers; for κ of two annotators, items that both answered, summed over pairs."
    return Table(
        "figures", "Coefficients", ("figure", "value", "n", "items", "no figure or interval because"), rows, note
    )


def _named(one: Estimate) -> str:
    name = NAMES[one.name]
    return name[:1].upper() + name[1:]


def scores_of(found: SlotAgreement) -> Scores:
    """Agreement on a slot as a score sheet, which every report can show."""
    notes = [methods_sentence(found), *found.notes]
    reasons = dict.fromkeys(one.reason for one in found.figures if one.reason in REASONS)
    notes += [f"{reason}: {REASONS[reason]}." for reason in reasons]
    share = max((one.times for one in found.categories), default=0) / max(len(found.ratings), 1)
    kappa = next((one.value for one in found.figures if "kappa" in one.name and one.value is not None), None)
    if share > 0.8 and kappa is not None and kappa < 0.4:
        notes.append(
            f"One value makes up {100 * share:.0f} % of the answers, which pulls kappa down whatever the annotators do "
            "(the kappa paradox): read the raw agreement and AC1 beside it."
        )
    return Scores(
        headline=found.figures,
        tables=tuple(table for table in (_given(found), _categories(found), _pairs(found), _confused(found)) if table),
        matrices=tuple(
            Matrix(
                f"confusion_{one.rater_a}_{one.rater_b}",
                f"{one.rater_a} against {one.rater_b}",
                one.rater_a,
                one.rater_b,
                tuple(map(value_name, one.values)),
                tuple(map(value_name, one.values)),
                tuple(tuple(float(count) for count in row) for row in one.counts),
            )
            for one in found.confusions
        ),
        notes=tuple(notes),
    )


def value_name(value: Any) -> str:
    """A value as a table shows it."""
    if isinstance(value, frozenset):
        return ", ".join(sorted(map(str, value))) or "(none)"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _given(found: SlotAgreement) -> Table | None:
    if (given := found.upstream) is None:
        return None
    whole = {one.name: one for one in found.figures}
    rows = tuple((_named(one), whole.get(one.name), one) for one in given.figures)
    note = f"{given.kept} of {given.n} items with two annotators on both slots are agreed on in {given.slot}."
    if given.without:
        note += f" {given.without} answers are left out: their annotator did not answer {given.slot}."
    columns = ("figure", "all items", f"items agreed on in {given.slot}")
    return Table("given_upstream", f"Given agreement on {given.slot}", columns, rows, note)


def _categories(found: SlotAgreement) -> Table | None:
    if not found.categories:
        return None
    rows = tuple((value_name(one.value), one.times, one.kappa) for one in found.categories)
    name = "alpha of in or not" if found.level in ("jaccard", "masi") else "κ against the rest"
    return Table("by_value", "By value", ("value", "times given", name), rows)


def _pairs(found: SlotAgreement) -> Table | None:
    pairs = found.pairs
    if pairs is None or len(pairs.n) < 2:
        return None
    rows: list[tuple[Cell, ...]] = []
    for pair, n in list(pairs.n.items())[:_PAIRS_SHOWN]:
        reason = pairs.undefined.get(pair, "too few items in common" if pair in pairs.too_few else "")
        rows.append((*pair, n, Estimate("kappa", pairs.defined.get(pair), reason=reason, unit="number")))
    more = len(pairs.n) - _PAIRS_SHOWN
    note = f"{more} more pairs are in the JSON output." if more > 0 else ""
    return Table("pairs", "Cohen's κ by pair", ("annotator", "and", "items", "κ"), tuple(rows), note)


def _confused(found: SlotAgreement) -> Table | None:
    counted: Counter[tuple[Any, Any]] = Counter()
    for one in found.confusions:
        for a, b, n in one.most_confused(100):
            counted[a, b] += n
    if not counted:
        return None
    rows = tuple((value_name(a), value_name(b), n) for (a, b), n in counted.most_common(10))
    lean = [one for one in found.confusions if one.bowker_p is not None and one.bowker_p < 0.05]
    note = "; ".join(
        f"{one.rater_a} and {one.rater_b} lean different ways (Bowker's test of symmetry, p = {one.bowker_p:.2g})"
        for one in lean
    )
    return Table("confused", "Most confused", ("value", "with", "times"), rows, note)
