"""The map of shifts: for every role under every emotion, how the focal behaviour changes against neutral, tested.

Binary decisions: exact McNemar test on the pairs. Ordered ones: Wilcoxon's signed-rank test. Where a question was put
several times (sampling repeats, option orders) its answers are no independent pairs: then the items' mean moves are
tested by signed ranks. Benjamini-Hochberg runs over all cells of one map, several models included.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from affectlab.benchmarks.decisions.measures import Choices, Floats
from affectlab.benchmarks.decisions.states import State, induced_states
from affectlab.games import ROLES
from affectlab.metrics.scores import Table
from affectlab.stats.estimate import Unit
from affectlab.stats.mcnemar import mcnemar
from affectlab.stats.multiple import adjust
from affectlab.stats.signed_rank import signed_rank

Test: TypeAlias = Literal["McNemar", "signed rank", ""]
STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))
UNDEFINED = "n/a"
NOT_ASKED = "not asked"
"""Of a cell that one run has and another was not asked for."""


@dataclass(frozen=True, slots=True)
class Shift:
    """One cell of the map.

    Attributes:
        model: Whose answers.
        role: Of the game.
        emotion: Of the vector.
        dose: Strength and way.
        change: Mean change of the normalised response, in [-1, 1]; ``None`` when there is no pair.
        test: Which test.
        up: Items with more of the focal behaviour than under neutral.
        down: With less.
        effect: Rank-biserial correlation of the moves, in [-1, 1]: (ranks up - ranks down) / all ranks; ``None`` when
            nothing moved.
        pairs: Items with a pair.
        answers: Pairs of answers behind them: more than ``pairs`` where a question was put several times.
        missing: Questions that lack one of the two answers.
        p: Of the test; 1 when nothing changed.
        q: After Benjamini-Hochberg over the map; ``None`` without p.
        reason: Why the cell is undefined.
    """

    model: str
    role: str
    emotion: str
    dose: str
    change: float | None
    test: Test
    up: int
    down: int
    effect: float | None
    pairs: int
    answers: int
    missing: int
    p: float | None
    q: float | None = None
    reason: str = ""

    @property
    def stars(self) -> str:
        """``***`` for q < .001, ``**`` for q < .01, ``*`` for q < .05."""
        return "" if self.q is None else next((stars for limit, stars in STARS if self.q < limit), "")

    @property
    def text(self) -> str:
        """Change in points with its stars, or that it is undefined."""
        if self.change is None:
            return UNDEFINED
        points = f"{100 * self.change:+.1f}".replace("-", "−")
        return f"{'0.0' if points[1:] == '0.0' else points}{self.stars}"


@dataclass(frozen=True)
class Heatmap:
    """All shifts of one dose.

    Attributes:
        cells: By model, role, emotion, in this order of nesting.
        tested: Size of the family that was corrected over.
        untested: Cells without a test.
    """

    cells: tuple[Shift, ...]
    tested: int
    untested: int

    def __repr__(self) -> str:
        starred = sum(bool(cell.stars) for cell in self.cells)
        return f"<heatmap: {len(self.cells)} cells, {starred} with q < .05, {self.untested} undefined>"

    def names(self, attribute: Literal["model", "role", "emotion"]) -> tuple[str, ...]:
        """Distinct models, roles or emotions, in order."""
        return tuple(dict.fromkeys(getattr(cell, attribute) for cell in self.cells))


def doses(choices: Choices) -> tuple[str, ...]:
    """Doses of the emotion vectors of a run."""
    return tuple(dict.fromkeys(state.dose for state in induced_states(choices.conditions) if state.kind == "emotion"))


def heatmap(runs: Mapping[str, Choices], dose: str) -> Heatmap:
    """Every model's shifts under the emotions at one dose.

    Args:
        runs: Model -> its answers.
        dose: Strength and way of the vectors (:attr:`~affectlab.benchmarks.decisions.states.State.dose`).
    """
    cells: list[Shift] = []
    for model, choices in runs.items():
        states = [s for s in induced_states(choices.conditions) if s.kind == "emotion" and s.dose == dose]
        for role in choices.role_names:
            cells += [_shift(model, choices, role, state) for state in states]
    corrected = adjust([cell.p for cell in cells])
    return Heatmap(
        tuple(replace(cell, q=q) for cell, q in zip(cells, corrected.values, strict=True)),
        corrected.tested,
        corrected.untested,
    )


def _shift(model: str, choices: Choices, role: str, state: State) -> Shift:
    rows = choices.rows_of(role)
    after, before = choices.of(state.name)[rows], choices.of("neutral")[rows]
    both = ~np.isnan(after) & ~np.isnan(before)
    move, item = (after - before)[both], choices.item[rows][both]
    missing = int((~both).sum())
    if not len(move):
        reason = "no question has an answer under both"
        return Shift(model, role, state.emotion, state.dose, None, "", 0, 0, None, 0, 0, missing, None, reason=reason)
    per_item = item_means(move, item)
    ranked = signed_rank(per_item)
    up, down = (int((values > 0).sum()) for values in (per_item, -per_item))
    test: Test = "signed rank"
    p: float | None = ranked.p
    if role in ROLES and ROLES[role].kind == "binary" and len(per_item) == len(move):
        test, p = "McNemar", mcnemar(up, down, len(move)).p
    return Shift(
        model,
        role,
        state.emotion,
        state.dose,
        float(per_item.mean()),
        test,
        up,
        down,
        ranked.effect,
        len(per_item),
        len(move),
        missing,
        p,
    )


def item_means(values: Floats, item: NDArray[np.int64]) -> Floats:
    """Mean of each item's values, in order of item codes."""
    _, code = np.unique(item, return_inverse=True)
    return np.bincount(code, weights=values) / np.bincount(code)


def heatmap_table(found: Heatmap, dose: str) -> Table:
    """The map for people: a row a role (and model), a column an emotion."""
    models, emotions = found.names("model"), found.names("emotion")
    by = {(cell.model, cell.role, cell.emotion): cell for cell in found.cells}
    rows = []
    absent = 0
    for model in models:
        for role in found.names("role"):
            here = [by.get((model, role, emotion)) for emotion in emotions]
            if any(here):
                absent += here.count(None)
                cells = [NOT_ASKED if cell is None else cell.text for cell in here]
                rows.append((*((model,) if len(models) > 1 else ()), role.replace("_", " "), *cells))
    several = any(cell.answers > cell.pairs for cell in found.cells)
    tests = (
        "Wilcoxon signed ranks of items' mean moves, several answers to an item being no independent pairs"
        if several
        else "Exact McNemar test for binary roles, Wilcoxon signed ranks for ordered ones"
    )
    return Table(
        f"shifts_{_slug(dose)}",
        f"Shift of the focal behaviour against neutral, strength {dose}",
        (*(("model",) if len(models) > 1 else ()), "role", *emotions),
        tuple(rows),
        f"Points of the feasible range. {tests}; * q < .05, ** q < .01, *** q < .001, Benjamini–Hochberg over the "
        f"{found.tested} cells of this map. Speaks for items like these{'' if several else ', each answered once'}."
        + (f" {UNDEFINED}: no pair to test ({found.untested} cells)." if found.untested else "")
        + (f" {NOT_ASKED}: the run has no such condition ({absent} cells)." if absent else ""),
    )


def shift_table(maps: Sequence[Heatmap]) -> Table:
    """Every cell on a row, for machines."""
    columns = (
        "model",
        "role",
        "emotion",
        "dose",
        "change",
        "test",
        "up",
        "down",
        "effect",
        "pairs",
        "answers",
        "missing",
        "p",
        "q",
        "stars",
    )
    rows = tuple(tuple(getattr(cell, name) for name in columns) for one in maps for cell in one.cells)
    units: dict[str, Unit] = {"change": "difference", "effect": "number", "p": "p", "q": "p"}
    note = "Effect: rank-biserial correlation of the items' moves."
    return Table("shifts", "Shifts of the focal behaviour", columns, rows, note, units)


def _slug(dose: str) -> str:
    return "".join(letter if letter.isalnum() or letter == "." else "_" for letter in dose)
