"""Item response over neutral answers of several models: which items of each role to keep.

A respondent is a model; its repeats are counts. The two stages of the paper: the pool is screened (variational fit,
respondents resampled), items are chosen, and the chosen set is fitted again by NUTS behind the convergence gate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from affectlab.benchmarks.decisions.record import ys
from affectlab.errors import UserError
from affectlab.games import ROLES
from affectlab.metrics.scores import Cell, Table
from affectlab.runs import ScoredRun, read_run
from affectlab.stats.bootstrap import Interval
from affectlab.stats.estimate import Estimate
from affectlab.stats.irt import (
    Fit,
    ItemCheck,
    Responses,
    Sampler,
    SeedStability,
    Selected,
    check_items,
    respondent_stability,
    screen,
    seed_stability,
    select_items,
)
from affectlab.stats.irt.checks import predictive_error
from affectlab.stats.irt.stability import RespondentStability

FEWEST_MODELS = 3


@dataclass(frozen=True)
class Family:
    """One role's items.

    Attributes:
        role: Of the game.
        pool: Answers to all its items.
        screened: Stage 1: the quick fit.
        checks: Of every item of the pool.
        stability: Spread over resampled respondents.
        selected: What is kept and why.
        confirmed: Stage 2: NUTS with two seeds on what is kept; ``None`` when fewer than two items are.
        silent: Items nobody answered under neutral.
    """

    role: str
    pool: Responses
    screened: Fit
    checks: tuple[ItemCheck, ...]
    stability: RespondentStability
    selected: Selected
    confirmed: SeedStability | None
    silent: tuple[str, ...]


def audit_items(
    folders: Sequence[Path], wanted: int = 12, sampler: Sampler | None = None, replicates: int = 20, seed: int = 0
) -> tuple[Family, ...]:
    """Screen, choose and confirm the items of every role.

    Args:
        folders: Runs of the decisions benchmark, a model each, on the same items.
        wanted: Items to keep of each role at most.
        sampler: Of stage 2.
        replicates: Samples of respondents in stage 1.
        seed: Of resampling.

    Raises:
        UserError: When there are fewer than three models, or a folder is no such run.
    """
    runs = [read_run(folder, Interval(replicates=1)) for folder in folders]
    if foreign := [str(run.folder.path) for run in runs if run.benchmark.name != "decisions"]:
        raise UserError(f"{foreign[0]} is no run of the decisions benchmark.")
    models = list(dict.fromkeys(str(run.manifest["model"]["name"]) for run in runs))
    if len(models) < FEWEST_MODELS:
        raise UserError(
            f"{len(models)} models: a respondent is a model, and an item response model needs {FEWEST_MODELS} at the "
            "very least and tens to say anything. Repeats of one model are no further respondents."
        )
    content = {item.id: item.slices.get("source", item.id) for run in runs for item in run.plan.items}
    families = []
    for role, (rows, categories, silent) in _by_role(runs).items():
        pool = Responses.of_rows(rows, categories)
        screened = screen(pool, seed)
        stability = respondent_stability(pool, replicates, seed)
        checks = check_items(screened)
        selected = select_items(checks, stability, content, wanted)
        kept = selected.kept
        confirmed = seed_stability(pool.take_items(kept), (seed, seed + 1), sampler) if len(kept) > 1 else None
        families.append(Family(role, pool, screened, checks, stability, selected, confirmed, silent))
    return tuple(families)


Rows = list[tuple[str, str, int]]


def _by_role(runs: Sequence[ScoredRun]) -> Mapping[str, tuple[Rows, dict[str, int], tuple[str, ...]]]:
    """Neutral answers as (model, item, category), categories of each item, items without answers; by role."""
    items = {item.id: item for run in runs for item in run.plan.items}
    found: dict[str, tuple[Rows, dict[str, int], tuple[str, ...]]] = {}
    for role in ROLES:
        amounts = {name: sorted(set(ys(item))) for name, item in items.items() if item.slices["role"] == role}
        rows: Rows = [
            (str(run.manifest["model"]["name"]), row.item, amounts[row.item].index(row.value))
            for run in runs
            for row in run.predictions
            if row.condition == "neutral" and row.item in amounts and row.value is not None
        ]
        answered = {item for _, item, _ in rows}
        if len(answered) > 1:
            silent = tuple(name for name in amounts if name not in answered)
            found[role] = rows, {name: len(values) for name, values in amounts.items()}, silent
    if not found:
        raise UserError("No role has two items that were answered under neutral.")
    return found


def family_table(families: Sequence[Family]) -> Table:
    """One row a role: what the paper's two tables of stages hold, and what they lack."""
    rows: list[tuple[Cell, ...]] = []
    for one in families:
        final = one.confirmed.fits[0] if one.confirmed else None
        gate = "not fitted" if final is None or final.gate is None else "; ".join(final.gate.reasons) or "passed"
        rows.append(
            (
                one.role.replace("_", " "),
                len(one.pool.respondents),
                len(one.pool.items),
                len(one.selected.kept),
                float(final.a.mean()) if final else None,
                float(final.a.min()) if final else None,
                predictive_error(final) if final else None,
                float(one.confirmed.delta_a.max()) if one.confirmed else None,
                float(one.confirmed.a_over_mcse.max()) if one.confirmed else None,
                float(one.confirmed.a_over_sd.max()) if one.confirmed else None,
                float(one.confirmed.delta_b.max()) if one.confirmed else None,
                float(one.stability.a.mean()),
                float(one.stability.b.mean()),
                gate,
            )
        )
    headings = (
        "role",
        "models",
        "pool",
        "kept",
        "mean discrimination",
        "min discrimination",
        "error",
        "max Δa seeds",
        "in MC errors",
        "in posterior SDs",
        "max Δb seeds",
        "spread of a, respondents",
        "spread of b, respondents",
        "convergence",
    )
    return Table(
        "families",
        "Items kept of each role",
        headings,
        tuple(rows),
        "Error: posterior predictive, mean distance of observed from expected score over groups of respondents. Δ "
        "between two seeds of a converged sampler is Monte Carlo error and says nothing of the items; spread over "
        "resampled respondents is what a kept item needs to be small. Do not read figures that did not converge.",
        dict.fromkeys(headings[4:13], "number"),
    )


def item_table(families: Sequence[Family]) -> Table:
    """Every item of the pool, kept or not and why."""
    rows: list[tuple[Cell, ...]] = [
        (
            one.role.replace("_", " "),
            check.item,
            "kept" if check.item in one.selected.kept else "dropped",
            check.discrimination,
            check.difficulty,
            check.error,
            check.rest,
            one.selected.dropped.get(check.item, ""),
        )
        for one in families
        for check in one.checks
    ]
    headings = ("role", "item", "verdict", "discrimination", "difficulty", "error", "rest correlation", "why")
    return Table(
        "items",
        "Items, from the screening fit",
        headings,
        tuple(rows),
        "",
        dict.fromkeys(headings[3:7], "number"),
    )


def ability_table(families: Sequence[Family]) -> Table:
    """Where each model stands on each role, from the confirming fit."""
    confirmed = [(one, one.confirmed.fits[0]) for one in families if one.confirmed is not None]
    models = list(dict.fromkeys(name for one, _ in confirmed for name in one.pool.respondents))
    rows: list[tuple[Cell, ...]] = []
    for model in models:
        cells: list[Cell] = [model]
        for one, final in confirmed:
            if model not in one.pool.respondents:
                cells.append(None)
                continue
            place = one.pool.respondents.index(model)
            value, spread = float(final.theta[place]), 1.96 * float(final.theta_sd[place])
            cells.append(Estimate("ability", value, value - spread, value + spread, unit="number"))
        rows.append(tuple(cells))
    return Table(
        "abilities",
        "Tendency of each model to the focal behaviour under neutral",
        ("model", *(one.role.replace("_", " ") for one, _ in confirmed)),
        tuple(rows),
        "Posterior mean ± 1.96 standard deviations; 0 is the mean of these models, 1 their standard deviation. "
        "Scales of different roles are not one scale.",
    )


def notes(families: Sequence[Family]) -> tuple[str, ...]:
    """What must be said beside the tables."""
    said = []
    twins = dict.fromkeys(pair for one in families for pair in one.pool.duplicates)
    for first, second in twins:
        roles = sum((first, second) in one.pool.duplicates for one in families)
        said.append(f"{second} answers exactly as {first} in {roles} roles: two rows that say one thing.")
    short = [f"{one.role} {len(one.selected.kept)}" for one in families if one.selected.short]
    if short:
        said.append(f"Fewer items than wanted were good: {', '.join(short)}.")
    if silent := sum(len(one.silent) for one in families):
        said.append(f"{silent} items nobody answered under neutral are left out.")
    return tuple(said)
