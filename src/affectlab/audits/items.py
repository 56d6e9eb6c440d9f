"""Item response over neutral answers of several models: which items of each role to keep.

A respondent is a model, known by what it is and not by its name; its repeats are counts. The two stages of the paper:
the pool is screened (variational fit, respondents resampled), items are chosen, and the chosen set is fitted again by
NUTS behind the convergence gate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from affectlab.audits.pools import FEWEST_MODELS, Pool, content_of, items_of, pools_of, respondents
from affectlab.audits.runs import read_decisions
from affectlab.errors import UserError
from affectlab.metrics.scores import Cell, Table
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


@dataclass(frozen=True)
class ItemAudit:
    """Every role's items, and what was left out.

    Attributes:
        families: By role, in the order of the games.
        left_out: Role without a pool -> why.
        pooled: Model -> its runs, where it has several: they are counted together.
        ways: Protocols by which models were asked.
        alike: Roles whose items are all of one content, so that content chooses nothing.
    """

    families: tuple[Family, ...]
    left_out: Mapping[str, str]
    pooled: Mapping[str, int]
    ways: tuple[str, ...]
    alike: tuple[str, ...]


def audit_items(
    folders: Sequence[Path],
    wanted: int = 12,
    sampler: Sampler | None = None,
    replicates: int = 20,
    seed: int = 0,
    on_step: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> ItemAudit:
    """Screen, choose and confirm the items of every role that enough models answered.

    Args:
        folders: Runs of the decisions benchmark: a model each, or several sampled runs of one, on the same items.
        wanted: Items to keep of each role at most.
        sampler: Of stage 2.
        replicates: Samples of respondents in stage 1.
        seed: Of resampling.
        on_step: Told what is done, how much of it, of how much.

    Raises:
        UserError: When there are fewer than three models, a folder is no such run or is named twice, runs of one model
            are no repeats of each other, or two runs have other items under one id.
    """
    runs = read_decisions(folders)
    models = Counter(names := respondents(runs))
    if len(models) < FEWEST_MODELS:
        raise UserError(
            f"{len(models)} models: a respondent is a model, and an item response model needs {FEWEST_MODELS} at the "
            "very least and tens to say anything. Repeats of one model are no further respondents."
        )
    items = items_of(runs)
    pools, left_out = pools_of(runs, names, items)
    content = {name: content_of(item) for name, item in items.items()}
    families = tuple(
        _family(pool, f"{_words(pool.role)} ({n} of {len(pools)})", content, wanted, sampler, replicates, seed, on_step)
        for n, pool in enumerate(pools, start=1)
    )
    alike = [pool.role for pool in pools if len({content[name] for name in pool.categories}) == 1]
    pooled = {name: count for name, count in models.items() if count > 1}
    ways = tuple(dict.fromkeys(run.plan.protocol.name for run in runs))
    return ItemAudit(families, left_out, pooled, ways, tuple(alike))


def _family(
    pool: Pool,
    title: str,
    content: Mapping[str, str],
    wanted: int,
    sampler: Sampler | None,
    replicates: int,
    seed: int,
    on_step: Callable[[str, int, int], None],
) -> Family:
    responses = Responses.of_rows(pool.rows, pool.categories)
    with _step(f"{title}: screening", on_step):
        screened = screen(responses, seed)
        checks = check_items(screened)
    with _step(f"{title}: {replicates} samples of models", on_step):
        stability = respondent_stability(responses, replicates, seed)
    selected = select_items(checks, stability, content, wanted)
    kept = selected.kept
    confirmed = None
    if len(kept) > 1:
        with _step(f"{title}: confirming {len(kept)} items", on_step):
            confirmed = seed_stability(responses.take_items(kept), (seed, seed + 1), sampler)
    return Family(pool.role, responses, screened, checks, stability, selected, confirmed, pool.silent)


@contextmanager
def _step(what: str, tell: Callable[[str, int, int], None]) -> Iterator[None]:
    tell(what, 0, 1)
    yield
    tell(what, 1, 1)


def family_table(families: Sequence[Family]) -> Table:
    """One row a role: what is kept, how well it fits, and whether the confirming fit converged."""
    rows: list[tuple[Cell, ...]] = []
    for one in families:
        final = one.confirmed.fits[0] if one.confirmed else None
        gate = "not fitted" if final is None or final.gate is None else "; ".join(final.gate.reasons) or "passed"
        rows.append(
            (
                _words(one.role),
                len(one.pool.respondents),
                len(one.pool.items),
                len(one.selected.kept),
                float(final.a.mean()) if final else None,
                float(final.a.min()) if final else None,
                predictive_error(final) if final else None,
                gate,
            )
        )
    headings = ("role", "models", "pool", "kept", "mean a", "min a", "error", "convergence")
    return Table(
        "families",
        "Items kept of each role",
        headings,
        tuple(rows),
        "a: discrimination of the kept items. Error: posterior predictive, mean distance of observed from expected "
        "score over groups of respondents. Do not read figures that did not converge.",
        dict.fromkeys(headings[4:7], "number"),
    )


def stability_table(families: Sequence[Family]) -> Table:
    """One row a role: how far parameters move between seeds, and between samples of models."""
    rows: list[tuple[Cell, ...]] = [
        (
            _words(one.role),
            *(
                (None,) * 4
                if one.confirmed is None
                else (
                    float(one.confirmed.delta_a.max()),
                    float(one.confirmed.a_over_mcse.max()),
                    float(one.confirmed.a_over_sd.max()),
                    float(one.confirmed.delta_b.max()),
                )
            ),
            float(one.stability.a.mean()),
            float(one.stability.b.mean()),
        )
        for one in families
    ]
    headings = ("role", "max Δa", "in MC errors", "in SDs", "max Δb", "spread of a", "spread of b")
    return Table(
        "stability",
        "How far item parameters move",
        headings,
        tuple(rows),
        "a: discrimination, b: thresholds. Δ: largest difference of a kept item between two seeds, also in Monte Carlo "
        "errors and in posterior standard deviations; of a converged sampler it is Monte Carlo error and says nothing "
        "of the items. Spread: standard deviation over resampled models, mean over the pool, which is what a kept item "
        "needs to be small.",
        dict.fromkeys(headings[1:], "number"),
    )


def item_table(families: Sequence[Family]) -> Table:
    """Every item of the pool, kept or not and why."""
    rows: list[tuple[Cell, ...]] = [
        (
            _words(one.role),
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
        ("model", *(_words(one.role) for one, _ in confirmed)),
        tuple(rows),
        "Posterior mean ± 1.96 standard deviations; 0 is the mean of these models, 1 their standard deviation. "
        "Scales of different roles are not one scale.",
    )


def notes(found: ItemAudit) -> tuple[str, ...]:
    """What must be said beside the tables."""
    families = found.families
    said = [f"{name}: {count} runs are counted together, as repeats." for name, count in found.pooled.items()]
    if len(found.ways) > 1:
        said.append(f"Models were asked in different ways ({', '.join(found.ways)}), which is in their abilities too.")
    said += [f"{_words(role)} is left out: {why}." for role, why in found.left_out.items()]
    twins = dict.fromkeys(pair for one in families for pair in one.pool.duplicates)
    for first, second in twins:
        roles = sum((first, second) in one.pool.duplicates for one in families)
        said.append(f"{second} answers exactly as {first} in {roles} roles: two rows that say one thing.")
    short = [f"{_words(one.role)} {len(one.selected.kept)}" for one in families if one.selected.short]
    if short:
        said.append(f"Fewer items than wanted were good: {', '.join(short)}.")
    if silent := sum(len(one.silent) for one in families):
        said.append(f"{silent} items nobody answered under neutral are left out.")
    if found.alike:
        said.append(
            f"All items of {', '.join(map(_words, found.alike))} are of one content (occupation, else source), so that "
            "content chooses nothing there."
        )
    return tuple(said)


def _words(role: str) -> str:
    return role.replace("_", " ")
