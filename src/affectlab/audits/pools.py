"""Answers of several runs put together for item response: whose they are, to which items, enough of them or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from affectlab.audits.runs import model_of
from affectlab.benchmarks.decisions.record import ys
from affectlab.errors import UserError
from affectlab.games import ROLES
from affectlab.items import Item
from affectlab.runs import ScoredRun

FEWEST_MODELS = 3
"""Respondents below which a role is not fitted."""


@dataclass(frozen=True)
class Pool:
    """Neutral answers to one role's items.

    Attributes:
        role: Of the game.
        rows: Model, item, category; a model's repeats are rows of their own.
        categories: How many each item has; category 0 is the least of the focal behaviour.
        silent: Items without an answer.
    """

    role: str
    rows: list[tuple[str, str, int]]
    categories: dict[str, int]
    silent: tuple[str, ...]


def respondents(runs: Sequence[ScoredRun]) -> list[str]:
    """Name of each run's model; models of one name are told apart by their folders.

    Raises:
        UserError: When two runs of one model are not one respondent: asked in two ways, or the same answers once more.
    """
    names: dict[str, str] = {}
    for place, run in enumerate(runs):
        key, name = model_of(run.manifest), str(run.manifest["model"]["name"])
        for earlier in runs[:place]:
            if model_of(earlier.manifest) == key and (problem := _no_repeats(earlier, run)):
                raise UserError(
                    f"{earlier.folder.path} and {run.folder.path} are both runs of {name}, {problem}. A model is one "
                    "respondent: name one of them."
                )
        names.setdefault(key, f"{name} ({run.folder.path})" if name in names.values() else name)
    return [names[model_of(run.manifest)] for run in runs]


def _no_repeats(one: ScoredRun, other: ScoredRun) -> str:
    """Why two runs of one model cannot be counted together; empty when they can."""
    protocols, asked = (one.plan.protocol.name, other.plan.protocol.name), (one.plan.asking, other.plan.asking)
    if protocols[0] != protocols[1]:
        return f"asked by {protocols[0]} and by {protocols[1]}"
    if not {item.id for item in one.plan.items} & {item.id for item in other.plan.items}:
        return ""
    if asked[0].temperature != asked[1].temperature:
        return f"at temperatures {asked[0].temperature:g} and {asked[1].temperature:g}"
    if not asked[0].temperature:
        return "on the same items without sampling"
    # Two draws with one seed may be one draw.
    return "on the same items with the same seed" if asked[0].seed == asked[1].seed else ""


def items_of(runs: Sequence[ScoredRun]) -> Mapping[str, Item]:
    """Items of all runs by id.

    Raises:
        UserError: When an id stands for different items.
    """
    found: dict[str, tuple[Item, ScoredRun]] = {}
    for run in runs:
        for item in run.plan.items:
            earlier, where = found.setdefault(item.id, (item, run))
            if asked_of(earlier) != asked_of(item):
                raise UserError(
                    f"Item {item.id} of {where.folder.path} is another than item {item.id} of {run.folder.path}: "
                    "answers to different questions are no answers to one item."
                )
    return {name: item for name, (item, _) in found.items()}


def asked_of(item: Item) -> tuple[object, ...]:
    """What makes two items of one id the same item."""
    inputs = dict(item.inputs)
    if image := inputs.pop("image", ""):  # a folder that moved is no other item
        inputs["image"] = Path(image).name
    return inputs, dict(item.slices)


def content_of(item: Item) -> str:
    """What an item is about: the occupation in it, or where it is from."""
    return str(item.inputs.get("occupation") or item.slices.get("source", item.id)).casefold()


def pools_of(
    runs: Sequence[ScoredRun], names: Sequence[str], items: Mapping[str, Item]
) -> tuple[list[Pool], dict[str, str]]:
    """A pool for every role that enough models answered; for the other ones, why they have none.

    Raises:
        UserError: When no role has a pool.
    """
    pools: list[Pool] = []
    left_out: dict[str, str] = {}
    for role in ROLES:
        amounts = {name: sorted(set(ys(item))) for name, item in items.items() if item.slices["role"] == role}
        rows = [
            (model, row.item, amounts[row.item].index(row.value))
            for model, run in zip(names, runs, strict=True)
            for row in run.predictions
            if row.condition == "neutral" and row.item in amounts and row.value is not None
        ]
        answered = {item for _, item, _ in rows}
        models = {model for model, _, _ in rows}
        if not amounts:
            continue
        if len(answered) < 2 or len(models) < FEWEST_MODELS:
            left_out[role] = f"{len(answered)} items answered by {len(models)} models"
            continue
        silent = tuple(name for name in amounts if name not in answered)
        pools.append(Pool(role, rows, {name: len(values) for name, values in amounts.items()}, silent))
    if not pools:
        raise UserError(
            f"No role has two items and {FEWEST_MODELS} models that answered them under neutral: "
            f"{'; '.join(f'{role}: {why}' for role, why in left_out.items())}."
        )
    return pools, left_out
