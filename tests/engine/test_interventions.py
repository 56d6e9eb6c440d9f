from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from tests.engine import architectures, reference

from affectlab.engine import NEUTRAL, Edit, Engine, Gate, GenerateRow, Generation, Intervention, ScoreRow
from affectlab.engine.edits import Edits
from affectlab.engine.interventions import check
from affectlab.errors import UserError

PROMPT = list(range(60, 71))
FULL = torch.ones(1, 1, dtype=torch.bool)
ROOM = [65504.0] * 30


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


def test_each_row_s_edits_keep_their_order_beside_another_row_s() -> None:
    """Both end with the projection taken out: the clamp's row after (3, 1), the adding row after (3, 7)."""
    v = np.array([0.0, 2.0], np.float32)
    some = [Intervention((Edit(0, v, kind, 1.5), Edit(0, v, "project_out"))) for kind in ("clamp", "add")]
    full = FULL.expand(2, 1)
    for pair in (some, some[::-1]):
        made = Edits(pair, lambda _layer: "cpu")
        found = made.apply(0, torch.tensor([[[3.0, 4.0]]] * 2), torch.tensor([0, 1]), full, full)
        assert found.tolist() == [[[3, 0]], [[3, 0]]]


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
        (Edit(3, np.ones(2, np.float32), "add", 70000), r"length 9.9e\+04 can pass .*there is room for 6.55e\+04"),
        (Edit(3, np.ones(2, np.float32), "multiply"), r"kind is 'multiply', not one of add"),  # type: ignore[arg-type]
    ],
)
def test_edits_that_do_not_fit_are_refused(one: Edit, message: str) -> None:
    """[7, 27]"""
    with pytest.raises(UserError, match=message):
        check([NEUTRAL, Intervention((one,))], 2, ROOM)
    with pytest.raises(UserError, match=r"^Intervention 1, layer"):
        check([NEUTRAL, Intervention((one,))], 2, ROOM)
    with pytest.raises(UserError, match=r"^anger@2, layer"):
        check([NEUTRAL, Intervention((one,), name="anger@2")], 2, ROOM)


def test_a_change_too_long_for_float32_is_only_to_be_made_smaller() -> None:
    largest = float(np.finfo(np.float32).max)
    with pytest.raises(UserError, match=r"room for 3\.4e\+38\. Use a smaller amount\.$"):
        check([Intervention((Edit(0, np.ones(2, np.float32), amount=largest),))], 2, [largest])


def positions(one: Intervention, out: list[list[float]]) -> list[list[float]]:
    """A layer's output at several positions, after an intervention that reads and edits that layer alone."""
    made = Edits([one], lambda _layer: "cpu")
    every = torch.ones(1, len(out), dtype=torch.bool)
    found = made.on(torch.tensor([0]), every, every)(0, torch.tensor([out], dtype=torch.float32))
    return [[float(number) for number in row] for row in found[0]]


def test_a_gate_leaves_the_positions_at_which_it_is_open() -> None:
    """[40]"""
    clamp = (Edit(0, np.array([2.0, 0.0], np.float32), "clamp", -1.0),)
    # The gate's vector is (0, 5): its direction (0, 1), so the projections of (3, 4), (3, 3.5) and (3, -9) are 4, 3.5
    # and -9. The clamp sets the first number to -1 where the gate is open; 4 itself is above.
    states = [[3.0, 4.0], [3.0, 3.5], [3.0, -9.0]]
    up = np.array([0.0, 5.0], np.float32)
    above, below = Gate(0, up, 4.0), Gate(0, up, 4.0, "below")
    assert positions(Intervention(clamp, "all", above), states) == [[-1, 4], [3, 3.5], [3, -9]]
    assert positions(Intervention(clamp, "all", below), states) == [[3, 4], [-1, 3.5], [-1, -9]]
    assert positions(Intervention(clamp, "generated", below), states) == states  # all three are of the prompt


def test_a_gate_reads_its_layer_as_it_was_before_the_edits() -> None:
    """[40] The first edit takes (0, 1) out; the gate, which asks for it, stays open for the second."""
    v, up = np.array([1.0, 0.0], np.float32), np.array([0.0, 1.0], np.float32)
    one = Intervention((Edit(0, up, "project_out"), Edit(0, v, amount=2.0)), "all", Gate(0, up, 1.0))
    assert positions(one, [[3.0, 4.0], [3.0, 0.5]]) == [[5, 0], [3, 0.5]]


def test_rows_of_a_batch_have_their_own_gates_and_a_lower_layer_may_be_read() -> None:
    """[40] Row 0 has a gate at layer 0, row 1 one at layer 1, row 2 none; layer 2 is edited."""
    v, up = np.array([1.0, 0.0], np.float32), np.array([0.0, 1.0], np.float32)
    edits = (Edit(2, v),)
    made = Edits(
        [
            Intervention(edits, "all", Gate(0, up, 1.0)),
            Intervention(edits, "all", Gate(1, up, 1.0)),
            Intervention(edits),
        ],
        lambda _layer: "cpu",
    )
    assert made.layers == {0, 1, 2}
    every = torch.ones(3, 2, dtype=torch.bool)
    change = made.on(torch.arange(3), every, every)
    first = torch.tensor([[[0.0, 2.0], [0.0, 0.0]]] * 3)
    second = torch.tensor([[[0.0, 0.0], [0.0, 2.0]]] * 3)
    assert torch.equal(change(0, first), first)
    assert torch.equal(change(1, second), second)
    # Open at position 0 for row 0, at position 1 for row 1, at both for row 2.
    assert change(2, torch.zeros(3, 2, 2))[..., 0].tolist() == [[1, 0], [0, 1], [1, 1]]


@pytest.mark.parametrize(
    ("gate", "message"),
    [
        (Gate(30, np.ones(2, np.float32), 0), r"gate at layer 30: the model has no such layer"),
        (Gate(4, np.ones(2, np.float32), 0), r"gate at layer 4: layer 3 is edited before it"),
        (Gate(3, np.ones(3, np.float32), 0), r"the vector has shape \(3,\)"),
        (Gate(3, np.zeros(2, np.float32), 0), r"a gate needs a direction"),
        (Gate(3, np.array([np.inf, 0], np.float32), 0), r"the vector is not finite"),
        (Gate(3, np.ones(2, np.float32), float("nan")), r"its threshold \(nan\) is not finite"),
        (Gate(3, np.ones(2, np.float32), 0, "beside"), r"side is 'beside', not one of above, below"),  # type: ignore[arg-type]
    ],
)
def test_gates_that_do_not_fit_are_refused(gate: Gate, message: str) -> None:
    """[40]"""
    edits = (Edit(3, np.ones(2, np.float32)), Edit(7, np.ones(2, np.float32)))
    with pytest.raises(UserError, match=message):
        check([Intervention(edits, "all", gate)], 2, ROOM)


@pytest.mark.parametrize("kind", ["add", "add_keep_norm", "project_out", "clamp"])
@pytest.mark.parametrize("how", ["all", "generated", "gate"])
def test_an_edit_is_made_on_the_device_of_its_layer(kind: Any, how: str) -> None:
    """[37] Layer 0 is on the processor and layer 1 on another device; rows and tokens are counted on the processor."""
    v = np.ones(2, np.float32)
    one = Intervention(
        (Edit(0, v, kind), Edit(1, v, kind)),
        "generated" if how == "generated" else "all",
        Gate(0, v, 0.0) if how == "gate" else None,
    )
    asked = []

    def device_of(layer: int) -> str:
        asked.append(layer)
        return ("cpu", "meta")[layer]

    made = Edits([NEUTRAL, one], device_of)
    assert set(asked) == {0, 1}
    for layer, steps in made._steps.items():
        for step in steps:
            tensors = (step.member, step.vectors, step.amounts, step.modes, step.delta)
            assert {one.device.type for one in tensors} == {device_of(layer)}
    every = torch.ones(3, 2, dtype=torch.bool)
    change = made.on(torch.tensor([0, 1, 1]), every, ~every)
    assert change(0, torch.zeros(3, 2, 2)).device.type == "cpu"
    moved = change(1, torch.zeros(3, 2, 2, device="meta"))
    assert (moved.device.type, moved.shape) == ("meta", (3, 2, 2))


def test_unknown_positions_and_no_interventions_are_refused() -> None:
    with pytest.raises(UserError, match="positions is 'first'"):
        check([Intervention((), "first")], 2, ROOM)  # type: ignore[arg-type]
    with pytest.raises(UserError, match="No interventions"):
        check([], 2, ROOM)


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


@pytest.fixture(scope="module")
def llama() -> Engine:
    return Engine(architectures.build("llama"))


@pytest.mark.parametrize("positions", ["all", "prompt", "generated"])
@pytest.mark.parametrize("kind", ["add", "add_keep_norm", "project_out", "clamp"])
@pytest.mark.parametrize("side", [None, "above", "below"])
def test_every_documented_option_does_something_of_its_own(llama: Engine, kind: Any, positions: Any, side: Any) -> None:
    """[11] Each kind at each of the positions, with and without a gate, is what the plain hook gives."""
    options = [[100], [101, 102], [101, 103]]
    v = np.random.default_rng(3).standard_normal(architectures.WIDTH).astype(np.float32)
    # In the middle of the prompt's projections: open at some positions, shut at others.
    states = reference.hidden(llama._stack.model, llama.layer_paths, PROMPT)[0].numpy()
    gate = None if side is None else Gate(0, v, float(np.median(states @ v) / np.linalg.norm(v)) + 1e-3, side)
    one = Intervention((Edit(1, v, kind, 0.7),), positions, gate)
    row = ScoreRow(PROMPT, options)
    ((_, _, found),) = llama.score([row], [one])
    plain = reference.scores(llama._stack.model, llama.layer_paths, PROMPT, options, one)
    assert np.abs(found - plain).max() < 1e-4
    ((_, _, base),) = llama.score([row])
    # An option of one token feeds nothing back, so that only longer ones are changed after the prompt.
    changed = np.abs(found - base) > 1e-4
    assert changed.tolist()[0] == (positions != "generated")
    assert gate is not None or changed[1:].all()
    if side is not None and positions == "all":
        ((_, _, open_everywhere),) = llama.score([row], [Intervention(one.edits)])
        assert np.abs(found - open_everywhere).max() > 1e-4
