"""Carry out model-assisted annotation in a folder: two runs, an adjudicator's run, and what people said.

The folder holds a run folder for each model (``model-a``, ``model-b``, ``adjudicator``) with every raw reply, and what
is made of them: ``answers.jsonl`` (labels of models and people in long form),
``routes.jsonl`` (all that is known of each slot), ``people.csv`` (what people are asked, without the models' labels),
``people.jsonl`` (all that people answered; this cannot be made again), ``people-replaced.jsonl`` (what they answered
before and then changed), ``gold.jsonl`` and ``friction.json``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from affectlab.annotate.answers import Answer, json_lines
from affectlab.annotate.assist.adjudicator import ADJUDICATION, question_id, to_item, votes_of
from affectlab.annotate.assist.routing import Audit, Case
from affectlab.annotate.exchange.gold import Settled, settle
from affectlab.benchmarks.base import Asking
from affectlab.errors import UserError, did_you_mean
from affectlab.items import Gold, Item
from affectlab.labels import LabelSpace
from affectlab.models.base import ModelCard
from affectlab.runs import Plan, RunFolder
from affectlab.runs.manifest import items_digest

MODELS = ("model-a", "model-b")
ADJUDICATOR = "adjudicator"


@dataclass(frozen=True)
class Study:
    """What is labelled, how, and where.

    Attributes:
        plan: What both models are asked; its items hold no gold, which annotators must not see.
        slots: The slots to label; all that the protocol predicts and that have labels when empty.
        audit: Which of them people see whatever models say.
        folder: Where everything is kept.
    """

    plan: Plan
    slots: tuple[str, ...]
    audit: Audit
    folder: Path

    def run_folder(self, name: str) -> RunFolder:
        """The run folder of a model (one of :data:`MODELS`) or of the adjudicator."""
        return RunFolder.at(self.folder / name)

    def labels(self, slot: str) -> bool:
        """Whether a slot is labelled here."""
        return slot in self.slots if self.slots else self.space(slot) is not None

    def space(self, slot: str) -> LabelSpace | None:
        """Labels of a slot."""
        return self.plan.benchmark.slots.get(slot)


def make_study(plan: Plan, folder: Path, audit: Audit | None = None, slots: Sequence[str] = ()) -> Study:
    """A study on the items of a plan, from which gold is taken away.

    Args:
        plan: A benchmark's, with its protocol and data.
        folder: Where to keep everything.
        audit: Which slots people see; a tenth when ``None``.
        slots: Which slots to label; all with a label space when empty.

    Raises:
        UserError: When there is no such slot, or items cannot be asked about without their gold.
    """
    if plan.asking.order == "all":
        raise UserError("Annotation asks each item once: choose --order rotate or fixed.")
    known = plan.benchmark.slots
    if unknown := [slot for slot in slots if slot not in known]:
        raise UserError(f"{plan.benchmark.name} has no slot {unknown[0]!r}; it has {', '.join(known)}.")
    bare = replace(plan, items=tuple(_without_gold(plan, item) for item in plan.items))
    for item in bare.items:
        bare.protocol.requests(item, bare.asking, {})
    return Study(bare, tuple(slots), audit or Audit(), folder)


def _without_gold(plan: Plan, item: Item) -> Item:
    inputs = dict(item.inputs)
    if plan.benchmark.name == "chiaro" and item.gold and not inputs.keys() & {"polarity_A", "polarity_B"}:
        from affectlab.benchmarks.chiaro.protocols import polarity

        # Whose feeling is good decides which labels are offered; annotators are told so too.
        inputs["polarity_A"] = polarity(item, "A")
    return replace(item, inputs=inputs, gold={})


def check_cards(a: ModelCard, b: ModelCard, adjudicator: ModelCard | None = None) -> list[str]:
    """Notes on who judges whom.

    Raises:
        UserError: When the two models are one: its agreement with itself would say nothing.
    """
    if _same(a, b):
        raise UserError(f"Both models are {a.spec}; two different ones are needed, or their agreement says nothing.")
    if adjudicator is None or not (_same(adjudicator, a) or _same(adjudicator, b)):
        return []
    note = (
        f"The adjudicator {adjudicator.spec} is one of the two models and votes on its own labels. Models prefer their "
        "own: take another one, or read its accepted labels with the audit beside them."
    )
    return [note]


def _same(one: ModelCard, other: ModelCard) -> bool:
    return (one.spec, one.identity) == (other.spec, other.identity)


def read_cases(study: Study) -> list[Case]:
    """Every slot with the labels of both models, in item order; an unreadable reply is no label.

    Raises:
        UserError: When a run is missing or broken, or a slot was never predicted.
    """
    labels = [_labels(study, name) for name in MODELS]
    predicted = {slot for found in labels for _, slot in found}
    if absent := [slot for slot in study.slots if slot not in predicted]:
        raise UserError(f"Protocol {study.plan.protocol.name} predicts no {', '.join(absent)}.")
    slots = [slot for slot in study.plan.benchmark.slots if slot in predicted]
    if not slots:
        raise UserError(f"Protocol {study.plan.protocol.name} predicts no slot that has labels.")
    return [
        Case(
            item=item.id,
            slot=slot,
            cluster=item.cluster,
            a=labels[0].get((item.id, slot)),
            b=labels[1].get((item.id, slot)),
            audited=study.audit.drawn(item.id, slot),
            strata=item.slices,
        )
        for item in study.plan.items
        for slot in slots
    ]


def _labels(study: Study, name: str) -> dict[tuple[str, str], Gold | None]:
    read = study.plan.read(study.run_folder(name).answers().by_cell)
    return {
        (row.item, row.slot): as_label(row.value, study.space(row.slot)) if row.outcome == "ok" else None
        for row in read.predictions
        if study.labels(row.slot)
    }


def as_label(value: Any, space: LabelSpace | None) -> Gold:
    """A label as an id, a level as a number, a set in declared order: what people and models are compared as.

    Raises:
        UserError: When it is not in the label space.
    """
    if isinstance(value, list | tuple):
        found = [as_label(one, space) for one in value]
        order = space.ids if space is not None else tuple(dict.fromkeys(map(str, found)))
        return tuple(one for one in order if one in found)
    if isinstance(value, Mapping):
        return {str(as_label(name, space)): float(much) for name, much in value.items()}
    if space is None:
        return value if isinstance(value, str) else float(value)
    levels = {label.level: label for label in space if label.level is not None}
    if levels:
        text = str(value).strip()
        number = float(text) if text.replace(".", "", 1).isdigit() else None
        named = None if number is not None else space.resolve(text)
        level = number if number in levels else None if named is None else space[named].level
        if level is not None:
            return float(level)
    elif (label := space.resolve(str(value))) is not None:
        return label
    near = did_you_mean(map(repr, space.nearest(str(value))))
    raise UserError(f"{value!r} is no label of {space.name}{near or '.'}")


def questions(study: Study, cases: Sequence[Case]) -> Plan | None:
    """What the adjudicator is asked: every slot on which the models differ; ``None`` when there is none."""
    items = {item.id: item for item in study.plan.items}
    made: list[Item] = []
    for case in cases:
        if case.disagreed and case.a is not None and case.b is not None:
            item, space = items[case.item], study.space(case.slot)
            task = _task(study.plan, item, case.slot)
            made.append(to_item(item, case.slot, len(made), task, (case.a, case.b), space))
    if not made:
        return None
    return Plan(
        benchmark=ADJUDICATION,
        protocol=ADJUDICATION.protocols["both-orders"],
        items=tuple(made),
        source=f"disagreements of {study.folder}",
        data_sha256=items_digest(made),
        asking=Asking(seed=study.plan.asking.seed),
    )


def _task(plan: Plan, item: Item, slot: str) -> str:
    """What a model was asked about a slot, as text."""
    requests = plan.protocol.requests(item, plan.asking, {})
    request = next((one for one in requests if one.step == slot), requests[0])
    return "\n\n".join(message.content for message in request.messages)


def with_votes(study: Study, cases: Sequence[Case]) -> list[Case]:
    """Cases with the adjudicator's votes, where it has given both."""
    folder, plan = study.run_folder(ADJUDICATOR), questions(study, cases)
    if plan is None or not folder.exists():
        return list(cases)
    votes = votes_of(plan.read(folder.answers().by_cell).predictions)
    return [
        replace(case, votes=votes.get(question_id(case.item, case.slot))) if case.disagreed else case for case in cases
    ]


def with_people(cases: Sequence[Case], answers: Sequence[Answer]) -> list[Case]:
    """Cases with people's labels: what all, or a strict majority, of them say. Where they differ the slot waits."""
    said = {(one.item, one.slot): one for one in settle(answers, annotators=1, majority=True)}
    return [
        replace(case, human=found.value, split=found.open) if (found := said.get((case.item, case.slot))) else case
        for case in cases
    ]


def gold_of(study: Study, cases: Sequence[Case], people: Sequence[Answer]) -> list[Settled]:
    """The gold of every slot and where it is from; what waits for people is pending.

    Args:
        study: The study.
        cases: As they stand.
        people: The answers in them, as :func:`fitting` gives them.
    """
    by_people = {(one.item, one.slot): one for one in settle(people, annotators=1, majority=True)}
    judge = _name(study, ADJUDICATOR)
    gold = []
    for case in cases:
        key = case.item, case.slot
        if case.outcome == "people":
            gold.append(by_people[key])
        elif case.outcome == "waiting":
            asked = by_people[key].answers if key in by_people else 0
            gold.append(Settled(*key, None, "pending", asked, 0))
        elif case.outcome == "model-agreed":
            gold.append(Settled(*key, case.label, "model-agreed", 2, 2))
        else:
            gold.append(Settled(*key, case.label, "model-adjudicated", 2, 1, judge))
    return gold


def model_answers(study: Study, cases: Sequence[Case]) -> list[Answer]:
    """The models' labels in long form; a reply without one is invalid."""
    names = [_name(study, name) for name in MODELS]
    if names[0] == names[1]:
        names = [f"{name} ({place})" for name, place in zip(names, "ab", strict=True)]
    return [
        Answer(case.item, name, value, case.slot, "model", "submitted" if value is not None else "invalid")
        for case in cases
        for name, value in zip(names, (case.a, case.b), strict=True)
    ]


def _name(study: Study, run: str) -> str:
    folder = study.run_folder(run)
    return str(folder.manifest()["model"]["name"]) if folder.exists() else run


def routes_jsonl(cases: Sequence[Case]) -> str:
    """All that is known of each slot, one a line."""
    rows: list[dict[str, Any]] = [
        {
            "item": case.item,
            "slot": case.slot,
            "a": case.a,
            "b": case.b,
            "audited": case.audited,
            "votes": None if case.votes is None else [case.votes.forward, case.votes.backward],
            "verdict": case.verdict,
            "human": case.human,
            "why_people": case.why_people,
            "outcome": case.outcome,
            "label": case.label,
        }
        for case in cases
    ]
    return json_lines(rows)
