from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.benchmarks.decisions.worlds import prediction

from affectlab.benchmarks.base import Scoring
from affectlab.benchmarks.decisions.letters import without_letters
from affectlab.benchmarks.decisions.scores import score
from affectlab.items import Item
from affectlab.metrics.predictions import Prediction, PredictionTable
from affectlab.metrics.scores import Scores
from affectlab.stats.bootstrap import Interval

FEW = Interval(replicates=50)


def _item(n: int) -> Item:
    options = [{"text": "hare", "value": 0.0}, {"text": "stag", "value": 1.0}]
    slices = {"role": "stag_hunt", "game": "stag_hunt"}
    return Item(
        id=f"s{n}", index=n, inputs={"scenario": "", "options": options}, gold={}, slices=slices, cluster=f"s{n}"
    )


ITEMS = [_item(n) for n in range(8)]


def _answers(condition: str, first: float, stag: list[float]) -> list[Prediction]:
    """Stag stands first on even items. Its log-odds are ``stag``; the first place has ``first`` more."""
    made = []
    for n, odds in enumerate(stag):
        shown: dict[str, Any] = {"stag": odds, "hare": 0.0} if n % 2 == 0 else {"hare": 0.0, "stag": odds}
        shown = {text: value + (first if place == 0 else 0.0) for place, (text, value) in enumerate(shown.items())}
        best = max(shown, key=lambda text: shown[text])
        one = prediction("stag_hunt", f"s{n}", condition, float(best == "stag"))
        made.append(replace(one, position=list(shown).index(best), detail={"option": best, "logprobs": shown}))
    return made


def _sheet(*answers: list[Prediction]) -> Scores:
    rows = [one for some in answers for one in some]
    return score(Scoring(PredictionTable.from_rows(rows), "neutral", "likelihood", FEW, ITEMS, rows))


NEUTRAL = [1.0, 1.0, -1.0, -1.0, 1.0, 1.0, -1.0, -1.0]


def test_a_vector_that_only_pushes_a_letter_moves_nothing_once_the_letter_is_taken_off() -> None:
    pushed = _answers("anger@1.0", 5.0, NEUTRAL)
    assert [one.position for one in pushed] == [0] * 8
    table = _sheet(_answers("neutral", 0.0, NEUTRAL), pushed).table("letters")
    figures = {row[0]: [getattr(cell, "value", None) for cell in row[1:]] for row in table.rows}
    # All at the first place: stag on even items. Neutral: stag on 0, 1, 4, 5. They differ on 1, 2, 5, 6.
    assert figures["ndm"] == [0.5, 0.0]


def test_a_vector_that_changes_minds_keeps_its_moves() -> None:
    turned = [-value for value in NEUTRAL]
    table = _sheet(_answers("neutral", 0.0, NEUTRAL), _answers("anger@1.0", 5.0, turned)).table("letters")
    figures = {row[0]: [getattr(cell, "value", None) for cell in row[1:]] for row in table.rows}
    assert figures["ndm"] == [0.5, 1.0]


def test_what_cannot_be_taken_off_is_left_out_and_counted() -> None:
    neutral, anger = _answers("neutral", 0.0, NEUTRAL), _answers("anger@1.0", 5.0, NEUTRAL)
    anger[0] = replace(anger[0], detail={})
    assert len(without_letters([*neutral, *anger], ITEMS)) == 15
    table = _sheet(neutral, anger).table("letters")
    assert table.note.endswith("1 of 16 answers are left out on the right.")
    # Three decisions are too few to know a letter by.
    assert without_letters(neutral[:3], ITEMS) == []


def test_answers_in_words_have_no_such_table() -> None:
    plain = [replace(one, detail={}) for one in _answers("neutral", 0.0, NEUTRAL)]
    plain += [replace(one, detail={}) for one in _answers("anger@1.0", 5.0, NEUTRAL)]
    with pytest.raises(KeyError):
        _sheet(plain).table("letters")
