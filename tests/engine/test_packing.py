from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from tests.engine import architectures, reference

from affectlab.engine import NEUTRAL, Edit, Engine, Intervention, ScoreRow
from affectlab.engine.packing import Row, read_places, tree_mask
from affectlab.engine.prefixes import Node, forest, split
from affectlab.engine.stack import Pass, Stack


def family(*ends: int, deeper: bool = False) -> Node:
    """A node of three tokens after two others, with ends of some lengths."""
    (root,) = forest([(1, 2, 3, 4, 5, *[10 + n] * length) for n, length in enumerate(ends)], 2, pass_cost=0)
    node = split(root, 2).children[0]
    if deeper:
        node.children[0].children = [Node((6,), node.children[0].end)]
    return node


def test_a_row_holds_a_node_and_its_short_ends_in_order() -> None:
    row = Row.of(family(2, 1), packs=True)
    assert row.tokens == [3, 4, 5, 10, 10, 11]
    # Both ends come after the same five tokens.
    assert row.positions == [2, 3, 4, 5, 6, 5]
    assert row.owners == [0, 0, 0, 1, 1, 2]
    assert len(row) == 6


@pytest.mark.parametrize(
    ("node", "packs"),
    [(family(2, 1), False), (family(17, 1), True), (family(*[16] * 17), True), (family(2, 1, deeper=True), True)],
    ids=["not wanted", "an end of 17", "ends of 272", "what goes on"],
)
def test_what_is_not_packed_keeps_its_children_for_a_pass_of_their_own(node: Node, packs: bool) -> None:
    row = Row.of(node, packs=packs)
    assert row.ends == ()
    assert row.tokens == [3, 4, 5]


def test_ends_of_256_tokens_are_packed() -> None:
    assert len(Row.of(family(*[16] * 16), packs=True)) == 3 + 256


def test_a_token_sees_what_is_before_it_in_its_own_text() -> None:
    """Columns: padding and a token of what came before; the node's token, an end of two, an end of one, padding."""
    before = torch.tensor([[False, True]])
    real = torch.tensor([[True, True, True, True, False]])
    owners = torch.tensor([[0, 1, 1, 2, 0]])
    mask = tree_mask(before, real, owners, torch.float32)
    assert mask.shape == (1, 1, 5, 7)
    assert (mask == 0).int()[0, 0].tolist() == [
        [0, 1, 1, 0, 0, 0, 0],
        [0, 1, 1, 1, 0, 0, 0],
        [0, 1, 1, 1, 1, 0, 0],
        [0, 1, 1, 0, 0, 1, 0],
        [0, 1, 1, 0, 0, 0, 1],
    ]
    assert float(mask.min()) == torch.finfo(torch.float32).min
    assert torch.equal(tree_mask(None, real, owners, torch.float32), mask[..., 2:])


def test_places_that_are_read_count_from_each_piece_and_from_the_padding() -> None:
    rows = [Row.of(family(2, 1), packs=True), Row(Node((7, 8), 2))]
    last = [(0, 2), (0, 4), (0, 5)]  # of the node, of the end of two, of the end of one
    assert read_places(rows, lambda node: [len(node.tokens) - 1], 6, left=False) == [*last, (1, 1)]
    assert read_places(rows, lambda node: [len(node.tokens) - 1], 8, left=True) == [(0, 4), (0, 6), (0, 7), (1, 7)]


def worded_rows() -> list[ScoreRow]:
    """Two questions of different length on one text, and one of another text, all with options of several tokens."""
    tokens = np.random.default_rng(3).integers(60, 150, 200).tolist()
    options = [[100, 101, 102], [100, 103], [104, 105, 106, 107], [108]]
    prompts = [tokens[:30] + tokens[40:52], tokens[:30] + tokens[60:77], tokens[100:109]]
    return [ScoreRow(prompt, options) for prompt in prompts]


def edited() -> list[Intervention]:
    drawn = np.random.default_rng(4).standard_normal((2, architectures.WIDTH)).astype(np.float32)
    return [NEUTRAL, Intervention((Edit(1, drawn[0]),)), Intervention((Edit(2, drawn[1]),), "generated")]


def packed_passes(patch: pytest.MonkeyPatch) -> list[int]:
    """Fills up with the tokens of each row of a pass that holds packed ends."""
    found: list[int] = []
    run = Stack.run

    def seen(self: Stack, step: Pass) -> Any:
        if step.mask.dim() == 4:
            found.append(step.ids.shape[1])
        return run(self, step)

    patch.setattr(Stack, "run", seen)
    return found


def assert_exact(model: Any, engine: Engine, rows: list[ScoreRow]) -> None:
    for row, number, scores in engine.score(rows, edited()):
        one = rows[row]
        plain = reference.scores(model, engine.layer_paths, one.prompt, one.options, edited()[number])
        assert np.abs(scores - plain).max() < 1e-4


@pytest.mark.parametrize("name", ["llama", "gpt2", "phi3", "qwen2_vl", "gemma3_text", "mamba2", "bloom"])
def test_options_of_several_tokens_are_scored_in_the_row_of_their_question(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exact where it is used; not used where distances come from the mask, or with a short window or a state."""
    model = architectures.build(name)
    engine = Engine(model)
    assert engine.report.packing == (name in ("llama", "gpt2", "phi3", "qwen2_vl"))
    packed = packed_passes(monkeypatch)
    assert_exact(model, engine, worded_rows())
    assert bool(packed) == engine.report.packing


@pytest.mark.parametrize("name", ["mistral", "gemma2", "gemma3_text", "gpt_oss"])
def test_with_a_window_only_texts_that_cannot_outgrow_it_are_packed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The longest text is of 47 and 3 tokens; three pieces, each padded to that, fill the window of 150."""
    monkeypatch.setitem(architectures.TEXT, name, architectures.TEXT[name] | {"sliding_window": 150})
    model = architectures.build(name)
    engine = Engine(model)
    assert engine.report.packing
    packed = packed_passes(monkeypatch)
    assert_exact(model, engine, worded_rows())
    assert packed
    packed.clear()
    longer = ScoreRow([*worded_rows()[1].prompt, 99], worded_rows()[1].options)
    assert_exact(model, engine, [*worded_rows(), longer])
    assert not packed


def test_ends_that_see_each_other_are_found_at_load(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Stack.run

    def wrong(self: Stack, step: Pass) -> Any:
        if step.mask.dim() == 4:
            width = step.ids.shape[1]
            step.mask = step.mask.clone()
            step.mask[..., -width:] = torch.full((width, width), step.mask.min().item()).triu(1)
        return run(self, step)

    monkeypatch.setattr(Stack, "run", wrong)
    report = Engine(architectures.build("llama")).report
    assert (report.sharing, report.packing) == (True, False)
    assert any(note.startswith("packing: not used, log-probabilities differ") for note in report.notes)
