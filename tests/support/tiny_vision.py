"""Tiny random vision-language models with real processors, and pictures: no weights, no network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support import tiny_models

IMAGE = {"llava": "<image>", "gemma3": "<start_of_image>", "qwen2_vl": "<|vision_start|><|image_pad|><|vision_end|>"}
"""How a template marks an image."""

TOKENS = {"llava": 16, "gemma3": 4, "qwen2_vl": 6}
"""Tokens of a picture of :func:`picture`: 4 x 4 patches; 4 as configured; 4 x 6 patches, merged 2 x 2."""

_NAMED = {
    "llava": {"image_token": "<image>"},
    "gemma3": {"image_token": "<image_soft>", "boi_token": "<start_of_image>", "eoi_token": "<end_of_image>"},
    "qwen2_vl": {"image_token": "<|image_pad|>", "video_token": "<|video_pad|>",
                 "vision_bos_token": "<|vision_start|>", "vision_eos_token": "<|vision_end|>"},
}  # fmt: skip


def template(family: str) -> str:
    """One that takes turns in parts and nothing else, as many do: a turn that is plain text comes out empty."""
    return (
        "{% for turn in messages %}<s>{{ turn['role'] }}\n"
        "{% for part in turn['content'] | selectattr('type', 'defined') %}"
        "{% if part['type'] == 'image' %}" + IMAGE[family] + "{% else %}{{ part['text'] }}{% endif %}"
        "{% endfor %}</s>\n{% endfor %}{% if add_generation_prompt %}<s>assistant\n{% endif %}"
    )


def processor(family: str, **how: Any) -> Any:
    """A processor with a small tokenizer; ``how`` goes to :func:`tiny_models.tokenizer`."""
    import transformers

    tokenizer = tiny_models.tokenizer(None, **how)
    tokenizer = type(tokenizer)(
        tokenizer_object=tokenizer.backend_tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
        pad_token="</s>",
        extra_special_tokens=_NAMED[family],
    )
    size = {"height": 16, "width": 16}
    if family == "llava":
        made = transformers.LlavaProcessor(
            transformers.CLIPImageProcessorPil(size=size, crop_size=size),
            tokenizer,
            patch_size=4,
            num_additional_image_tokens=1,
            vision_feature_select_strategy="default",
            image_token="<image>",
        )
    elif family == "gemma3":
        made = transformers.Gemma3Processor(
            transformers.Gemma3ImageProcessorPil(size=size, image_seq_length=4), tokenizer, image_seq_length=4
        )
    else:
        patches: dict[str, Any] = {"patch_size": 4, "merge_size": 2, "temporal_patch_size": 2}
        made = transformers.Qwen2VLProcessor(
            transformers.Qwen2VLImageProcessorPil(min_pixels=64, max_pixels=1024, **patches),
            tokenizer,
            transformers.Qwen2VLVideoProcessor(**patches),
        )
    made.chat_template = template(family)
    return made


def model(family: str, tokenizer: Any, context: int = 256) -> Any:
    """A random model that goes with a tokenizer."""
    import torch
    from transformers import AutoConfig, AutoModelForImageTextToText

    ids = {name: tokenizer.convert_tokens_to_ids(token) for name, token in _NAMED[family].items()}
    text = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
            "num_key_value_heads": 2, "max_position_embeddings": context, "vocab_size": len(tokenizer),
            "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}  # fmt: skip
    clip = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
            "image_size": 16, "patch_size": 4}  # fmt: skip
    rope = {"rope_type": "default", "type": "default", "mrope_section": [2, 1, 1], "rope_theta": 10000.0}
    parts: dict[str, dict[str, Any]] = {
        "llava": {"text_config": text | {"model_type": "llama"},
                  "vision_config": clip | {"model_type": "clip_vision_model"},
                  "image_token_index": ids["image_token"]},
        "gemma3": {"text_config": text | {"model_type": "gemma3_text", "head_dim": 8, "sliding_window": 16},
                   "vision_config": clip, "mm_tokens_per_image": 4, "image_token_id": ids["image_token"],
                   "boi_token_id": ids.get("boi_token"), "eoi_token_id": ids.get("eoi_token")},
        "qwen2_vl": {"text_config": text | {"model_type": "qwen2_vl_text", "rope_scaling": rope},
                     "vision_config": {"depth": 2, "embed_dim": 32, "hidden_size": 32, "num_heads": 4, "patch_size": 4},
                     "image_token_id": ids["image_token"], "video_token_id": ids.get("video_token"),
                     "vision_start_token_id": ids.get("vision_bos_token"),
                     "vision_end_token_id": ids.get("vision_eos_token")},
    }  # fmt: skip
    torch.manual_seed(0)
    made = AutoModelForImageTextToText.from_config(AutoConfig.for_model(family, **parts[family])).eval()
    with torch.no_grad():
        for weight in made.parameters():
            if weight.dim() > 1:
                # Gemma 3 begins with a projection of zeros, and would see nothing.
                weight.mul_(4) if weight.any() else weight.normal_()
    return made


def save(folder: Path, family: str = "llava", context: int = 256, **how: Any) -> Path:
    """A folder that ``open_model`` opens."""
    made = processor(family, **how)
    model(family, made.tokenizer, context).save_pretrained(folder)
    made.save_pretrained(folder)
    return folder


def picture(path: Path, seed: int = 0, mode: str = "RGB") -> str:
    """Save noise of 24 x 20 pixels as the kind of file its name says."""
    import numpy as np
    from PIL import Image

    pixels = np.random.default_rng(seed).integers(0, 256, (20, 24, 3), dtype=np.uint8)
    Image.fromarray(pixels).convert(mode).save(path)
    return str(path)
