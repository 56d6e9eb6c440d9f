"""How the engine's cost grows, drawn beside a plain loop: with prompts, conditions, prompt length and layers.

    python bench/plots.py [--out docs/results] [--threads 1] [--repeats 1]

Small sizes; some minutes of CPU time. Models have SmolLM2's shape and random weights, which cost the same. The loop
goes through its prompts in batches by hand, one condition at a time, and asks for the last logits only. CPU seconds
(user and system), the smallest of the repeats.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from affectlab.engine import NEUTRAL, Edit, Engine, Intervention, ScoreRow
from affectlab.report.svg import PAPER, SERIES, canvas, drawing, print_svg

OPTIONS = [[100], [200], [300], [400], [500]]


@dataclass(frozen=True)
class Size:
    """One point of a figure: prompts of ``length`` tokens, ``shared`` of them the same, under some conditions."""

    prompts: int = 4
    conditions: int = 4
    length: int = 120
    shared: int = 60
    layers: int = 10


FIGURES = {
    "prompts": ("Prompts of 120 tokens, 60 shared", [Size(prompts=count) for count in (1, 2, 4, 8)]),
    "conditions": ("Conditions, the middle third edited", [Size(conditions=count) for count in (1, 2, 4, 8)]),
    "length": ("Tokens of a prompt, 60 shared", [Size(length=count) for count in (80, 160, 320)]),
    "layers": ("Layers", [Size(layers=count) for count in (3, 6, 12)]),
}


def model_of(layers: int) -> Any:
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=49152,
        hidden_size=576,
        intermediate_size=1536,
        num_hidden_layers=layers,
        num_attention_heads=9,
        num_key_value_heads=3,
        tie_word_embeddings=True,
    )
    return LlamaForCausalLM(config).eval()


def cpu(run: Callable[[], None], repeats: int) -> float:
    spent = []
    for _ in range(repeats):
        began = time.process_time()
        run()
        spent.append(time.process_time() - began)
    return min(spent)


def measure(size: Size, model: Any, engine: Engine, repeats: int) -> tuple[float, float]:
    """CPU seconds of the engine and of the loop."""
    draw = np.random.default_rng(0)
    shared = draw.integers(1000, 40000, size.shared).tolist()
    own = draw.integers(1000, 40000, (size.prompts, size.length - size.shared)).tolist()
    prompts = [shared + rest for rest in own]
    third = range(size.layers // 3, 2 * size.layers // 3)
    vectors = draw.standard_normal((size.conditions - 1, len(third), engine.width)).astype(np.float32)
    some = [
        NEUTRAL,
        *(Intervention(tuple(Edit(at, one) for at, one in zip(third, made, strict=True))) for made in vectors),
    ]
    rows = [ScoreRow(prompt, OPTIONS) for prompt in prompts]
    ids = torch.tensor(prompts)

    def loop() -> None:
        for one in some:
            hooks = []
            for edit in one.edits:
                delta = torch.from_numpy(edit.vector)
                hooks.append(model.model.layers[edit.layer].register_forward_hook(lambda _m, _a, out, d=delta: out + d))
            with torch.inference_mode():
                for start in range(0, len(ids), 8):
                    logits = model(input_ids=ids[start : start + 8], logits_to_keep=1, use_cache=False).logits
                    logits[:, -1].log_softmax(-1)
            for hook in hooks:
                hook.remove()

    def ours() -> None:
        for _ in engine.score(rows, some):
            pass

    return cpu(ours, repeats), cpu(loop, repeats)


def drawn(key: str, title: str, sizes: Sequence[Size], found: Sequence[tuple[float, float]]) -> str:
    across = [getattr(size, key) for size in sizes]
    with drawing():
        figure, axes = canvas(4.2, 2.7)
        figure.patch.set(visible=True, facecolor=PAPER)
        for name, colour, values in zip(("engine", "loop"), SERIES, zip(*found, strict=True), strict=False):
            axes.plot(across, values, "o-", color=colour, label=name, markersize=4, linewidth=1.4)
            axes.annotate(
                name, (across[-1], values[-1]), (4, 0), textcoords="offset points", va="center", annotation_clip=False
            )
        axes.set(xlabel=title, ylabel="CPU seconds", xlim=(0, None), ylim=(0, None), xticks=[0, *across])
        axes.grid(axis="y")
        axes.margins(x=0.1)
        return print_svg(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent.parent / "docs" / "results")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=1)
    how = parser.parse_args()
    torch.set_num_threads(how.threads)
    how.out.mkdir(parents=True, exist_ok=True)
    models: dict[int, tuple[Any, Engine]] = {}
    known: dict[Size, tuple[float, float]] = {}
    for key, (title, sizes) in FIGURES.items():
        for size in sizes:
            if size.layers not in models:
                model = model_of(size.layers)
                models[size.layers] = (model, Engine(model))
                measure(replace(size, prompts=1, conditions=2), *models[size.layers], 1)
            if size not in known:
                known[size] = measure(size, *models[size.layers], how.repeats)
            print(
                f"{key} {getattr(size, key):4}: engine {known[size][0]:6.2f} s, loop {known[size][1]:6.2f} s",
                flush=True,
            )
        path = how.out / f"speed-{key}.svg"
        path.write_text(drawn(key, title, sizes, [known[size] for size in sizes]), encoding="utf-8")
        print(f"wrote {path}")


if __name__ == "__main__":
    main()
