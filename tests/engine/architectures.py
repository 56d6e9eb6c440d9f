"""Small random models of every architecture the engine must get right: no weights, no network."""

from __future__ import annotations

from typing import Any

VOCABULARY = 211
LAYERS = 4
WIDTH = 32

_HEADS = {"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8}
_BASE: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": WIDTH,
    "intermediate_size": 48,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
_MAMBA2 = {"num_heads": 8, "head_dim": 8, "state_size": 8, "n_groups": 2, "expand": 2, "chunk_size": 16}
_HYBRID = {"mamba_n_heads": 8, "mamba_d_head": 8, "mamba_d_state": 8, "mamba_n_groups": 2, "mamba_chunk_size": 16}

SWITCH = 24
"""Tokens beyond which the Phi models rotate positions in another way."""

_LONG = {"rope_type": "longrope", "rope_theta": 10000.0, "original_max_position_embeddings": SWITCH, "factor": 4.0}

TEXT: dict[str, dict[str, Any]] = {
    "llama": {},
    "mistral": {"sliding_window": 16},
    "qwen2": {},
    "qwen3": {"head_dim": 8},
    "gemma2": {"head_dim": 8, "sliding_window": 16, "query_pre_attn_scalar": 8},
    "gemma3_text": {"head_dim": 8, "sliding_window": 16, "query_pre_attn_scalar": 8, "sliding_window_pattern": 2},
    "phi": {},
    "phi3": {},
    "gpt2": {"n_embd": WIDTH, "n_layer": LAYERS, "n_head": 4, "n_positions": 512},
    "gpt_neox": {},
    "opt": {"ffn_dim": 48, "word_embed_proj_dim": WIDTH},
    "bloom": {"n_layer": LAYERS, "n_head": 4},
    "falcon": {"multi_query": False, "alibi": False},
    "mixtral": {"num_local_experts": 4, "num_experts_per_tok": 2},
    "qwen3_moe": {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 24, "head_dim": 8},
    "gpt_oss": {"num_local_experts": 4, "num_experts_per_tok": 2, "head_dim": 8, "sliding_window": 16},
    "mamba": {"state_size": 8},
    "mamba2": _MAMBA2,
    "zamba2": {
        "mamba_d_state": 8, "mamba_expand": 2, "mamba_headdim": 8, "n_mamba_heads": 8, "mamba_ngroups": 2,
        "chunk_size": 16, "num_mem_blocks": 1, "adapter_rank": 4, "attention_head_dim": 16,
        "layers_block_type": ["linear_attention", "hybrid", "linear_attention", "hybrid"],
    },
    "falcon_h1": _HYBRID | {"mamba_d_ssm": 64, "head_dim": 8},
    "bamba": _HYBRID | {"attn_layer_indices": [1, 3]},
    "lfm2": {"layer_types": ["conv", "full_attention", "conv", "full_attention"], "block_ff_dim": 48},
    "llama_3.2": {"model_type": "llama", "tie_word_embeddings": True, "rope_parameters": {
        "rope_type": "llama3", "rope_theta": 500000.0, "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 64}},
    "phi_3.5": {"model_type": "phi3", "original_max_position_embeddings": SWITCH, "rope_parameters": _LONG | {
        "short_factor": [1.0, 1.1, 1.2, 1.3], "long_factor": [2.0, 3.0, 4.0, 5.0]}},
    "phi_4_mini": {"model_type": "phi3", "original_max_position_embeddings": SWITCH, "tie_word_embeddings": True,
                   "rope_parameters": _LONG | {"partial_rotary_factor": 0.75, "short_factor": [1.0, 1.1, 1.2],
                                               "long_factor": [2.0, 3.0, 4.0]}},
    "phimoe": {"num_local_experts": 4, "num_experts_per_tok": 2, "original_max_position_embeddings": SWITCH,
               "rope_parameters": _LONG | {"short_factor": [1.0, 1.1, 1.2, 1.3], "long_factor": [2.0, 3.0, 4.0, 5.0],
                                           "short_mscale": 1.1, "long_mscale": 1.2}},
}  # fmt: skip
"""Language models: what each needs besides the common sizes, and its model type where that is not its name."""

IMAGE_TOKEN = 3
_QWEN_TOKENS = {
    "image_token_id": IMAGE_TOKEN,
    "video_token_id": 4,
    "vision_start_token_id": 5,
    "vision_end_token_id": 6,
}
_ROPE = {"rope_type": "default", "type": "default", "mrope_section": [2, 1, 1], "rope_theta": 10000.0}
_QWEN_VISION = {"depth": 6, "hidden_size": 32, "num_heads": 4, "intermediate_size": 48, "patch_size": 4}
_CLIP = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 6, "num_attention_heads": 4,
         "image_size": 16, "patch_size": 4}  # fmt: skip

VISION: dict[str, dict[str, Any]] = {
    "gemma3": {"text_config": _BASE | {"model_type": "gemma3_text"} | TEXT["gemma3_text"], "vision_config": _CLIP,
               "mm_tokens_per_image": 4, "image_token_id": IMAGE_TOKEN},
    "qwen2_vl": {"text_config": _BASE | {"model_type": "qwen2_vl_text", "rope_scaling": _ROPE},
                 "vision_config": _QWEN_VISION | {"embed_dim": 32, "hidden_size": WIDTH}, **_QWEN_TOKENS},
    "qwen2_5_vl": {"text_config": _BASE | {"model_type": "qwen2_5_vl_text", "rope_scaling": _ROPE},
                   "vision_config": _QWEN_VISION | {"out_hidden_size": WIDTH, "fullatt_block_indexes": [1]},
                   **_QWEN_TOKENS},
    "qwen3_vl": {"text_config": _BASE | {"model_type": "qwen3_vl_text", "head_dim": 8, "rope_scaling": _ROPE},
                 "vision_config": _QWEN_VISION | {"out_hidden_size": WIDTH, "deepstack_visual_indexes": [1, 2],
                                                  "num_position_embeddings": 16}, **_QWEN_TOKENS},
    "llava": {"text_config": _BASE | {"model_type": "llama"},
              "vision_config": _CLIP | {"model_type": "clip_vision_model"},
              "image_token_index": IMAGE_TOKEN},
    "smolvlm": {"text_config": _BASE | {"model_type": "llama"}, "vision_config": _CLIP,
                "image_token_id": IMAGE_TOKEN},
    "internvl": {"text_config": _BASE | {"model_type": "qwen2"},
                 "vision_config": _CLIP | {"image_size": [16, 16], "patch_size": [4, 4]},
                 "image_token_id": IMAGE_TOKEN},
}  # fmt: skip
"""Model types of vision-language models; their vision tower is deeper than their text side."""

FAMILIES: dict[str, tuple[str, ...] | str] = {
    "Llama 3.2": ("llama_3.2",),
    "Phi 3.5": ("phi_3.5", "phimoe"),
    "Phi 4": ("phi3", "phi_4_mini"),
    "Qwen 2.5": ("qwen2",),
    "Qwen 3": ("qwen3", "qwen3_moe"),
    "Gemma 3": ("gemma3_text", "gemma3"),
    "Zamba2": ("zamba2",),
    "Mamba2": ("mamba2",),
    "Phi-3.5-vision": "phi3_v",
    "Phi-4-multimodal": ("phi4_multimodal",),
    "Qwen3-VL": ("qwen3_vl",),
    "InternVL3": ("internvl",),
}
"""The paper's families, and their twins here. A model type alone: transformers has no class of its own for it, and code
that comes with weights is not run."""

RECURRENT = frozenset({"mamba", "mamba2", "zamba2", "falcon_h1", "bamba", "lfm2"})
ALL = (*TEXT, *VISION, "phi4_multimodal")


def _config(name: str) -> Any:
    from transformers import AutoConfig

    if name == "phi4_multimodal":
        from transformers import Phi4MultimodalConfig

        audio = {"hidden_size": 16, "intermediate_size": 24, "num_blocks": 6, "num_attention_heads": 2,
                 "ext_pw_out_channel": 16, "nemo_conv_channels": 16, "input_size": 16}  # fmt: skip
        vision = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 6, "num_attention_heads": 4,
                  "image_size": 28, "patch_size": 14, "crop_size": 28, "image_token_id": 3}  # fmt: skip
        return Phi4MultimodalConfig(**_BASE, vision_config=vision, audio_config=audio)
    if name in VISION:
        return AutoConfig.for_model(name, **VISION[name])
    base = _BASE if "n_head" not in TEXT[name] else {"vocab_size": VOCABULARY, "hidden_size": WIDTH, "eos_token_id": 2}
    return AutoConfig.for_model(**{"model_type": name} | base | TEXT[name])


def build(name: str, seed: int = 0, dtype: str = "float32") -> Any:
    """A random model in evaluation mode, its weights scaled up so that choices are not decided by rounding."""
    import torch
    from transformers import AutoModelForCausalLM, AutoModelForImageTextToText

    config = _config(name)
    torch.manual_seed(seed)
    kind = AutoModelForImageTextToText if name in VISION else AutoModelForCausalLM
    model = kind.from_config(config).eval()
    with torch.no_grad():
        for path, weight in model.named_parameters():
            if path.endswith("mm_input_projection_weight"):  # zero until it is trained
                weight.normal_(std=0.1)
            if weight.dim() > 1:
                weight.mul_(3)
        head = model.get_output_embeddings().weight
        head.mul_(8 if head is not model.get_input_embeddings().weight else 2)
    return model.to(getattr(torch, dtype))
