from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom
from tests.benchmarks.decisions.worlds import Row, prediction, table, world

from affectlab.benchmarks.decisions.heatmap import doses, heatmap, heatmap_table, shift_table
from affectlab.benchmarks.decisions.measures import choices_of
from affectlab.games import ROLES
from affectlab.metrics.predictions import PredictionTable

UNIT = (0.0, 1.0)


def binary(ups: int, downs: int, still: int) -> dict[str, list[Row]]:
    pairs = [(0.0, 1.0)] * ups + [(1.0, 0.0)] * downs + [(0.0, 0.0)] * still
    return {
        name: [("stag_hunt", f"i{i:02d}", UNIT, pair[side]) for i, pair in enumerate(pairs)]
        for side, name in enumerate(("neutral", "joy@1.0"))
    }


def test_a_binary_cell_is_mcnemar_by_hand() -> None:
    # 8 up, 2 down of 15: p = 2 · (1 + 10 + 45) / 1024 = .109375; change 6 / 15.
    (cell,) = heatmap({"m": choices_of(table(binary(8, 2, 5)))}, "1").cells
    assert (cell.test, cell.up, cell.down, cell.pairs) == ("McNemar", 8, 2, 15)
    assert cell.p == cell.q == pytest.approx(0.109375)
    assert cell.change == pytest.approx(0.4)
    assert cell.text == "+40.0"
    # Ten ranks are tied: (8 - 2) / 10.
    assert cell.effect == pytest.approx(0.6)
    assert cell.answers == 15


def test_an_ordered_cell_is_a_signed_rank_test() -> None:
    moves = [3, -1, 4, 1, -5, 9, 2, 6]
    rows: dict[str, list[Row]] = {
        "neutral": [("trust_trustor", f"i{i}", (-10.0, 10.0), 0.0) for i in range(8)],
        "joy@1.0": [("trust_trustor", f"i{i}", (-10.0, 10.0), float(one)) for i, one in enumerate(moves)],
    }
    (cell,) = heatmap({"m": choices_of(table(rows))}, "1").cells
    assert cell.test == "signed rank"
    assert cell.p == pytest.approx(0.15625)
    assert cell.change == pytest.approx(19 / 8 / 20)
    # Ranks 4, 1.5, 5, 1.5, 6, 8, 3, 7 of which 7.5 are down: (28.5 - 7.5) / 36.
    assert cell.effect == pytest.approx(21 / 36)


def test_a_pair_that_lacks_either_answer_is_missing() -> None:
    rows: dict[str, list[Row]] = {
        "neutral": [("stag_hunt", item, UNIT, y) for item, y in zip("abcd", (None, 0.0, 0.0, None), strict=True)],
        "joy@1.0": [("stag_hunt", item, UNIT, y) for item, y in zip("abcd", (1.0, None, 1.0, None), strict=True)],
    }
    (cell,) = heatmap({"m": choices_of(table(rows))}, "1").cells
    assert (cell.missing, cell.pairs, cell.change) == (3, 1, 1.0)


def test_stars_come_after_correction_over_every_model_and_undefined_cells_are_marked() -> None:
    # Model a: 12 up of 12, p = 2 / 4096 = .000488; model b: 6 of 6, p = .03125; model c: no answer under joy.
    runs = {
        "a": choices_of(table(binary(12, 0, 0))),
        "b": choices_of(table(binary(6, 0, 3))),
        "c": choices_of(
            table({"neutral": [("stag_hunt", "i", UNIT, 1.0)], "joy@1.0": [("stag_hunt", "i", UNIT, None)]})
        ),
    }
    found = heatmap(runs, "1")
    first, second, third = found.cells
    # The family is the two tested cells: q = 2 · .000488 and .03125.
    assert (first.q, second.q) == pytest.approx((2 * 2 / 4096, 0.03125))
    assert (first.stars, second.stars) == ("***", "*")
    assert (third.p, third.q, third.text, third.missing) == (None, None, "n/a", 1)
    assert (found.tested, found.untested) == (2, 1)
    shown = heatmap_table(found, "1")
    assert shown.rows == (("a", "stag hunt", "+100.0***"), ("b", "stag hunt", "+66.7*"), ("c", "stag hunt", "n/a"))
    assert "n/a" in shown.note
    assert len(shift_table([found]).rows) == 3


def test_a_cell_that_a_run_was_not_asked_for_says_so() -> None:
    both = choices_of(world(lambda *_: 0.0, ["anger@1.0", "joy@1.0"], ["stag_hunt"], items=3))
    one = choices_of(world(lambda *_: 0.0, ["joy@1.0"], ["stag_hunt"], items=3))
    shown = heatmap_table(heatmap({"a": both, "b": one}, "1"), "1")
    assert shown.rows == (("a", "stag hunt", "0.0", "0.0"), ("b", "stag hunt", "not asked", "0.0"))
    assert "not asked: the run has no such condition (1 cells)." in shown.note


def test_nothing_moved_is_no_evidence_and_not_undefined() -> None:
    (cell,) = heatmap({"m": choices_of(table(binary(0, 0, 5)))}, "1").cells
    assert (cell.p, cell.text) == (1.0, "0.0")


def test_several_answers_to_an_item_are_no_independent_pairs() -> None:
    def answer(role: str, number: int, condition: str, repeat: int) -> float:
        return float(condition != "neutral")

    found = heatmap({"m": choices_of(world(answer, ["joy@1.0"], ["stag_hunt"], items=6, repeats=5))}, "1")
    # Six items, not 30 pairs: p = 2 / 2^6.
    assert (found.cells[0].test, found.cells[0].pairs) == ("signed rank", 6)
    assert found.cells[0].p == pytest.approx(2 / 64)
    assert found.cells[0].answers == 30
    note = heatmap_table(found, "1").note
    assert "McNemar" not in note
    assert "answered once" not in note


def test_items_weigh_alike_whatever_their_answers() -> None:
    # Item a moves in each of 3 repeats; b was read in one and does not move: (1 + 0) / 2, not 3 of 4.
    rows = [prediction("stag_hunt", item, "neutral", 0.0, repeat=r) for item in "ab" for r in range(3)]
    rows += [prediction("stag_hunt", "a", "joy@1.0", 1.0, repeat=r) for r in range(3)]
    rows += [prediction("stag_hunt", "b", "joy@1.0", 0.0 if r == 0 else None, repeat=r) for r in range(3)]
    (cell,) = heatmap({"m": choices_of(PredictionTable.from_rows(rows))}, "1").cells
    assert (cell.change, cell.pairs, cell.answers, cell.missing) == (0.5, 2, 4, 2)


def test_doses_are_maps_of_their_own() -> None:
    choices = choices_of(world(lambda *_: 0.0, ["joy@1.0", "joy@0.1:relative", "random@1.0:seed=0"], ["stag_hunt"]))
    assert doses(choices) == ("1", "0.1 relative")
    assert [len(heatmap({"m": choices}, dose).cells) for dose in doses(choices)] == [1, 1]


def test_an_agent_without_any_response_is_starred_as_often_as_chance_allows() -> None:
    """200 seeds: with no effect anywhere, the share of maps with any star keeps to the nominal level.

    BH under the global null has one star or more with probability .05 at most: at most 19 of 200 with probability .999.
    Signed-rank p-values of single cells keep their own level too.
    """
    limit = int(binom.ppf(0.999, 200, 0.05))
    starred = 0
    small = total = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)

        def answer(role: str, number: int, condition: str, repeat: int, rng: np.random.Generator = rng) -> float:
            return float(rng.integers(0, 2)) if ROLES[role].kind == "binary" else float(rng.integers(0, 11))

        found = heatmap(
            {"m": choices_of(world(answer, ["anger@1.0", "joy@1.0"], ["stag_hunt", "trust_trustor"], items=30))}, "1"
        )
        starred += any(cell.stars for cell in found.cells)
        # Each emotion against the same neutral answers: cells of a role are correlated, cells of two seeds are not.
        small += sum(cell.p is not None and cell.p < 0.05 for cell in found.cells[::2])
        total += len(found.cells[::2])
    assert starred <= limit
    assert small <= binom.ppf(0.999, total, 0.05)
