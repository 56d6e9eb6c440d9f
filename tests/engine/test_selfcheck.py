"""What goes wrong in a fast way is found at load: each fault here was put in by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from tests.engine import architectures

from affectlab.engine import Engine, GenerateRow
from affectlab.engine.memory import Past, Segment
from affectlab.engine.stack import Pass, Stack
from affectlab.engine.texts import probe_texts
from affectlab.errors import UserError


def pass_changed(change: Callable[[Pass], None]) -> Callable[[pytest.MonkeyPatch], None]:
    """A fault in what a pass is given."""

    def put_in(patch: pytest.MonkeyPatch) -> None:
        run = Stack.run

        def wrong(self: Stack, step: Pass) -> Any:
            change(step)
            return run(self, step)

        patch.setattr(Stack, "run", wrong)

    return put_in


def rows_of_the_entering_output_are_mixed_up(step: Pass) -> None:
    if step.entering is not None and len(step.entering) > 1:
        step.entering = step.entering.roll(1, 0)


def padding_is_attended_to(step: Pass) -> None:
    step.mask = torch.ones_like(step.mask)


def later_pieces_are_one_place_off(step: Pass) -> None:
    if step.cache is not None and step.mask.shape[1] > step.ids.shape[1] > 1:
        step.positions = step.positions + 1


def fed_tokens_are_one_place_off(step: Pass) -> None:
    if step.cache is not None and step.ids.shape[1] == 1 and len(step.ids) == 8:
        step.positions = step.positions + 1


def edits_are_those_of_the_next_row(step: Pass) -> None:
    change = step.change
    if change is not None and len(step.ids) > 1:
        step.change = lambda layer, out: change(layer, out.roll(1, 0)).roll(-1, 0)


def rows_of_what_came_before_are_mixed_up(patch: pytest.MonkeyPatch) -> None:
    rows = Segment.rows
    patch.setattr(Segment, "rows", lambda self, *how: rows(self, *how).flip(0))


def padding_before_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    mask = Past.mask

    def wrong(self: Past) -> Any:
        found = mask(self)
        return None if found is None else torch.ones_like(found)

    patch.setattr(Past, "mask", wrong)


ANY = ("llama", "bloom", "zamba2")
PLACED = ("llama", "gpt2", "qwen2_vl")  # the others take no positions

FAULTS: list[tuple[Any, str, tuple[str, ...]]] = [
    (pass_changed(rows_of_the_entering_output_are_mixed_up), "fork", ANY),
    (pass_changed(padding_is_attended_to), "batch", ANY),
    (pass_changed(edits_are_those_of_the_next_row), "batch", ANY),
    (rows_of_what_came_before_are_mixed_up, "sharing", ANY),
    (padding_before_is_forgotten, "sharing", ("llama", "bloom", "gemma3_text")),  # a state cannot be told of padding
    (pass_changed(later_pieces_are_one_place_off), "sharing", PLACED),
    (pass_changed(fed_tokens_are_one_place_off), "cache", PLACED),
]


@pytest.mark.parametrize(
    ("fault", "lost", "name"), [(fault, lost, name) for fault, lost, some in FAULTS for name in some]
)
def test_a_fault_is_found_at_load(fault: Any, lost: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fault(monkeypatch)
    engine = Engine(architectures.build(name))
    report = engine.report
    assert any(lost in note.partition(":")[0] and "differ by" in note for note in report.notes), report
    if lost == "batch":
        assert (report.sharing, report.fork) == (False, False)
    elif lost == "cache":
        assert (report.sharing, report.fork) == (True, True)
        with pytest.raises(UserError, match="cache does not give"):
            list(engine.generate([GenerateRow([60, 61])]))
    else:
        assert not getattr(report, lost)


@pytest.mark.parametrize("fault", [rows_of_what_came_before_are_mixed_up, padding_before_is_forgotten])
def test_half_precision_has_a_bar_of_its_own(fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where rounding alone passes, the same faults as in float32 do not."""
    model = architectures.build("llama", dtype="bfloat16")
    right = Engine(model).report
    assert (right.sharing, right.fork, right.exact) == (True, True, False)
    fault(monkeypatch)
    report = Engine(model).report
    assert not report.sharing
    assert any(note.startswith("sharing") and "differ by" in note for note in report.notes), report.notes


def test_the_probe_has_beginnings_and_texts_of_several_lengths() -> None:
    texts = probe_texts(211)
    assert [len(text) for text in texts] == [5, 4, 5, 6]
    assert texts[0][:2] == texts[1][:2]
    assert texts[2][:3] == texts[3][:3]
    assert len({text[-1] for text in texts} | {text[0] for text in texts}) == 6
    assert all(52 <= token < 158 for text in texts for token in text)


@pytest.mark.parametrize(("name", "most"), [("llama", 9), ("gpt2", 9), ("gemma3_text", 10), ("zamba2", 10)])
def test_the_check_costs_few_passes(name: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights are read once in each pass over all layers, and that is what a short pass costs.

    Two plain passes, the batch, two pieces, the fed tokens, the packed ends and what is before them; where a state or a
    window keeps the fed tokens from going through in the same walk as the pieces, those once more, and no ends.
    """
    model = architectures.build(name)
    layers = 0

    def count(*_: Any) -> None:
        nonlocal layers
        layers += 1

    for layer in Stack(model).layers:
        layer.register_forward_pre_hook(count)
    skipped = 0
    run = Stack.run

    def counted(self: Stack, step: Pass) -> Any:
        nonlocal skipped
        stop = len(self) if step.stop is None else step.stop
        skipped += len(self) - max(0, stop - step.first)
        return run(self, step)

    monkeypatch.setattr(Stack, "run", counted)
    engine = Engine(model)
    assert engine.report.sharing
    assert engine.report.fork
    assert (layers - skipped) / engine.n_layers <= most
