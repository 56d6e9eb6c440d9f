"""Cases about what is wrong between fields and between splits: overlap, personal data, clashing labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from affectlab.errors import UserError
from affectlab.items.duplicates import count_kinds, leakage
from affectlab.items.personal import personal_columns
from affectlab.items.quality import outside, valence_clash
from affectlab.labels import Label, LabelSpace, fold, load

_BAD = {"flag", "invalid", "reject"}


def check(case: Mapping[str, Any]) -> str | None:
    """``None`` when our checks come to the case's right outcome, else what came out."""
    given, right = case["input"], case["right_outcome"]
    if {"train", "test"} <= set(given):
        return _overlap(given, right)
    if "columns" in given:
        found = personal_columns(given["columns"])
        return _flagged(bool(found), right, found)
    if "allowed" in given:
        space = _space(given["allowed"])
        found = outside([value for name, value in given.items() if name != "allowed"], space)
        return _flagged(bool(found), right, found)
    pairs = [(given[side + "_polarity"], given[side + "_emotion"]) for side in _sides(given)]
    if pairs:
        try:
            clashes = [pair for pair in pairs if valence_clash(*pair, load("cue_plutchik9"))]
        except UserError as error:
            return _flagged(True, right, str(error))
        return _flagged(bool(clashes), right, clashes)
    if {"explicit_polarity", "implicit_polarity", "affective_stance"} <= set(given):
        stances = load("cue_stance9")
        polarity = load("cue_polarity3")
        composed = stances.compose(*(polarity.require(given[s + "_polarity"]) for s in ("explicit", "implicit")))
        return _flagged(composed != stances.resolve(given["affective_stance"]), right, composed)
    return f"unknown shape: input {sorted(given)}"


def _sides(given: Mapping[str, Any]) -> list[str]:
    return [s for s in ("explicit", "implicit") if {s + "_polarity", s + "_emotion"} <= set(given)]


def _flagged(found: bool, right: Mapping[str, Any], what: object) -> str | None:
    if "status" not in right:
        return f"unknown shape: right outcome {sorted(right)}"
    return None if found == (right["status"] in _BAD) else f"expected {right['status']}, found {what!r}"


def _overlap(given: Mapping[str, Any], right: Mapping[str, Any]) -> str | None:
    train, test = ({str(i): text for i, text in enumerate(given[side])} for side in ("train", "test"))
    counts = count_kinds(leakage(train, test))
    found = {"exact_overlap": counts["exact"], "normalised_overlap": counts["normalised"]}
    expected = {key: right.get("value", {}).get(key) for key in found}
    return None if found == expected else f"found {found}, right is {expected}"


def _space(allowed: list[str]) -> LabelSpace:
    labels = tuple(Label(id=fold(name).replace(" ", "_"), names={"en": name}) for name in allowed)
    return LabelSpace("allowed", "Labels of the case", "1", "the case", labels)
