from __future__ import annotations

import pytest
from tests.benchmarks.decisions.worlds import Row, table, world

from affectlab.benchmarks.base import Scoring
from affectlab.benchmarks.decisions.references import FIGURES
from affectlab.benchmarks.decisions.scores import measures, score
from affectlab.metrics.predictions import PredictionTable
from affectlab.metrics.scores import Scores
from affectlab.stats.bootstrap import Interval

FEW = Interval(replicates=30)
UNIT = (0.0, 1.0)


def sheet(whole: PredictionTable, condition: str) -> Scores:
    return score(Scoring(whole, condition, "choice", FEW))


def headline(scores: Scores) -> dict[str, float | None]:
    return {one.name: one.value for one in scores.headline}


def test_focal_behaviour_weighs_roles_alike_and_the_parse_rate_counts_every_answer() -> None:
    # Stag hunt: 3 of 3 read choose it. Trustee: 0 and .5 of the range, one unread. (1 + .25) / 2; 5 of 7 read.
    rows: list[Row] = [("stag_hunt", f"s{n}", UNIT, y) for n, y in enumerate((1.0, 1.0, 1.0, None))]
    rows += [("trust_trustee", f"t{n}", (0.0, 10.0), y) for n, y in enumerate((0.0, 5.0, None))]
    found = measures(table({"neutral": rows}), "choice")
    assert found.value("focal_behaviour") == pytest.approx(0.625)
    assert found.value("focal_behaviour:trust_trustee") == pytest.approx(0.25)
    assert found.value("parse_rate") == pytest.approx(5 / 7)


def test_a_condition_without_an_emotion_has_no_aligned_figure() -> None:
    whole = world(
        lambda role, number, condition, repeat: float(condition != "neutral"),
        ["joy@1.0", "random@1.0:seed=0"],
        ["stag_hunt"],
        items=3,
    )
    assert headline(sheet(whole, "joy@1.0")) == {
        "focal_behaviour": 1.0, "parse_rate": 1.0, "ndm": 1.0, "nad": 1.0, "nad_directed": 1.0
    }  # fmt: skip
    random = sheet(whole, "random@1.0:seed=0")
    assert headline(random) == {"focal_behaviour": 1.0, "parse_rate": 1.0, "ndm": 1.0}
    assert random.table("drift").columns == ("role", "NDM")


def test_a_strength_of_zero_or_below_is_in_no_mean_and_is_named() -> None:
    # A model that follows joy (up in the stag hunt) and turns with its sign: 1 at +1, -1 at -1, nothing at 0.
    def follows(role: str, number: int, condition: str, repeat: int) -> float:
        return {"joy@1.0": 10.0, "joy@-1.0": 0.0}.get(condition, 5.0)

    whole = world(follows, ["joy@-1.0", "joy@0.0", "joy@1.0"], ["trust_trustor"], items=3)
    neutral = sheet(whole, "neutral")
    ndm, nad = neutral.table("drift").rows[-1][1:3]
    assert (getattr(ndm, "value", None), getattr(nad, "value", None)) == (0.5, 0.5)
    assert any(note.startswith("joy@-1.0, joy@0.0: ") and "in no mean" in note for note in neutral.notes)
    assert headline(sheet(whole, "joy@-1.0")) == {"focal_behaviour": 0.0, "parse_rate": 1.0, "ndm": 0.5}


def test_neutral_holds_what_the_paper_reports_of_a_run() -> None:
    # Trustors: joy up, anger down. Joy +.4, anger +.2; random +.1 and -.5.
    moves = {"joy@1.0": 0.4, "anger@1.0": 0.2, "random@1.0:seed=0": 0.1, "random@1.0:seed=1": -0.5}
    whole = world(lambda *at: 5 + 10 * moves.get(at[2], 0.0), moves, ["trust_trustor"], items=4)
    neutral = sheet(whole, "neutral")
    found = headline(neutral)
    expected = {
        "ndm": (0.4 + 0.2) / 2,
        "nad": (0.4 - 0.2) / 2,
        "ndm:emotion_minus_random": 0.3 - 0.3,
        "nad_directed": (0.4 - 0.2) / 2,
        "ndm:random": (0.1 + 0.5) / 2,
        # Each random vector is aligned with joy and with anger.
        "nad:random": 0.0,
    }
    run, one = neutral.split()
    assert run is not None
    assert [figure.name for figure in run.headline] == list(expected)
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-12)
    assert any("all its emotions, strengths and roles" in note for note in run.notes)
    assert {"drift", "against_controls", "shifts_1", "missing"} <= {table.id for table in run.tables}
    assert list(headline(one)) == ["focal_behaviour", "parse_rate"]
    assert [table.id for table in one.tables][:2] == ["by_role", "outcomes"]
    assert Scores.from_dict(neutral.to_dict()).of_run == neutral.of_run
    # They are the paper's names, so that its random vectors stand beside the run's.
    assert set(FIGURES) <= set(expected)
    alone = sheet(world(lambda *_: 1.0, [], ["stag_hunt"], items=3), "neutral")
    assert (alone.of_run, list(headline(alone))) == ((), ["focal_behaviour", "parse_rate"])
