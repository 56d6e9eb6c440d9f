"""The score sheet of a decisions run.

Every condition has its own sheet. That of neutral also holds what is said of the run as a whole: how far all others
move answers from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from affectlab.benchmarks import sheets
from affectlab.benchmarks.base import Scoring
from affectlab.benchmarks.decisions.curves import curves
from affectlab.benchmarks.decisions.effects import Effect, effects
from affectlab.benchmarks.decisions.heatmap import doses, heatmap, heatmap_table
from affectlab.benchmarks.decisions.letters import letters_table
from affectlab.benchmarks.decisions.measures import Choices, Drifts, choices_of, drifts_of, over_roles
from affectlab.benchmarks.decisions.places import place_table, places, stuck
from affectlab.benchmarks.decisions.reasoning import correlation_table, length_table, thoughts
from affectlab.benchmarks.decisions.sampling import noise_floor, sampled, sampling_table
from affectlab.benchmarks.decisions.states import induced_states
from affectlab.benchmarks.decisions.tables import (
    drift_estimates,
    drift_table,
    effect_table,
    emotion_table,
    missing_table,
    run_estimates,
    strength_table,
    trend_table,
)
from affectlab.games import ROLES
from affectlab.metrics.classification import ratio_or
from affectlab.metrics.predictions import PredictionTable
from affectlab.metrics.scores import Scores, Table
from affectlab.stats.bootstrap import Interval, estimates
from affectlab.stats.estimate import Estimate
from affectlab.stats.measures import Measures, Over, Share, Totals

VERSION = "1"
RESPONSE, PARSED = "focal_behaviour", "parse_rate"


def measures(table: PredictionTable, protocol: str) -> Measures:
    """Focal behaviour and parse rate of one condition's predictions.

    ``focal_behaviour`` is the mean response as a share of the feasible range, averaged over items within roles and then
    over roles. Also by role (``focal_behaviour:stag_hunt``).
    """
    del protocol  # every protocol asks for the same decision
    conditions = tuple(name for name in table.condition.values if table.condition.equals(name).any())
    choices = choices_of(table, conditions)
    rows, columns = np.nonzero(~np.isnan(choices.response))
    role_names = choices.role_names
    code = np.array([role_names.index(role) for role in choices.roles], dtype=np.int64)
    names, cluster = np.unique(np.array(table.cluster.values, dtype=object)[table.cluster.codes], return_inverse=True)
    owner = np.searchsorted(names, np.array(choices.clusters, dtype=object))
    n = len(role_names)
    place = choices.item[rows]
    read = ~table.value.equals(None)
    events = np.concatenate([code[place], code[place] + n, np.where(read, 2 * n, 2 * n + 1)])
    weights = np.concatenate([choices.response[rows, columns], np.ones(len(rows) + len(table))])
    by_role = {
        f"{RESPONSE}:{role}": Over(np.array([k, k + n]), _mean, counted=np.array([k + n]))
        for k, role in enumerate(role_names)
    }
    every = over_roles(np.arange(2 * n), partial(_by_role_means, n), np.arange(n, 2 * n))
    return Measures(
        cluster=np.concatenate([owner[place], owner[place], cluster]).astype(np.int32),
        event=events.astype(np.int32),
        clusters=tuple(map(str, names)),
        n_events=2 * n + 2,
        statistics={
            RESPONSE: every,
            PARSED: Share(np.array([2 * n]), np.array([2 * n, 2 * n + 1])),
            **by_role,
        },
        correct={},
        headline=RESPONSE,
        weight=weights,
        leaving_out=frozenset({RESPONSE, *by_role}),
    )


def _mean(totals: Totals) -> Totals:
    return ratio_or(totals[:, 0], totals[:, 1], np.nan)


def _by_role_means(n: int, totals: Totals) -> Totals:
    return ratio_or(totals[:, :n], totals[:, n:], np.nan)


def score(scoring: Scoring) -> Scores:
    """Scores of one condition; with neutral, of the whole run."""
    found = estimates(measures(scoring.table, scoring.protocol), how=scoring.interval)
    choices = choices_of(scoring.whole)
    headline = [found[RESPONSE], found[PARSED]]
    of_run: list[str] = []
    made: list[Table] = [_by_role(found)]
    if scoring.condition != "neutral":
        one = choices_of(scoring.whole, ("neutral", scoring.condition))
        drifts = drifts_of(one)
        headline += drift_estimates(drifts, scoring.interval, (0,)).values()
        made.append(drift_table(drifts, scoring.interval, (0,)))
    elif len(choices.conditions) > 1:
        drifts = drifts_of(choices)
        compared = effects(drifts, scoring.interval)
        together = run_estimates(drifts, compared, scoring.interval)
        tables = list(whole_run(choices, drifts, compared, scoring.interval))
        if stood := list(places(scoring.whole)):
            tables.append(place_table(stood))
        if letters := letters_table(scoring.predictions, scoring.items, together, scoring.interval):
            tables.append(letters)
        if reasoned := thoughts(scoring.predictions):
            tables += [length_table(reasoned), correlation_table(reasoned, scoring.interval)]
        headline += together
        made += tables
        of_run = [*(one.name for one in together), *(one.id for one in tables), *_notes_on_run(scoring, choices)]
    return Scores(
        headline=tuple(headline),
        tables=(*made, sheets.outcomes(scoring.table), *sheets.flags(scoring.table)) if len(scoring.table) else (),
        notes=(*_notes(scoring, choices), *_notes_on_run(scoring, choices)),
        signature=(
            f"decisions:{VERSION}|protocol:{scoring.protocol}|response:(y-min)/(max-min)|mean:items, then conditions, "
            f"then roles|missing:left out, counted|cluster:item|{scoring.interval}"
        ),
        of_run=tuple(of_run),
    )


def _by_role(found: Mapping[str, Estimate]) -> Table:
    roles = {name.partition(":")[2]: one for name, one in found.items() if ":" in name}
    rows = tuple((role, ROLES[role].focal if role in ROLES else "", one) for role, one in roles.items())
    return Table(
        "by_role",
        "Focal behaviour by role",
        ("role", "focal behaviour is", RESPONSE),
        rows,
        "Mean response as a share of each item's feasible range: the rate of the focal choice where there are two.",
    )


def whole_run(choices: Choices, drifts: Drifts, compared: Sequence[Effect], interval: Interval) -> Iterator[Table]:
    """Tables on all conditions together."""
    emotions = tuple(drifts.which(kind="emotion"))
    if emotions:
        yield drift_table(drifts, interval, emotions)
        yield emotion_table(drifts, interval)
    if compared:
        yield effect_table(compared)
    drawn = [one for one in curves(drifts, interval) if one.trend is not None]
    if drawn:
        yield strength_table(drawn)
        yield trend_table(drawn)
    for dose in doses(choices):
        yield heatmap_table(heatmap({"": choices}, dose), dose)
    if len(choices.repeats) > 1:
        yield sampling_table(sampled(choices, interval))
    yield missing_table(drifts)


def _notes(scoring: Scoring, choices: Choices) -> Iterator[str]:
    if choices.no_range:
        yield f"{choices.no_range} questions leave one feasible answer and are in no figure."
    unread = len(scoring.table) - int(scoring.table.outcome.equals("ok").sum())
    if unread:
        yield f"{unread} of {len(scoring.table)} answers could not be read. They are in no figure but the parse rate."


def _notes_on_run(scoring: Scoring, choices: Choices) -> Iterator[str]:
    """What must be known of all conditions together."""
    if scoring.condition != "neutral":
        return
    if other := [state.name for state in induced_states(choices.conditions) if state.kind == "other"]:
        yield (
            f"{', '.join(other)}: several states at once, or a strength of 0 or below, which is no dose of an emotion. "
            "How far answers move is in the sheets of these conditions, and in no mean over emotions or strengths."
        )
    if any(state.kind == "emotion" for state in induced_states(choices.conditions)):
        yield "NDM and NAD of the run are means over all its emotions, strengths and roles."
        if scoring.protocol == "likelihood":
            yield "Published figures are of generated answers; here the options were scored by likelihood."
    if named := stuck(list(places(scoring.whole))):
        yield named
    if len(choices.repeats) > 1:
        level = noise_floor(choices)
        if level is not None:
            yield f"NDM of neutral against itself is {level:.3f}: two draws of one state differ that much."
