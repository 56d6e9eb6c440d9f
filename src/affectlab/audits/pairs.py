"""Runs of one model that were asked in different ways, side by side on what both were asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from affectlab.audits.pools import asked_of
from affectlab.audits.runs import model_of
from affectlab.benchmarks.decisions.measures import Choices, drifts_of
from affectlab.benchmarks.decisions.reasoning import difference_table, with_and_without
from affectlab.benchmarks.decisions.states import induced_states
from affectlab.metrics.predictions import Prediction
from affectlab.metrics.scores import Table
from affectlab.runs import ScoredRun
from affectlab.stats.bootstrap import Interval
from affectlab.stats.proportion import proportion

REASONED = ("cot", "thinking")
SCORED = {"choice", "likelihood"}
"""Two ways of asking that should end in the same option."""


@dataclass(frozen=True)
class Pair:
    """Two runs of one model.

    Attributes:
        one: Name of the first; the one that reasons, where one does.
        other: Name of the second.
        items: Items that both were asked, in the order of the first.
        conditions: Conditions of both, neutral among them.
    """

    one: str
    other: str
    items: tuple[str, ...]
    conditions: tuple[str, ...]

    @property
    def emotions(self) -> bool:
        """Whether both have an emotion vector in common."""
        return any(state.kind == "emotion" for state in induced_states(self.conditions))


def pairs_of(runs: Mapping[str, ScoredRun]) -> Iterator[Pair]:
    """Every two runs of one model by two protocols, whatever they have in common.

    A model is known by what it is (name, digest, server, type of its weights), not by its name alone.
    """
    names = list(runs)
    for place, first in enumerate(names):
        for second in names[place + 1 :]:
            protocols = [runs[name].plan.protocol.name for name in (first, second)]
            if protocols[0] == protocols[1] or model_of(runs[first].manifest) != model_of(runs[second].manifest):
                continue
            one, other = (second, first) if protocols[1] in REASONED else (first, second)
            theirs = {item.id: asked_of(item) for item in runs[other].plan.items}
            items = tuple(item.id for item in runs[one].plan.items if theirs.get(item.id) == asked_of(item))
            conditions = tuple(name for name in runs[one].plan.conditions if name in runs[other].plan.conditions)
            yield Pair(one, other, items, conditions)


def compared(
    runs: Mapping[str, ScoredRun], choices: Mapping[str, Choices], pair: Pair, interval: Interval
) -> tuple[tuple[Table, ...], str]:
    """The tables of a pair, and what is to be said of it: on how much it rests, or why there is none."""
    names = f"{pair.one} against {pair.other}"
    protocols = {runs[name].plan.protocol.name for name in (pair.one, pair.other)}
    if not pair.items:
        return (), f"{names}: not compared, as they were asked no item in common."
    basis = (
        f"{names}: compared on {_share(len(pair.items), runs, pair, 'items')} and "
        f"{_share(len(pair.conditions), runs, pair, 'conditions')}."
    )
    if protocols == SCORED:
        return (agreement_table(runs, pair),), basis
    if runs[pair.one].plan.protocol.name in REASONED:
        if not pair.emotions:
            return (), f"{names}: not compared, as they have no emotion vector of one strength in common."
        first, second = (drifts_of(cut(choices[name], pair)) for name in (pair.one, pair.other))
        if not (first.items and second.items):
            return (), f"{names}: not compared, as no item of both can move."
        return (difference_table({f: with_and_without(first, second, interval, f) for f in ("ndm", "nad")}),), basis
    return (), f"{names}: not compared, as there is no comparison of {' and '.join(sorted(protocols))}."


def _share(common: int, runs: Mapping[str, ScoredRun], pair: Pair, what: str) -> str:
    """``all 12 items``, or ``the 9 items that both have (of 18 and 9)``."""
    of = [len(getattr(runs[name].plan, what)) for name in (pair.one, pair.other)]
    if of == [common, common]:
        return f"all {common} {what}"
    return f"the {common} {what} that both have (of {of[0]} and {of[1]})"


def cut(choices: Choices, pair: Pair) -> Choices:
    """The answers to the items and under the conditions of a pair."""
    kept = [place for place, item in enumerate(choices.items) if item in set(pair.items)]
    code = np.full(len(choices.items), -1, dtype=np.int64)
    code[kept] = np.arange(len(kept))
    rows = np.flatnonzero(code[choices.item] >= 0)
    conditions = tuple(name for name in pair.conditions if name in choices.conditions)
    columns = [choices.conditions.index(name) for name in conditions]
    return replace(
        choices,
        conditions=conditions,
        item=code[choices.item[rows]],
        repeat=choices.repeat[rows],
        asked=choices.asked[rows],
        keys=tuple(choices.keys[row] for row in rows),
        response=choices.response[rows][:, columns],
        items=tuple(choices.items[place] for place in kept),
        clusters=tuple(choices.clusters[place] for place in kept),
        roles=tuple(choices.roles[place] for place in kept),
        no_range=0,
    )


def agreement_table(runs: Mapping[str, ScoredRun], pair: Pair) -> Table:
    """How often two ways of asking the same question end in the same option."""
    items, conditions = set(pair.items), set(pair.conditions)
    answers = [_answers(runs[name].predictions, items) for name in (pair.one, pair.other)]
    rows = []
    for condition in [name for name in runs[pair.one].plan.conditions if name in conditions]:
        keys = [{key for key in one if key[0] == condition} for one in answers]
        read = [key for key in keys[0] & keys[1] if answers[0][key] is not None and answers[1][key] is not None]
        same = sum(answers[0][key] == answers[1][key] for key in read)
        rows.append(
            (condition, proportion(same, len(read), name="agreement"), len(read), len(keys[0] | keys[1]) - len(read))
        )
    title = "Likelihood against generation: the same option"
    return Table(
        "agreement",
        title,
        ("condition", "agreement", "both read", "not both read"),
        tuple(rows),
        "Share of questions with an answer both ways whose option is the same, with Wilson's interval.",
    )


def _answers(predictions: Sequence[Prediction], items: set[str]) -> dict[tuple[Any, ...], Any]:
    return {(row.condition, row.item, row.variant, row.repeat): row.value for row in predictions if row.item in items}


def unlike(runs: Mapping[str, ScoredRun]) -> Iterator[str]:
    """Why figures of runs that stand side by side are not of the same questions."""
    asked: dict[str, list[str]] = {}
    for name, run in runs.items():
        states = [state for state in induced_states(run.plan.conditions) if state.kind == "emotion"]
        emotions, doses = {state.emotion for state in states}, {state.dose for state in states}
        what = (
            f"{len(run.plan.items)} items, {len(run.plan.conditions)} conditions, {len(emotions)} emotions, strengths "
            f"{', '.join(sorted(doses)) or 'none'}"
        )
        key = f"{what}|{sorted(run.plan.conditions)}|{[(item.id, asked_of(item)) for item in run.plan.items]}"
        asked.setdefault(key, []).append(f"{name} ({what})")
    if len(asked) > 1:
        yield (
            "These runs were not asked the same items and conditions, so their means are not of the same questions: "
            f"{'; '.join(name for names in asked.values() for name in names)}."
        )
    named: dict[str, dict[str, list[str]]] = {}
    for name, run in runs.items():
        named.setdefault(run.manifest["model"]["name"], {}).setdefault(model_of(run.manifest), []).append(name)
    for model, apart in named.items():
        if len(apart) > 1:
            yield f"Different models are named {model}: {' / '.join(', '.join(names) for names in apart.values())}."
    found: dict[str, tuple[str, Any]] = {}
    other: dict[tuple[str, str], int] = {}
    for name, run in runs.items():
        for item in run.plan.items:
            where, earlier = found.setdefault(item.id, (name, asked_of(item)))
            if earlier != asked_of(item):
                other[where, name] = other.get((where, name), 0) + 1
    for (where, name), count in other.items():
        yield f"{count} ids stand for one item in {where} and for another in {name}."
