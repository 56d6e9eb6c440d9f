from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import false_discovery_control
from tests.benchmarks.emoscene.worlds import evidence, prior

from affectlab.benchmarks.base import Scoring
from affectlab.benchmarks.emoscene.answers import SLOTS
from affectlab.benchmarks.emoscene.crossfit import Evidence
from affectlab.benchmarks.emoscene.prior_file import read_prior, write_prior
from affectlab.benchmarks.emoscene.scores import score
from affectlab.errors import UserError
from affectlab.metrics.predictions import Prediction, PredictionTable
from affectlab.metrics.scores import Scores
from affectlab.stats.bootstrap import Interval
from affectlab.stats.estimate import Estimate

SAMPLE = files("affectlab.benchmarks.emoscene") / "sample.jsonl"


def asked(world: Evidence, *, with_odds: bool = True, extra: Mapping[str, Any] | None = None) -> list[Prediction]:
    """What a model with this evidence answers at threshold ½."""
    return [
        Prediction(
            item=f"s{number}",
            cluster=f"s{number}",
            slot=slot,
            outcome="ok",
            value="present" if odds > 0 else "absent",
            gold="present" if there else "absent",
            detail={**({"log_odds": float(odds)} if with_odds else {}), **(extra or {})},
        )
        for number, (row, gold) in enumerate(zip(world.odds, world.gold, strict=True))
        for slot, odds, there in zip(SLOTS, row, gold, strict=True)
    ]


def sheet(rows: Sequence[Prediction], replicates: int = 40, protocol: str = "yes_no", **options: str) -> Scores:
    table = PredictionTable.from_rows(rows)
    return score(Scoring(table, "neutral", protocol, Interval(replicates=replicates), (), rows, options))


def difference(scores: Scores, row: int = 0, column: str = "difference") -> Estimate:
    table = scores.table("entanglement")
    cell = table.rows[row][table.columns.index(column)]
    assert isinstance(cell, Estimate)
    return cell


ENTANGLED = sheet(asked(evidence(240, 0, entangled=True)), 40)


def test_entangled_emotions_gain_and_both_intervals_lie_above_zero() -> None:
    for column in ("difference", "difference, fitted again"):
        for row in (0, 2):  # macro-F1 with tuned thresholds, exact match of the most probable combination
            found = difference(ENTANGLED, row, column)
            assert found.low is not None
            assert found.low > 0, (row, column)
        hamming = difference(ENTANGLED, 3, column)
        assert hamming.high is not None
        assert hamming.high < 0


def test_where_folds_find_no_coupling_nothing_changes_at_all() -> None:
    scores = sheet(asked(evidence(240, 0, entangled=False)), 3)
    assert any("strength (by fold 0, 0, 0, 0, 0)" in note for note in scores.notes)
    found = difference(scores)
    assert (found.value, found.low) == (0.0, None)


def test_p_values_are_corrected_over_the_table() -> None:
    table = ENTANGLED.table("entanglement")
    p, adjusted = ([row[table.columns.index(name)] for row in table.rows] for name in ("p", "p adjusted"))
    assert len(p) == 4
    assert adjusted == pytest.approx(false_discovery_control(p))


def test_emotions_in_another_order_gain_nothing() -> None:
    """Each emotion shuffled over scenarios on its own, its evidence with it: the same marginals, nothing together."""
    world = evidence(240, 0, entangled=True)
    rng = np.random.default_rng(0)
    odds, gold = world.odds.copy(), world.gold.copy()
    for emotion in range(8):
        order = rng.permutation(len(gold))
        odds[:, emotion], gold[:, emotion] = odds[order, emotion], gold[order, emotion]
    found = difference(sheet(asked(Evidence(odds, gold, world.fold, world.cluster)), 20))
    assert found.low is not None
    assert found.high is not None
    assert found.low <= 0 <= found.high


def test_answers_alone_are_evidence_too() -> None:
    scores = sheet(asked(evidence(240, 0, entangled=True), with_odds=False), 5, "list")
    assert any("rests on the eight answers" in note for note in scores.notes)
    found = difference(scores)
    assert found.value is not None
    assert found.value > 0
    assert [table.id for table in scores.tables if table.id == "calibration"] == []


def test_as_answered_is_the_headline() -> None:
    decisions = ENTANGLED.table("decisions")
    assert decisions.rows[0][2:] == ENTANGLED.headline[:-1]
    assert decisions.rows[0][:2] == ("as answered", "½")
    assert len(decisions.rows) == 7


def test_perfect_and_uninformative_models() -> None:
    world = evidence(60, 2, entangled=True)
    perfect = sheet(asked(Evidence(np.where(world.gold, 9.0, -9.0), world.gold, world.fold, world.cluster)), 20)
    for row in perfect.table("decisions").rows:
        assert [cell.value for cell in row[2:-1] if isinstance(cell, Estimate)] == [1.0] * 6, row[0]
    calibration = perfect.table("calibration").rows[0]
    assert calibration[3].value == pytest.approx(1 / (1 + np.exp(9)))  # type: ignore[union-attr]
    assert calibration[5].value is None  # type: ignore[union-attr]  # no wrong answer to tell from right ones
    same = sheet(asked(Evidence(np.full(world.odds.shape, 0.3), world.gold, world.fold, world.cluster)), 20)
    assert same.figure("macro_recall").value == 1.0
    shares = world.gold.mean(axis=0)
    assert same.figure("macro_f1").value == pytest.approx((2 * shares / (1 + shares)).mean())


def test_calibration_by_hand() -> None:
    # p(Yes) = .75 throughout; 2 of 16 are there. ECE .75 - .125; Brier (2 * .0625 + 14 * .5625) / 16.
    gold = np.zeros((2, 8), dtype=bool)
    gold[:, 0] = True
    world = Evidence(np.full((2, 8), np.log(3.0)), gold, np.zeros(2, dtype=int), np.arange(2))
    scores = sheet(asked(world), 10)
    (row,) = scores.table("calibration").rows
    assert row[:3] == ("p(Yes)", 16, 0)
    assert row[3].value == pytest.approx(0.625)  # type: ignore[union-attr]
    assert row[4].value == pytest.approx((2 * 0.0625 + 14 * 0.5625) / 16)  # type: ignore[union-attr]
    assert row[5].value == pytest.approx(0.5)  # type: ignore[union-attr]  # equal confidence in right and wrong
    bins = scores.table("reliability_p").rows
    assert bins[7][1:] == pytest.approx((16, 0.75, 0.125, 0.625))
    assert sum(row[1] for row in bins) == 16  # type: ignore[misc]


def test_confidence_in_a_no_is_the_probability_of_no() -> None:
    # p(Yes) .9 and .1 are right, .6 and .4 wrong: confidence .9 .9 against .6 .6, in order throughout. The other four
    # emotions are right at .9 too.
    p = np.array([[0.9, 0.1, 0.6, 0.4, 0.1, 0.1, 0.1, 0.1]])
    gold = np.array([[True, False, False, True, False, False, False, False]])
    world = Evidence(np.log(p / (1 - p)), gold, np.zeros(1, dtype=int), np.arange(1))
    (row,) = sheet(asked(world), 5).table("calibration").rows
    assert row[5].value == 1.0  # type: ignore[union-attr]


def test_a_confidence_that_cannot_be_read_is_counted() -> None:
    world = evidence(3, 1, entangled=True)
    rows = asked(world, with_odds=False, extra={"confidence": 0.8})
    rows[0] = replace(rows[0], detail={"confidence": None})
    (row,) = sheet(rows, 5, "yes_no_text", confidence="yes").table("calibration").rows
    assert row[:3] == ("stated confidence", 23, 1)


def test_the_more_frequent_answer_is_no_where_both_are_as_frequent() -> None:
    gold = np.zeros((2, 8), dtype=bool)
    gold[0, 0] = True
    gold[:, 1] = True
    world = Evidence(np.full((2, 8), -1.0), gold, np.zeros(2, dtype=int), np.arange(2))
    found = {row[0]: row[1] for row in sheet(asked(world), 5).table("baselines").rows}
    assert found["the more frequent answer"] == pytest.approx(1 / 8)  # trust alone
    assert found["always yes"] == pytest.approx((2 / 3 + 1) / 8)


def test_stated_confidence_is_held_against_right_answers() -> None:
    world = evidence(30, 1, entangled=True)
    rows = asked(world, with_odds=False, extra={"confidence": 0.8})
    scores = sheet(rows, 10, "yes_no_text", confidence="yes")
    right = float(np.mean((world.odds > 0) == world.gold))
    (row,) = scores.table("calibration").rows
    assert row[:3] == ("stated confidence", 240, 0)
    assert row[3].value == pytest.approx(abs(0.8 - right))  # type: ignore[union-attr]
    of_lists = sheet(rows, 10, "list", confidence="yes").table("calibration").rows[0]
    whole = float(np.mean(((world.odds > 0) == world.gold).all(axis=1)))
    assert of_lists[1] == 30
    assert of_lists[3].value == pytest.approx(abs(0.8 - whole))  # type: ignore[union-attr]


def test_confidence_and_explanations_that_were_asked_for_and_never_read_are_said() -> None:
    world = evidence(3, 1, entangled=True)
    rows = asked(world, with_odds=False, extra={"confidence": None, "explanation": None})
    rows[0] = replace(rows[0], detail={"confidence": None, "explanation": "She is alone."})
    scores = sheet(rows, 5, "yes_no_text", confidence="yes", explain="yes")
    (row,) = scores.table("calibration").rows
    assert row[:3] == ("stated confidence", 0, 24)
    assert [(cell.value, cell.reason) for cell in row[3:] if isinstance(cell, Estimate)] == [
        (None, "none could be read")
    ] * 3
    assert scores.table("beside").rows == (("confidence", 24, 0, 0.0), ("explanation", 24, 1, 1 / 24))
    assert "Confidence was asked for in 24 replies and could be read in 0." in scores.notes
    assert "Explanation was asked for in 24 replies and could be read in 1." in scores.notes
    # One reply of list holds eight answers; a follow-up that has no reply yet (no field) is not missing.
    assert sheet(rows, 5, "list", confidence="YES").table("beside").rows == (("confidence", 3, 0, 0.0),)
    later = [replace(row, detail={}) for row in rows[8:]]
    assert sheet(rows[:8] + later, 5, "yes_no", confidence="yes").table("calibration").rows[0][:3] == (
        "stated confidence",
        0,
        8,
    )


def test_empty_sets_that_agree_are_counted() -> None:
    # Gold: none, none, joy; said: none, joy, none. One of the two without gold is answered with none.
    gold, odds = np.zeros((3, 8), dtype=bool), np.full((3, 8), -1.0)
    gold[2, 0] = True
    odds[1, 0] = 1.0
    scores = sheet(asked(Evidence(odds, gold, np.zeros(3, dtype=int), np.arange(3))), 5)
    said = "2 of 3 scenarios hold no emotion, 2 are answered with none, 1 both: these 1 count as 1 in"
    assert any(note.startswith(said) for note in scores.notes)


def test_poorly_read_replies_are_said_as_in_every_benchmark() -> None:
    # 5 of 24 answers unread: 79.2 %; 2 of 24: 91.7 %, no word.
    rows = asked(evidence(3, 1, entangled=True), with_odds=False)
    for bad, words in ((5, ["79.2 % of answers could be read"]), (2, [])):
        unread = [replace(row, outcome="unparseable", value=None) for row in rows[:bad]]
        notes = sheet(unread + rows[bad:], 5, "yes_no_text").notes
        assert [note.split(":")[0] for note in notes if "could be read" in note] == words


def test_a_gain_of_thresholds_alone_is_named() -> None:
    """Constant evidence: tuned thresholds say yes to everything, which is the baseline and no understanding."""
    world = evidence(60, 2, entangled=True)
    scores = sheet(asked(Evidence(np.full(world.odds.shape, -1.0), world.gold, world.fold, world.cluster)), 5)
    assert any("A yes to every question has a macro-F1 of" in note for note in scores.notes)
    assert not any("A yes to every question" in note for note in ENTANGLED.notes)
    controls = [[row[1] for row in scores.table(name).rows] for name in ("entanglement", "processing")]
    assert controls == [
        ["independent, tuned", "independent, ½", "independent, ½", "independent, ½"],
        ["as answered, ½", "as answered, ½"],
    ]


def test_cooccurrence_counts_by_hand() -> None:
    gold = np.zeros((2, 8), dtype=bool)
    gold[0, [0, 1]] = gold[1, 0] = True
    world = Evidence(np.where(gold[:, ::-1], 1.0, -1.0), gold, np.zeros(2, dtype=int), np.arange(2))
    truth, answer = sheet(asked(world), 10).matrices
    assert truth.values[0][:3] == (2.0, 1.0, 0.0)
    assert truth.values[1][:3] == (1.0, 1.0, 0.0)
    assert answer.values[7][5:] == (0.0, 1.0, 2.0)


def test_too_few_scenarios_get_no_joint_inference_and_a_reason() -> None:
    scores = sheet(asked(evidence(19, 1, entangled=True)), 10)
    assert "entanglement" not in [table.id for table in scores.tables]
    assert any("19 independent scenarios" in note for note in scores.notes)


def test_a_prior_from_elsewhere_fits_nothing(tmp_path: Path) -> None:
    path = tmp_path / "prior.json"
    write_prior(path, prior(entangled=True))
    read = read_prior(str(path))
    assert read.parameters == pytest.approx(prior(entangled=True).parameters)
    rows = asked(evidence(40, 3, entangled=True))
    scores = sheet(rows, 20, prior=str(path))
    # Gold turned round changes no answer: none was used.
    turned = [Prediction(**{**_fields(row), "gold": "absent"}) for row in rows]
    matrices = [one.matrices[1] for one in (scores, sheet(turned, 20, prior=str(path)))]
    assert matrices[0] == matrices[1]
    assert [row[:2] for row in scores.table("decisions").rows] == [
        ("as answered", "½"),
        ("independent", "½"),
        ("joint", "½"),
        ("joint", "most probable"),
    ]
    assert [row[:3] for row in scores.table("entanglement").rows] == [
        ("joint, ½", "independent, ½", "macro_f1"),
        ("joint, most probable", "independent, ½", "exact_match"),
        ("joint, ½", "independent, ½", "hamming_loss"),
    ]
    assert [row[:3] for row in scores.table("processing").rows] == [("joint, ½", "as answered, ½", "macro_f1")]
    assert "joint:prior " in scores.signature


def _fields(row: Prediction) -> dict[str, Any]:
    return {name: getattr(row, name) for name in Prediction.__dataclass_fields__}


def test_a_prior_can_be_learned_from_scenarios() -> None:
    fitted = read_prior(str(SAMPLE))
    # 16 of 60 have joy
    assert fitted.marginals[0, 0] == pytest.approx(16.5 / 61)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"h": [0], "J": [[0]], "labels": []}', "its labels must be"),
        (json.dumps({"labels": list(SLOTS), "h": [0] * 8, "J": [[0] * 8] * 7}), "eight times eight"),
        (json.dumps({"labels": list(SLOTS), "h": ["x"] * 8, "J": [[0] * 8] * 8}), "eight finite numbers"),
        (json.dumps({"labels": list(SLOTS), "h": [0] * 8, "J": [[0, 1, *[0] * 6], *[[0] * 8] * 7]}), "symmetric"),
        ('{"id": "1", "text": "t", "labels": ["joy"]}', "holds 1 independent scenarios with gold; a prior needs 20"),
    ],
)
def test_a_prior_that_is_none_is_refused(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / ("prior.jsonl" if "text" in content else "prior.json")
    path.write_text(content + "\n", encoding="utf-8")
    with pytest.raises(UserError, match=said):
        read_prior(str(path))


def test_predictions_without_their_detail_are_scored_without_joint_inference() -> None:
    table = PredictionTable.from_rows(asked(evidence(30, 1, entangled=True)))
    scores = score(Scoring(table, "neutral", "yes_no", Interval(replicates=10)))
    assert scores.figure("macro_f1").value is not None
    assert any("No joint inference and no calibration" in note for note in scores.notes)


def test_scoring_twice_gives_the_same_sheet() -> None:
    rows = asked(evidence(40, 8, entangled=True))
    assert sheet(rows, 10) == sheet(rows[::-1], 10)
