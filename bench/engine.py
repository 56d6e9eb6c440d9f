"""The engine beside loops that a careful user would write on transformers, and beside the arithmetic bound.

Run by hand: ``python bench/engine.py [--prompts 8] [--conditions 24] [--threads 1]``. Both sides run in this process on
SmolLM2 in float32 with the same threads; each line gives CPU seconds of both, their ratio and the largest difference of
the results. CPU time, because the machine may be shared.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
import torch

from affectlab.engine import NEUTRAL, Edit, Engine, GenerateRow, Generation, Intervention, ScoreRow
from affectlab.models.loading import load_embedded
from affectlab.models.settings import ModelSettings

SHARED, OWN, CHOICES = 90, 100, (100, 200, 300, 400, 500)


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    began = time.process_time()
    found = run()
    return time.process_time() - began, found


def steered(model: Any, one: Intervention) -> list[Any]:
    """Plain hooks for one condition."""
    handles = []
    for edit in one.edits:
        delta = edit.amount * torch.from_numpy(edit.vector)
        handles.append(model.model.layers[edit.layer].register_forward_hook(lambda _m, _a, out, d=delta: out + d))
    return handles


def loop(model: Any, prompts: Sequence[list[int]], some: Sequence[Intervention]) -> np.ndarray:
    """All prompts in one batch, last logits only, one condition at a time: ``[condition, prompt, choice]``."""
    found = []
    with torch.inference_mode():
        for one in some:
            handles = steered(model, one)
            logits = model(input_ids=torch.tensor(prompts), logits_to_keep=1, use_cache=False).logits[:, -1]
            found.append(logits.log_softmax(-1)[:, list(CHOICES)].numpy())
            for handle in handles:
                handle.remove()
    return np.stack(found)


def engine_scores(engine: Engine, rows: Sequence[ScoreRow], some: Sequence[Intervention]) -> np.ndarray:
    found = np.zeros((len(some), len(rows), len(rows[0].options)))
    for row, number, scores in engine.score(rows, some):
        found[number, row] = scores
    return found


def worded(model: Any, rows: Sequence[ScoreRow]) -> np.ndarray:
    """Every option behind its whole prompt, the options of a row in one right-padded batch."""
    found = np.zeros((1, len(rows), len(rows[0].options)))
    with torch.inference_mode():
        for number, row in enumerate(rows):
            texts = [[*row.prompt, *option] for option in row.options]
            width = max(map(len, texts))
            ids = torch.tensor([text + [0] * (width - len(text)) for text in texts])
            keep = width - len(row.prompt) + 1
            logprobs = model(input_ids=ids, logits_to_keep=keep, use_cache=False).logits.log_softmax(-1)
            for place, option in enumerate(row.options):
                found[0, number, place] = sum(float(logprobs[place, n, token]) for n, token in enumerate(option))
    return found


def generated(model: Any, prompts: Sequence[list[int]], some: Sequence[Intervention], length: int) -> list[Any]:
    found = []
    for one in some:
        handles = steered(model, one)
        ids = torch.tensor(prompts)
        out = model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=length,
            do_sample=False,
            min_new_tokens=length,
            pad_token_id=0,
        )
        found.append(out[:, ids.shape[1] :].tolist())
        for handle in handles:
            handle.remove()
    return found


def gemm_rate(tokens: int = 2048, width: int = 576, inner: int = 1536) -> float:
    """Multiply-adds a CPU second of the model's largest product."""
    left, right = torch.randn(tokens, width), torch.randn(width, inner)
    left @ right
    seconds, _ = timed(lambda: [left @ right for _ in range(20)])
    return 20 * tokens * width * inner / seconds


def line(what: str, ours: float, theirs: float, gap: float) -> None:
    print(
        f"{what:58} ours {ours:7.1f} s  loop {theirs:7.1f} s  ratio {theirs / ours:5.2f}  difference {gap:.1e}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prompts", type=int, default=8)
    parser.add_argument("--conditions", type=int, default=24)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--new-tokens", type=int, default=16)
    how = parser.parse_args()
    torch.set_num_threads(how.threads)
    print(f"torch {version('torch')}, transformers {version('transformers')}, {how}")
    model = load_embedded("smollm2", ModelSettings(threads=how.threads)).model
    seconds, engine = timed(lambda: Engine(model))
    print(f"load check {seconds:.1f} s CPU; {engine.report}")
    weights = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    draw = np.random.default_rng(0)
    tokens = draw.integers(1000, 40000, (how.prompts, OWN)).tolist()
    shared = draw.integers(1000, 40000, SHARED).tolist()
    prompts = [shared + own for own in tokens]
    third = range(engine.n_layers // 3, 2 * engine.n_layers // 3)

    def emotion() -> Intervention:
        made = (draw.standard_normal(engine.width).astype(np.float32) for _ in third)
        return Intervention(tuple(Edit(layer, v, amount=5.0) for layer, v in zip(third, made, strict=True)))

    some = [NEUTRAL, *(emotion() for _ in range(how.conditions))]
    rows = [ScoreRow(prompt, [[choice] for choice in CHOICES]) for prompt in prompts]

    ours, found = timed(lambda: engine_scores(engine, rows, some))
    theirs, plain = timed(lambda: loop(model, prompts, some))
    line(f"{how.prompts} prompts x {len(some)} conditions, last logits", ours, theirs, np.abs(found - plain).max())
    body = sum(
        weight.numel() for name, weight in model.named_parameters() if "embed" not in name and "head" not in name
    )
    below = (third.start + 1) / engine.n_layers
    lanes = below + (1 - below) * len(some)
    needed = body * lanes * (SHARED + OWN * how.prompts)
    needed += len(some) * how.prompts * engine.width * model.config.vocab_size
    print(f"{'':58} {needed / gemm_rate() / ours:.2f} of the arithmetic bound")

    neutral_ours, found = timed(lambda: engine_scores(engine, rows, [NEUTRAL]))
    neutral_theirs, plain = timed(lambda: loop(model, prompts, [NEUTRAL]))
    line(f"{how.prompts} prompts, neutral", neutral_ours, neutral_theirs, np.abs(found - plain).max())

    story = draw.integers(1000, 40000, 200).tolist()
    options = [draw.integers(1000, 40000, 4).tolist() for _ in range(7)]
    asked = [ScoreRow(story + draw.integers(1000, 40000, 30).tolist(), options) for _ in range(8)]
    ours, found = timed(lambda: engine_scores(engine, asked, [NEUTRAL]))
    theirs, plain = timed(lambda: worded(model, asked))
    line("one story, 8 questions, 7 worded options", ours, theirs, np.abs(found - plain).max())

    few = some[:5]
    going = [GenerateRow(prompt, Generation(how.new_tokens)) for prompt in prompts]
    ours, texts = timed(lambda: {(row, number): text.ids for row, number, text in engine.generate(going, few)})
    theirs, told = timed(lambda: generated(model, prompts, few, how.new_tokens))
    same = sum(list(ids) == told[number][row] for (row, number), ids in texts.items())
    line(f"{how.new_tokens} new tokens, {len(few)} conditions: {same} of {len(texts)} texts alike", ours, theirs, 0)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"peak memory {peak:.2f} GB, of which {weights:.2f} GB before the first run (loops included)")


if __name__ == "__main__":
    main()
