from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from tests.engine import architectures

from affectlab.engine import NEUTRAL, Edit, Engine, EngineSettings, GenerateRow, Generation, Intervention, ScoreRow
from affectlab.engine.interventions import Edits, check
from affectlab.errors import UserError

PROMPT = list(range(60, 71))
FULL = torch.ones(1, 1, dtype=torch.bool)


def one_position(edits: list[Edit], out: list[float]) -> list[float]:
    """A layer's output at one position, after edits."""
    made = Edits([Intervention(tuple(edits))], lambda _layer: "cpu")
    found = made.apply(0, torch.tensor([[out]], dtype=torch.float32), torch.tensor([0]), FULL, FULL)
    return [float(number) for number in found[0, 0]]


def test_each_kind_does_what_is_written_by_hand() -> None:
    v = np.array([0.0, 2.0], np.float32)
    # h = (3, 4), |h| = 5, v = (0, 2), u = (0, 1), h.u = 4
    assert one_position([Edit(0, v, "add", 1.5)], [3, 4]) == [3, 7]
    # h + 4 v = (3, 12), |.| = sqrt(153); times 5 / sqrt(153)
    scale = 5 / 153**0.5
    assert one_position([Edit(0, v, "add_keep_norm", 4)], [3, 4]) == pytest.approx([3 * scale, 12 * scale])
    assert one_position([Edit(0, v, "project_out", 9)], [3, 4]) == [3, 0]
    assert one_position([Edit(0, v, "clamp", -2)], [3, 4]) == [3, -2]
    # In order: first to (3, 7), then the projection on (0, 1) out.
    assert one_position([Edit(0, v, "add", 1.5), Edit(0, v, "project_out")], [3, 4]) == [3, 0]
    assert one_position([Edit(0, v, "project_out"), Edit(0, v, "add", 1.5)], [3, 4]) == [3, 3]


def test_the_given_tensor_stays_as_it_is_and_its_type_is_kept() -> None:
    out = torch.randn(1, 1, 2).bfloat16()
    before = out.clone()
    for kind in ("add", "add_keep_norm", "project_out", "clamp"):
        edits = Edits([Intervention((Edit(0, np.ones(2, np.float32), kind),))], lambda _layer: "cpu")
        assert edits.apply(0, out, torch.tensor([0]), FULL, FULL).dtype == torch.bfloat16
        assert torch.equal(out, before)


@pytest.mark.parametrize(
    ("one", "message"),
    [
        (Edit(99, np.ones(2, np.float32)), r"layer 99: the model has no such layer; its 30 layers are 0 to 29"),
        (Edit(-1, np.ones(2, np.float32)), r"layer -1: the model has no such layer"),
        (Edit(3, np.ones(3, np.float32)), r"layer 3: the vector has shape \(3,\); this model's layers have width 2"),
        (Edit(3, np.array([1, np.nan], np.float32)), r"not finite"),
        (Edit(3, np.ones(2, np.float32), "add", float("inf")), r"not finite"),
        (Edit(3, np.zeros(2, np.float32), "clamp", 1), r"needs a direction"),
        (Edit(3, np.ones(2, np.float32), "add", 70000), r"beyond the largest number of the model's type \(6.55e\+04\)"),
        (Edit(3, np.ones(2, np.float32), "multiply"), r"kind is 'multiply', not one of add"),  # type: ignore[arg-type]
    ],
)
def test_edits_that_do_not_fit_are_refused(one: Edit, message: str) -> None:
    """[7, 27]"""
    with pytest.raises(UserError, match=message):
        check([NEUTRAL, Intervention((one,))], 30, 2, 65504.0)


def test_unknown_positions_and_no_interventions_are_refused() -> None:
    with pytest.raises(UserError, match="positions is 'first'"):
        check([Intervention((), "first")], 30, 2, 1e9)  # type: ignore[arg-type]
    with pytest.raises(UserError, match="No interventions"):
        check([], 30, 2, 1e9)


class Capture:
    """What a layer gave and what the next one took, call by call, with the number of tokens."""

    def __init__(self, model: Any, paths: tuple[str, ...], layer: int) -> None:
        self.given: list[Any] = []
        self.taken: list[Any] = []
        self._handles = [
            model.get_submodule(paths[layer]).register_forward_hook(lambda _m, _a, out: self.given.append(_main(out))),
            model.get_submodule(paths[layer + 1]).register_forward_pre_hook(
                lambda _m, args: self.taken.append(args[0])
            ),
        ]

    def deltas(self) -> Any:
        """Differences, ``[row, token, width]``, calls joined along the tokens."""
        for handle in self._handles:
            handle.remove()
        return torch.cat([took - gave for gave, took in zip(self.given, self.taken, strict=True)], dim=1)


def _main(out: Any) -> Any:
    return out[0] if isinstance(out, tuple) else out


@pytest.mark.parametrize("name", ["llama", "bloom", "gpt2", "mamba2", "qwen2_vl"])
@pytest.mark.parametrize(("positions", "first", "last"), [("all", 0, 15), ("prompt", 0, 11), ("generated", 11, 15)])
def test_the_change_is_the_vector_once_at_each_position_it_is_for(
    name: str, positions: Any, first: int, last: int
) -> None:
    """[20, 22, 29, 30, 42] 11 tokens of prompt and 5 new ones, of which the last is not fed back: 15 positions."""
    model = architectures.build(name)
    engine = Engine(model)
    v = np.random.default_rng(0).standard_normal(architectures.WIDTH).astype(np.float32)
    norms = []
    for amount in (1.0, 2.0):
        capture = Capture(model, engine.layer_paths, 1)
        one = Intervention((Edit(1, v, amount=amount),), positions)
        ((_, _, text),) = engine.generate([GenerateRow(PROMPT, Generation(5))], [one])
        assert len(text.ids) == 5
        delta = capture.deltas()
        assert delta.shape == (1, 15, architectures.WIDTH)
        inside = torch.zeros(15, dtype=torch.bool)
        inside[first:last] = True
        size = float(capture.taken[0].abs().max())
        assert (delta[0, inside] - amount * torch.from_numpy(v)).abs().max() < 1e-6 * max(1, size)
        assert not delta[0, ~inside].any()
        norms.append(float(delta.norm()))
    assert norms[1] == pytest.approx(2 * norms[0], rel=1e-4)


def test_identical_rows_change_identically() -> None:
    """[9]"""
    engine = Engine(architectures.build("llama"))
    v = np.ones(architectures.WIDTH, np.float32)
    found = dict.fromkeys(range(3), None) | {
        row: scores
        for row, _, scores in engine.score([ScoreRow(PROMPT, [[5], [6]])] * 3, [Intervention((Edit(1, v),))])
    }
    ((_, _, base),) = engine.score([ScoreRow(PROMPT, [[5], [6]])])
    assert np.array_equal(found[0], found[1])  # type: ignore[arg-type]
    assert np.array_equal(found[0], found[2])  # type: ignore[arg-type]
    assert np.abs(found[0] - base).max() > 0.1  # type: ignore[operator]


def test_a_planted_read_out_moves_by_what_is_computed_by_hand() -> None:
    """A model whose last layers and norm pass their input on, and whose head reads two directions."""
    model = architectures.build("llama")
    with torch.no_grad():
        for layer in model.model.layers[2:]:
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
        model.lm_head.weight.zero_()
        model.lm_head.weight[5, 0] = 0.7
        model.lm_head.weight[6, 1] = -0.4
    model.model.norm = torch.nn.Identity()
    engine = Engine(model)
    v = np.zeros(architectures.WIDTH, np.float32)
    v[0], v[1] = 2.0, 1.0
    rows = [ScoreRow(PROMPT, [[5], [6], [7]])]
    found = {
        number: scores for _, number, scores in engine.score(rows, [NEUTRAL, Intervention((Edit(2, v, "add", 3),))])
    }
    # Token 7's logit stays 0, so differences to it are logits: 5 moves by 0.7 x 3 x 2 = 4.2, 6 by -0.4 x 3 x 1 = -1.2.
    moved = (found[1] - found[1][2]) - (found[0] - found[0][2])
    assert moved == pytest.approx([4.2, -1.2, 0], abs=1e-5)


def test_two_engines_share_nothing() -> None:
    """[10]"""
    one, other = Engine(architectures.build("llama")), Engine(architectures.build("llama", seed=1))
    rows = [ScoreRow(PROMPT, [[5]])]
    v = np.ones(architectures.WIDTH, np.float32)
    ((_, _, before),) = other.score(rows)
    running = one.score(rows * 3, [Intervention((Edit(1, v),))])
    next(running)
    ((_, _, during),) = other.score(rows)
    assert np.array_equal(before, during)
    running.close()  # type: ignore[attr-defined]


def test_half_precision_refuses_what_overflows_it() -> None:
    """[27]"""
    engine = Engine(architectures.build("llama", dtype="float16"), settings=EngineSettings())
    v = np.full(architectures.WIDTH, 100, np.float32)
    with pytest.raises(UserError, match="beyond the largest number"):
        list(engine.score([ScoreRow(PROMPT, [[5]])], [Intervention((Edit(1, v, "add", 1000),))]))
