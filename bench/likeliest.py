"""Whether every token the engine writes in the row `texts` is the likeliest of a plain pass over that text alone.

    python bench/likeliest.py [--scale 0.24]

Where the engine and `generate` write different tokens, this tells who is right: the plain pass has one text, no cache,
no shared beginning, and hooks that add the vectors. Some minutes of CPU time.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from engine_jobs import Texts, write_vectors
from engine_rows import CONDITIONS, stories

from affectlab.engine import NEUTRAL, Edit, Engine, GenerateRow, Generation, Intervention
from affectlab.models.loading import load_embedded
from affectlab.models.settings import ModelSettings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=0.24)
    given = parser.parse_args()
    loaded = load_embedded("smollm2", ModelSettings(threads=1))
    torch.set_num_threads(1)
    model, job = loaded.model, stories(Texts.of(loaded.tokenizer), given.scale)
    depth = model.config.num_hidden_layers
    layers = range(depth // 3, 2 * depth // 3)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "vectors.npy"
        write_vectors(file, CONDITIONS, len(layers), model.config.hidden_size, seed=0)
        vectors = np.load(file)[: job["conditions"]]
    steered = [Intervention(tuple(Edit(at, one) for at, one in zip(layers, some, strict=True))) for some in vectors]
    rows = [GenerateRow(tuple(prompt["ids"]), Generation(max_tokens=job["new_tokens"])) for prompt in job["prompts"]]
    tokens = unlike = 0
    for row, condition, written in list(Engine(model).generate(rows, [NEUTRAL, *steered])):
        added = torch.from_numpy(vectors[condition - 1]) if condition else ()
        hooks = [
            model.model.layers[at].register_forward_hook(lambda _m, _a, out, one=one: out + one)
            for at, one in zip(layers, added, strict=False)
        ]
        prompt, new = list(rows[row].prompt), list(written.ids)
        with torch.inference_mode():
            ids = torch.tensor([prompt + new])
            likeliest = model(input_ids=ids, use_cache=False).logits[0, len(prompt) - 1 : -1].argmax(-1).tolist()
        for hook in hooks:
            hook.remove()
        tokens += len(new)
        unlike += sum(one != other for one, other in zip(new, likeliest, strict=True))
    print(f"{tokens} tokens under {1 + len(steered)} conditions: {unlike} are not the likeliest of a plain pass")


if __name__ == "__main__":
    main()
