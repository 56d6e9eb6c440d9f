"""BERTScore: how near the words of an answer lie to those of a reference, as an encoder places them.

Ours, since the usual library fails on empty texts and on tokenizers without a stated length under current transformers.
Without idf weights and without rescaling, so figures compare only with figures of the same model and layer.

Reference: Zhang et al. (2020), BERTScore: Evaluating Text Generation with BERT, section 3.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from affectlab.errors import UserError
from affectlab.metrics.classification import Floats

LAYERS = {
    "bert-base-uncased": 9,
    "bert-large-uncased": 18,
    "bert-base-chinese": 8,
    "bert-base-multilingual-cased": 9,
    "distilbert-base-uncased": 5,
    "roberta-base": 10,
    "roberta-large": 17,
}
"""Layer that the paper's authors found to agree best with people, by model."""
_BATCH = 32
_LONGEST = 512


class Overlap(NamedTuple):
    """F1 of each answer [N], and how many texts were too long for the encoder and lost their end."""

    f1: Floats
    cut: int


class Placed(NamedTuple):
    """A text as the encoder places it: vectors of its tokens [T, D], and which of them are words and no marks [T]."""

    vectors: Floats
    words: NDArray[np.bool_]


def greedy_f1(reference: Placed, answer: Placed) -> float:
    """F1 of greedy matching: each word with the nearest token of the other text, by cosine.

    Marks at the ends of a text (``[CLS]``) are no words, but words may lie nearest to them, as in the authors' code.

    Returns:
        At most 1, and below 0 where everything points away; 0 when either text has no word.
    """
    if not reference.words.any() or not answer.words.any():
        return 0.0
    first, second = (side.vectors / np.linalg.norm(side.vectors, axis=1, keepdims=True) for side in (reference, answer))
    near = first @ second.T
    recall = near.max(axis=1)[reference.words].mean()
    precision = near.max(axis=0)[answer.words].mean()
    return float(2 * precision * recall / (precision + recall)) if precision + recall else 0.0


@dataclass(frozen=True)
class BertScorer:
    """An encoder opened for BERTScore.

    Attributes:
        name: Folder or hub name.
        layer: Which layer's vectors are compared, from 1.
        tokenizer: Of the encoder.
        encoder: The model itself.
    """

    name: str
    layer: int
    tokenizer: Any
    encoder: Any

    @classmethod
    def open(cls, spec: str) -> BertScorer:
        """Open an encoder.

        Args:
            spec: A folder or hub name, and ``@LAYER``, which may be left out for the models of :data:`LAYERS`.

        Raises:
            UserError: When transformers is not installed, the model cannot be had, or the layer is missing or none.
        """
        name, _, written = spec.rpartition("@") if "@" in spec else (spec, "", "")
        layer = LAYERS.get(name.rpartition("/")[2]) if not written else int(written) if written.isdigit() else 0
        if layer is None:
            raise UserError(f"BERTScore by {name}: say which layer to take, as in {name}@9.")
        try:
            from transformers import AutoModel, AutoTokenizer
        except ImportError as error:
            raise UserError("BERTScore needs an encoder: pip install 'affectlab[local]'.") from error
        try:
            tokenizer = AutoTokenizer.from_pretrained(name)
            encoder = AutoModel.from_pretrained(name, use_safetensors=True).eval()
        except (OSError, ValueError) as error:
            first = (str(error).splitlines() or [""])[0]
            raise UserError(
                f"BERTScore by {name}: the model cannot be opened ({first}). Name a folder that holds it, or a model "
                "of the hub that can be downloaded from here or was before."
            ) from error
        layers = encoder.config.num_hidden_layers
        if not 1 <= layer <= layers:
            raise UserError(f"BERTScore by {spec}: the layer must be a number from 1 to {layers}.")
        return cls(name, layer, tokenizer, encoder)

    @property
    def signature(self) -> str:
        """What figures must agree in to be compared."""
        return f"BERTScore F1, {self.name} layer {self.layer}, no idf, not rescaled"

    @property
    def sha256(self) -> str:
        """Of the encoder's weights and the tokenizer's words, in hexadecimal; wherever they were taken from."""
        import torch

        digest = sha256(json.dumps(sorted(self.tokenizer.get_vocab().items())).encode())
        for name, weights in sorted(self.encoder.state_dict().items()):
            digest.update(f"{name} {tuple(weights.shape)} {weights.dtype}".encode())
            digest.update(weights.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
        return digest.hexdigest()

    def score(self, references: Sequence[str], answers: Sequence[str]) -> Overlap:
        """F1 of each answer against its reference; 0 where either is without words.

        Raises:
            ValueError: When the lengths differ.
        """
        if len(references) != len(answers):
            raise ValueError(f"{len(references)} references and {len(answers)} answers: expected as many of each")
        texts = [*dict.fromkeys((*references, *answers))]
        placed = dict(zip(texts, self._placed(texts), strict=True))
        pairs = zip(references, answers, strict=True)
        f1 = np.array([greedy_f1(placed[right], placed[said]) for right, said in pairs])
        whole = self.tokenizer(texts, truncation=False, verbose=False)["input_ids"] if texts else []
        return Overlap(f1, sum(len(ids) > self._longest for ids in whole))

    @property
    def _longest(self) -> int:
        return int(min(_LONGEST, self.tokenizer.model_max_length, self.encoder.config.max_position_embeddings))

    def _placed(self, texts: Sequence[str]) -> Iterator[Placed]:
        import torch

        asked = {"truncation": True, "max_length": self._longest, "return_special_tokens_mask": True}
        for first in range(0, len(texts), _BATCH):
            rows = [self.tokenizer(text, **asked) for text in texts[first : first + _BATCH]]
            width = max(1, *(len(row["input_ids"]) for row in rows))
            ids = torch.full((len(rows), width), self.tokenizer.pad_token_id or 0)
            mask = torch.zeros((len(rows), width), dtype=torch.long)
            for place, row in enumerate(rows):
                ids[place, : len(row["input_ids"])] = torch.tensor(row["input_ids"], dtype=torch.long)
                mask[place, : len(row["input_ids"])] = 1
            with torch.inference_mode():
                states = self.encoder(input_ids=ids, attention_mask=mask, output_hidden_states=True).hidden_states
            for row, vectors in zip(rows, states[self.layer].double().numpy(), strict=True):
                marks = np.array(row["special_tokens_mask"], dtype=bool)
                yield Placed(vectors[: len(marks)], ~marks)
