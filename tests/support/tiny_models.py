"""Tiny random models and tokenizers, built on the spot: no weights, no network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

CHAT = (
    "{% for message in messages %}<s>{{ message['role'] }}\n{{ message['content'] }}</s>\n{% endfor %}"
    "{% if add_generation_prompt %}<s>assistant\n{% endif %}"
)
"""A chat template that takes every role."""

NO_SYSTEM = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system role') }}{% endif %}" + CHAT
"""One that refuses a system message."""

TEXT = "How does Ada feel about the news? Ada feels joy; Ben feels fear, anger, sadness, surprise. A B C D Answer: 1 2"


def tokenizer(template: str | None = CHAT, *, bos: bool = False, spaced: bool = False) -> Any:
    """A small tokenizer trained on one line, with ``<s>`` and ``</s>``.

    Args:
        template: Chat template.
        bos: Whether it puts ``<s>`` before what it encodes.
        spaced: Whether it works as SentencePiece does, with a space put before the text; else byte-level.
    """
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=False))
    if spaced:
        made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
        made.decoder = decoders.Metaspace(prepend_scheme="always")
    else:
        made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        made.decoder = decoders.ByteLevel()
    special = [AddedToken(text, special=True, normalized=False) for text in ("<unk>", "<s>", "</s>")]
    alphabet = sorted({*"\n▁", *map(chr, range(32, 127))}) if spaced else pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    made.train_from_iterator([TEXT] * 4, trainer)
    if bos:
        made.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    whole = PreTrainedTokenizerFast(tokenizer_object=made, bos_token="<s>", eos_token="</s>", unk_token="<unk>")
    whole.chat_template = template
    return whole


def model(family: str, seed: int = 0, context: int = 256) -> Any:
    """A random model of a few thousand weights: ``llama``, ``gpt2``, ``gemma3``, ``mamba``."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    sizes: dict[str, dict[str, Any]] = {
        "llama": {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
                  "num_key_value_heads": 2, "max_position_embeddings": context},
        "gpt2": {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": context},
        "gemma3_text": {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
                        "num_key_value_heads": 2, "head_dim": 8, "sliding_window": 16,
                        "max_position_embeddings": context},
        "mamba": {"hidden_size": 32, "num_hidden_layers": 2, "state_size": 8},
    }  # fmt: skip
    config = AutoConfig.for_model(
        family, vocab_size=400, bos_token_id=1, eos_token_id=2, pad_token_id=0, **sizes[family]
    )
    torch.manual_seed(seed)
    made = AutoModelForCausalLM.from_config(config).eval()
    with torch.no_grad():
        # Wide weights make sharp distributions: greedy choices are not decided by rounding.
        for weight in made.parameters():
            if weight.dim() > 1:
                weight.mul_(4)
    return made


def save(folder: Path, family: str = "llama", template: str | None = CHAT, context: int = 256, **how: Any) -> Path:
    """A folder that ``open_model`` opens."""
    model(family, context=context).save_pretrained(folder)
    tokenizer(template, **how).save_pretrained(folder)
    return folder
