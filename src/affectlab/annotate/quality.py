"""One annotator's work in figures, with flags for people to read. Nothing here rejects anybody. Pure.

Reading speeds are generous upper bounds: 500 Chinese characters or 400 words a minute; both are settings of
:class:`Limits`. The robust z of a time is Iglewicz and Hoaglin's (1993, How to Detect and Handle Outliers), on the
logarithm of seconds.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from affectlab.annotate.adjudicate import canonical
from affectlab.annotate.consistency import REPEATED, Counted, Others, Pair, by_partner, counted, kappas
from affectlab.annotate.design import Design
from affectlab.annotate.slots import ONE_OF
from affectlab.annotate.stages import mark
from affectlab.stats.estimate import Estimate

_CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


@dataclass(frozen=True)
class Limits:
    """From where on something is flagged.

    Attributes:
        cjk_a_minute: Fastest reading of Chinese and Japanese, in characters.
        words_a_minute: Fastest reading of other scripts, in words.
        fewest: Answers below which times and patterns say nothing.
        burst: So many answers …
        burst_seconds: … within so many seconds.
        run: Equal ratings in a row on one item that count as straight-lining.
        attention: Share of attention slots that must be right.
        far: Robust z below which a time is far from the person's own; 3.5 is usual.
        hurried: Share of answers that far below which nothing is flagged: a few quick answers are nothing.
        shortest_typing: Characters of typing below which its rhythm says nothing.
    """

    cjk_a_minute: float = 500
    words_a_minute: float = 400
    fewest: int = 10
    burst: int = 5
    burst_seconds: float = 15
    run: int = 12
    attention: float = 0.75
    far: float = 3.5
    hurried: float = 0.05
    shortest_typing: int = 80


USUAL = Limits()


@dataclass(frozen=True)
class Work:
    """One answer with what is needed to judge how it came about.

    Attributes:
        item: Id of the item.
        kind: ``work``, ``attention`` or ``repeat``.
        text: What had to be read.
        values: Answers by slot.
        skipped: Reason for leaving it out; empty when answered.
        at: When it arrived.
        active_ms: Time at it, by the page.
        expected: Right answers, for attention items.
        of: The item a repeat repeats.
        typing: Rhythm of typing, where recorded.
        options: Ids of the options this item offers, as shown, of slots whose options depend on the item.
    """

    item: str
    kind: str
    text: str
    values: Mapping[str, Any]
    skipped: str
    at: float
    active_ms: int | None = None
    expected: Mapping[str, Any] | None = None
    of: str = ""
    typing: Sequence[Sequence[Any]] | None = None
    options: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Flag:
    """Something a person should look at, with the values it rests on."""

    name: str
    evidence: str


@dataclass(frozen=True)
class Sheet:
    """One annotator's figures.

    Attributes:
        answered: Items answered, attention items and repeats aside.
        skipped: Items left out, the same aside.
        median_seconds: Time an item; ``None`` when none was measured.
        attention: Attention slots that are right.
        repeats: Answers to repeated items that are what they were.
        with_others: Answers that are those of another person, over all others.
        own_kappa: Kappa of repeated items, by slot.
        kappa: Mean kappa with each other person, by slot.
        entropy: Of the answers, in bits, by slot.
        typing: What the rhythm of typing comes to, in words.
        flags: What somebody should look at.
    """

    answered: int
    skipped: int
    median_seconds: float | None
    attention: Counted
    repeats: Counted
    with_others: Counted
    own_kappa: Mapping[str, Estimate]
    kappa: Mapping[str, Estimate]
    entropy: Mapping[str, float]
    typing: str
    flags: tuple[Flag, ...] = field(default=())


def sheet(design: Design, works: Sequence[Work], others: Others, limits: Limits = USUAL) -> Sheet:
    """Figures of one annotator.

    Args:
        design: The study.
        works: His or her newest answers, in the order they arrived.
        others: What other people answered.
        limits: From where on something is flagged.
    """
    real = [one for one in works if one.kind == "work" and not one.skipped]
    times = [one.active_ms / 1000 for one in works if one.active_ms is not None and not one.skipped]
    attention = _attention(works)
    again = _repeats(works)
    partners = by_partner({one.item: one.values for one in real}, others)
    return Sheet(
        answered=len(real),
        skipped=sum(bool(one.skipped) for one in works if one.kind == "work"),
        median_seconds=median(times) if times else None,
        attention=attention,
        repeats=counted(design, again, REPEATED),
        with_others=counted(design, [pair for pairs in partners for pair in pairs]),
        own_kappa=kappas(design, [again]),
        kappa=kappas(design, partners),
        entropy={slot.id: _entropy(slot.id, real) for slot in design.slots if slot.kind in ONE_OF | {"scale"}},
        typing=_typing(works, limits),
        flags=(
            *_too_fast(works, limits),
            *_hurried(works, limits),
            *_burst(works, limits),
            *_straight(design, real, limits),
            *_pattern(design, real, limits),
            *_inattentive(attention, limits),
        ),
    )


def sheet_rows(found: Sheet) -> list[tuple[str, str]]:
    """A sheet as names and texts, for the terminal and the page alike."""
    seconds = "–" if found.median_seconds is None else f"{found.median_seconds:.1f} s"
    return [
        ("answered", str(found.answered)),
        ("left out", _left_out(found)),
        ("median time an item", seconds),
        ("attention", str(found.attention)),
        ("same answer to a repeated item", str(found.repeats)),
        *((f"κ with oneself, {slot}", _shown(kappa)) for slot, kappa in found.own_kappa.items()),
        ("same answer as others", str(found.with_others)),
        *((f"mean κ with others, {slot}", _shown(kappa)) for slot, kappa in found.kappa.items()),
        *((f"entropy of {slot}", f"{value:.2f} bit") for slot, value in found.entropy.items()),
        ("typing", found.typing),
    ]


def _left_out(found: Sheet) -> str:
    seen = found.answered + found.skipped
    return f"{found.skipped} of {seen} ({found.skipped / seen:.0%})" if seen else "–"


def _shown(kappa: Estimate) -> str:
    value = f"– ({kappa.reason.replace('_', ' ')})" if kappa.value is None else f"{kappa.value:.2f}".replace("-", "−")
    return f"{value}, {kappa.n} pairs of answers"


def reading_seconds(text: str, limits: Limits) -> float:
    """Least time in which a text can have been read."""
    rest = _CJK.sub(" ", text)
    return 60 * (len(_CJK.findall(text)) / limits.cjk_a_minute + len(_WORD.findall(rest)) / limits.words_a_minute)


def _too_fast(works: Sequence[Work], limits: Limits) -> list[Flag]:
    timed = [one for one in works if one.active_ms is not None and not one.skipped]
    fast = [one for one in timed if (one.active_ms or 0) / 1000 < reading_seconds(one.text, limits)]
    if len(timed) < limits.fewest or 10 * len(fast) < len(timed):
        return []
    first = fast[0]
    return [
        Flag(
            "too_fast",
            f"{len(fast)} of {len(timed)} answers came faster than the text can be read; {first.item}: "
            f"{(first.active_ms or 0) / 1000:.1f} s, reading takes {reading_seconds(first.text, limits):.1f} s",
        )
    ]


def _hurried(works: Sequence[Work], limits: Limits) -> list[Flag]:
    """Times far below the person's own, whatever the text."""
    timed = [one for one in works if one.active_ms and not one.skipped]
    if len(timed) < limits.fewest:
        return []
    logs = [math.log(one.active_ms or 1) for one in timed]
    middle = median(logs)
    spread = median(abs(log - middle) for log in logs)
    if not spread:
        return []
    z = [0.6745 * (log - middle) / spread for log in logs]  # 0.6745: the spread of a normal variable of variance 1
    far = [place for place, value in enumerate(z) if value < -limits.far]
    if not far or len(far) < limits.hurried * len(timed):
        return []
    first = min(far, key=lambda place: z[place])
    return [
        Flag(
            "hurried",
            f"{len(far)} of {len(timed)} answers took far less time than usual for this person; {timed[first].item}: "
            f"{(timed[first].active_ms or 0) / 1000:.1f} s, usually {math.exp(middle) / 1000:.1f} s "
            f"(robust z {z[first]:.1f})",
        )
    ]


def _burst(works: Sequence[Work], limits: Limits) -> list[Flag]:
    times = sorted(one.at for one in works)
    spans = [times[i + limits.burst - 1] - times[i] for i in range(len(times) - limits.burst + 1)]
    close = [span for span in spans if span <= limits.burst_seconds]
    return [Flag("burst", f"{limits.burst} answers within {min(close):.0f} s, {len(close)} times")] if close else []


def _straight(design: Design, works: Sequence[Work], limits: Limits) -> list[Flag]:
    scales = [slot.id for slot in design.slots if slot.kind == "scale"]
    if len(scales) < limits.run:
        return []
    straight = [one.item for one in works if _longest_run([one.values.get(slot) for slot in scales]) >= limits.run]
    if not straight:
        return []
    return [
        Flag("straight_lining", f"{limits.run} or more equal ratings in a row on {len(straight)} items: {straight[0]}")
    ]


def _pattern(design: Design, works: Sequence[Work], limits: Limits) -> list[Flag]:
    """Places of the chosen options, as shown, over items: the same for long, or going round (1-2-3-1-2-3)."""
    flags = []
    for slot in design.slots:
        if slot.kind not in ONE_OF:
            continue
        usual = [option.id for option in slot.options]
        offered = [(one.options.get(slot.id, usual), one.values.get(slot.id)) for one in works]
        chosen = [list(ids).index(str(value)) for ids, value in offered if value in ids]
        if len(chosen) < limits.fewest:
            continue
        run = _longest_run(chosen)
        if max(len(ids) for ids, _ in offered) > 2 and run >= limits.fewest:
            flags.append(Flag("pattern", f"{slot.id}: the option in the same place {run} times in a row"))
        period = next((p for p in (2, 3, 4) if _goes_round(chosen, p, limits.fewest)), 0)
        if period:
            flags.append(
                Flag("pattern", f"{slot.id}: options go round with period {period} over {limits.fewest} answers")
            )
    return flags


def _inattentive(found: Counted, limits: Limits) -> list[Flag]:
    if not found.asked or found.share >= limits.attention:
        return []
    return [Flag("attention", f"attention answers right: {found}")]


def _attention(works: Sequence[Work]) -> Counted:
    marked = [mark(one.expected, one.values) for one in works if one.kind == "attention" and one.expected]
    right = sum(len(one.right) for one in marked)
    return Counted(right, right + sum(len(one.wrong) for one in marked), len(marked))


def _repeats(works: Sequence[Work]) -> list[Pair]:
    """Repeated items with the values of both times."""
    first = {one.item: one.values for one in works if one.kind == "work" and not one.skipped}
    return [
        (one.of, first[one.of], one.values)
        for one in works
        if one.kind == "repeat" and one.of in first and not one.skipped
    ]


def _entropy(slot: str, works: Sequence[Work]) -> float:
    """Entropy of the answers in bits: 0 when they are all the same."""
    counts = Counter(canonical(one.values[slot]) for one in works if slot in one.values)
    total = sum(counts.values())
    return sum(-n / total * math.log2(n / total) for n in counts.values()) + 0.0


def _typing(works: Sequence[Work], limits: Limits) -> str:
    """What the rhythm of typing comes to, in words."""
    logs = [one.typing for one in works if one.typing]
    if not logs:
        return "not recorded"
    typed = sum(max(0, row[2]) for log in logs for row in log if row[0] == "insert")
    pasted = sum(max(0, row[2]) for log in logs for row in log if row[0] == "paste")
    if typed + pasted < limits.shortest_typing:
        return "not enough data"
    return f"{typed} characters typed, {pasted} pasted"


def _longest_run(values: Sequence[Any]) -> int:
    longest = run = 0
    before = object()
    for value in values:
        run = run + 1 if value == before and value is not None else 1
        longest, before = max(longest, run), value
    return longest


def _goes_round(chosen: Sequence[int], period: int, length: int) -> bool:
    run = period
    for place in range(period, len(chosen)):
        run = run + 1 if chosen[place] == chosen[place - period] else period
        if run >= length and len(set(chosen[place - period + 1 : place + 1])) == period:
            return True
    return False
