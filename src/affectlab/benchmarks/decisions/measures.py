"""How far conditions move decisions: normalised drift magnitude (NDM) and normalised aligned drift (NAD).

An answer's *move* is its change from the neutral answer to the same question, as a share of the item's feasible range.
NDM is the mean size of moves; NAD the mean move in the direction that people's behaviour takes under the emotion. As
the paper averages them: a *cell* is one role under one condition, averaged over items; a role's figure is the mean of
its cells; the total is the unweighted mean over roles.

Where people have no direction (d = 0) a move counts 0 in ``nad``, as the paper's formula reads, and is left out of
``nad_directed``.

Reference: the emotion-sensitive decisions paper (arXiv 2604.06562), section "Results and Analysis".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from affectlab.benchmarks.decisions.states import State, induced_states
from affectlab.games import DIRECTIONS, ROLES
from affectlab.metrics.classification import mean_defined, ratio_or
from affectlab.metrics.predictions import Column, PredictionTable
from affectlab.stats.measures import Measures, Over, Statistic, Totals

Floats: TypeAlias = NDArray[np.float64]
Figure: TypeAlias = Literal["ndm", "nad", "nad_directed"]
FIGURES: tuple[Figure, ...] = ("ndm", "nad", "nad_directed")
NAMES: Mapping[Figure, str] = {"ndm": "NDM", "nad": "NAD", "nad_directed": "NAD (d ≠ 0)"}


@dataclass(frozen=True)
class Choices:
    """Answers of a run as normalised responses: one row a question (item, repeat, presentation), one column a
    condition.

    Attributes:
        conditions: Neutral first.
        item: Code of each question's item [Q].
        repeat: Repeat of each question [Q].
        asked: Code of the item in the presentation (order of options) that each question put [Q]; repeats share it.
        keys: Item, repeat and presentation of each question by name [Q]: what makes it the same in another run.
        response: (y - y_min) / (y_max - y_min) [Q, C], in [0, 1]; NaN where no answer was read.
        items: Names of the items.
        clusters: Cluster of each item.
        roles: Role of each item.
        no_range: Questions left out because only one answer is feasible.
    """

    conditions: tuple[str, ...]
    item: NDArray[np.int64]
    repeat: NDArray[np.int64]
    asked: NDArray[np.int64]
    keys: tuple[tuple[str, int, str], ...]
    response: Floats
    items: tuple[str, ...]
    clusters: tuple[str, ...]
    roles: tuple[str, ...]
    no_range: int = 0

    def __repr__(self) -> str:
        return f"<choices: {len(self.item)} questions on {len(self.items)} items, {len(self.conditions)} conditions>"

    def of(self, condition: str) -> Floats:
        """Responses under one condition [Q]."""
        return self.response[:, self.conditions.index(condition)]

    @property
    def repeats(self) -> tuple[int, ...]:
        """Repeats there are."""
        return tuple(sorted(set(self.repeat.tolist())))

    @property
    def role_names(self) -> tuple[str, ...]:
        """Roles there are, in the paper's order."""
        return in_order(self.roles)

    def rows_of(self, role: str) -> NDArray[np.intp]:
        """Questions on items of one role."""
        return np.flatnonzero(np.array([one == role for one in self.roles], dtype=bool)[self.item])


def in_order(roles: Iterable[str]) -> tuple[str, ...]:
    """Distinct roles: those of the paper in its order, then any others."""
    given = set(roles)
    return (*(role for role in ROLES if role in given), *sorted(given - ROLES.keys()))


def choices_of(table: PredictionTable, conditions: Sequence[str] | None = None) -> Choices:
    """A run's answers side by side.

    Args:
        table: Predictions of all conditions, as the ``decisions`` benchmark makes them.
        conditions: Which, in which order; all, neutral first, when ``None``.
    """
    present = [name for name in table.condition.values if table.condition.equals(name).any()]
    wanted = tuple(conditions or sorted(present, key=lambda name: name != "neutral"))
    low, high = (_floats(table.slice_values(name)) for name in ("y_min", "y_max"))
    span = high - low
    feasible = span > 0
    question, first = table.groups("item", "repeat", "variant")
    value = _floats(table.value)
    share = np.full(len(table), np.nan)
    np.divide(value - low, span, out=share, where=feasible)
    column = table.condition.recode({name: place for place, name in enumerate(wanted)}, -1)
    response = np.full((len(first), len(wanted)), np.nan)
    known = column >= 0
    response[question[known], column[known]] = share[known]
    kept = np.flatnonzero(feasible[first])
    head = first[kept]
    codes, opening, item = np.unique(table.item.codes[head], return_index=True, return_inverse=True)
    opening = head[opening]
    roles = table.slice_values("role")
    return Choices(
        conditions=wanted,
        item=item.astype(np.int64),
        repeat=np.array([table.repeat.values[code] for code in table.repeat.codes[head]], dtype=np.int64),
        asked=table.groups("item", "variant")[0][head].astype(np.int64),
        keys=tuple(
            (str(table.item.values[of]), int(table.repeat.values[repeat]), str(table.variant.values[variant]))
            for of, repeat, variant in zip(
                table.item.codes[head].tolist(),
                table.repeat.codes[head].tolist(),
                table.variant.codes[head].tolist(),
                strict=True,
            )
        ),
        response=response[kept],
        items=tuple(str(table.item.values[code]) for code in codes),
        clusters=tuple(str(table.cluster.values[code]) for code in table.cluster.codes[opening]),
        roles=tuple(str(roles.values[code]) for code in roles.codes[opening]),
        no_range=len(first) - len(kept),
    )


def _floats(column: Column) -> Floats:
    plain = [np.nan if value is None else float(value) for value in column.values]
    return np.array(plain or [np.nan])[column.codes]


@dataclass(frozen=True)
class Drifts:
    """Moves of every question under every condition, and their averages by item.

    Attributes:
        states: Conditions but neutral, [C].
        moves: Change from the neutral answer [Q, C], in [-1, 1], up in the focal behaviour; NaN where one of the two
            answers is missing.
        item: Code of each question's item [Q].
        keys: Item, repeat and presentation of each question by name [Q].
        items: Names [I].
        clusters: [I].
        roles: [I].
        no_range: Questions on items with one feasible answer, which are not among the Q.
    """

    states: tuple[State, ...]
    moves: Floats
    item: NDArray[np.int64]
    keys: tuple[tuple[str, int, str], ...]
    items: tuple[str, ...]
    clusters: tuple[str, ...]
    roles: tuple[str, ...]
    no_range: int = 0

    def __repr__(self) -> str:
        return f"<drifts: {len(self.items)} items under {len(self.states)} conditions>"

    @cached_property
    def size(self) -> Floats:
        """Mean size of moves [I, C], in [0, 1]; NaN where no question has both answers."""
        return self.by_item(np.abs(self.moves))

    @cached_property
    def move(self) -> Floats:
        """Mean move [I, C]."""
        return self.by_item(self.moves)

    @property
    def missing(self) -> NDArray[np.int64]:
        """Questions by condition that lack one of the two answers [C]."""
        lacking: NDArray[np.int64] = np.isnan(self.moves).sum(axis=0, dtype=np.int64)
        return lacking

    @property
    def role_names(self) -> tuple[str, ...]:
        """Roles there are, in the paper's order."""
        return in_order(self.roles)

    def which(self, **wanted: object) -> list[int]:
        """Columns of the states with these attributes (``kind="emotion", dose="1"``)."""
        return [
            place
            for place, state in enumerate(self.states)
            if all(getattr(state, name) == value for name, value in wanted.items())
        ]

    def contributions(self, columns: Sequence[int], figure: Figure, emotions: Sequence[str] = ()) -> Floats:
        """What each question adds to a figure under some conditions [Q, columns]; NaN where nothing.

        Args:
            columns: Conditions.
            figure: ``ndm``: size of the move. ``nad``: move in people's direction. ``nad_directed``: the same, NaN
                where people have none.
            emotions: Whose direction each column is aligned with; the condition's own when empty.
        """
        moves = self.moves[:, list(columns)]
        if figure == "ndm":
            return np.abs(moves)
        owners = emotions or [self.states[column].emotion for column in columns]
        signs = np.array([[_direction(role, emotion) for emotion in owners] for role in self.roles], dtype=np.float64)
        if figure == "nad_directed":
            signs[signs == 0] = np.nan
        return moves * signs.reshape(len(self.roles), len(owners))[self.item]

    def by_item(self, values: Floats) -> Floats:
        """Mean over each item's questions [I, columns] of values [Q, columns], of those that are there."""
        present = ~np.isnan(values)
        sums = np.zeros((len(self.items), values.shape[1]))
        counts = np.zeros_like(sums)
        np.add.at(sums, self.item, np.where(present, values, 0.0))
        np.add.at(counts, self.item, present.astype(np.float64))
        return ratio_or(sums, counts, np.nan)


def _direction(role: str, emotion: str) -> int:
    found = DIRECTIONS.get(role, {}).get(emotion)
    return found.direction if found is not None else 0


def drifts_of(choices: Choices) -> Drifts:
    """Every answer against the neutral answer to the same question.

    Under sampling, questions of the same repeat are paired; two draws of one state differ too, so that NDM of nothing
    is above 0 (:func:`affectlab.benchmarks.decisions.sampling.noise_floor` says how much).
    """
    states = induced_states(choices.conditions)
    neutral = choices.of("neutral") if "neutral" in choices.conditions else np.full(len(choices.item), np.nan)
    columns = [choices.conditions.index(state.name) for state in states]
    moves = choices.response[:, columns] - neutral[:, None]
    return Drifts(
        states,
        moves,
        choices.item,
        choices.keys,
        choices.items,
        choices.clusters,
        choices.roles,
        choices.no_range,
    )


@dataclass(frozen=True)
class Selection:
    """Which cells a figure averages.

    Attributes:
        figure: Which figure.
        columns: Conditions, as columns of :class:`Drifts`.
        roles: Roles; all when empty.
        emotions: Emotions whose direction a move is aligned with; the condition's own when empty. A random vector has
            no emotion: it is aligned with each in turn, as the emotions it is a control of are.
    """

    figure: Figure
    columns: tuple[int, ...]
    roles: tuple[str, ...] = ()
    emotions: tuple[str, ...] = field(default=())


def drift_measures(drifts: Drifts, wanted: Mapping[str, Selection]) -> Measures:
    """Figures of moves as statistics of totals, with items (their clusters) as what is sampled.

    Args:
        drifts: Moves by item and condition.
        wanted: Name -> what to average; the first is the headline.
    """
    role_names = drifts.role_names
    place = {role: code for code, role in enumerate(role_names)}
    role = np.array([place[one] for one in drifts.roles], dtype=np.int64)
    names, cluster = np.unique(np.array(drifts.clusters, dtype=object), return_inverse=True)
    rows, columns = np.nonzero(~np.isnan(drifts.size))
    n_conditions = len(drifts.states)
    cell = role[rows] * n_conditions + columns
    n_cells = len(role_names) * n_conditions
    weights = (drifts.size[rows, columns], drifts.move[rows, columns], np.ones(len(rows)))
    statistics = {name: _statistic(drifts, selection, place, n_cells) for name, selection in wanted.items()}
    return Measures(
        cluster=np.tile(cluster[rows], 3).astype(np.int32),
        event=np.concatenate([cell + part * n_cells for part in range(3)]).astype(np.int32),
        clusters=tuple(map(str, names)),
        n_events=max(3 * n_cells, 1),
        statistics=statistics,
        correct={},
        headline=next(iter(wanted)),
        weight=np.concatenate(weights),
    )


def _statistic(drifts: Drifts, selection: Selection, place: Mapping[str, int], n_cells: int) -> Statistic:
    """Mean over roles of the mean over cells of the mean over items."""
    roles = [role for role in (selection.roles or tuple(place)) if role in place]
    cells: list[int] = []
    signs: list[float] = []
    owner: list[int] = []
    for number, role in enumerate(roles):
        for column in selection.columns:
            for sign in _signs(selection, role, drifts.states[column].emotion):
                cells.append(place[role] * len(drifts.states) + column)
                signs.append(sign)
                owner.append(number)
    codes = np.array(cells, dtype=np.intp)
    sums = codes if selection.figure == "ndm" else codes + n_cells
    counts = codes + 2 * n_cells
    if not cells:
        return Over(np.empty(0, dtype=np.intp), lambda totals: np.full(len(totals), np.nan))
    by_role = partial(_by_role, np.array(signs), np.array(owner), len(roles))
    return over_roles(np.concatenate([sums, counts]), by_role, np.unique(counts))


def over_roles(events: NDArray[np.intp], by_role: Callable[[Totals], Floats], counted: NDArray[np.intp]) -> Over:
    """The unweighted mean over roles, of those that have a value.

    A resample that drew no item of a role would be a mean over other roles, and its spread that of roles and not of
    items: it is undefined. So there is no interval where most resamples lose a role, as with an item or two of each.

    Args:
        events: Codes that ``by_role`` sees.
        by_role: From totals [B, events] to values [B, roles]; NaN: none.
        counted: Codes whose number is the figure's n.
    """

    def mean(totals: Totals) -> Floats:
        return mean_defined(by_role(totals))

    def resampled(observed: Totals, totals: Totals) -> Floats:
        values = by_role(totals)
        lost = np.isnan(values) & ~np.isnan(by_role(observed))
        return np.where(lost.any(axis=1), np.nan, mean_defined(values))

    return Over(events, mean, counted=counted, resampled=resampled)


def _signs(selection: Selection, role: str, own: str) -> Iterable[float]:
    if selection.figure == "ndm":
        return (1.0,)
    found = [float(_direction(role, emotion)) for emotion in (selection.emotions or (own,))]
    return [sign for sign in found if sign] if selection.figure == "nad_directed" else found


def _by_role(signs: Floats, owner: NDArray[np.int64], n_roles: int, totals: Totals) -> Floats:
    split = len(signs)
    cells = ratio_or(totals[:, :split], totals[:, split:], np.nan) * signs
    return np.stack([mean_defined(cells[:, owner == role]) for role in range(n_roles)], axis=1)
