"""What the paper prints, to stand beside runs.

Only figures that the text of arXiv 2609.03394 states are here. Its Tables 4 to 6 hold more (DeepSeek V4-Pro and
Gemini 3.5 Flash, Emollama-chat-7B), which the text does not give one by one.
"""

from __future__ import annotations

from affectlab.benchmarks.base import ReferenceRow

SPLIT = "1,000 scenes of the release, joint prompt"
ARGMAX = "argmax over the five emotions of the gold's polarity; sees the sentence, not the agent"

REFERENCES = (
    ReferenceRow(
        "two human annotators",
        {"macro_f1": 0.930},
        "§4: 1,017 scenes, annotators before adjudication against the adjudicated gold",
        "human",
        "κ̄ .827 (κ+ .798 with raw agreement .839, κ− .855 with .885); per mode κ̄ .806 physical, .849 non-physical",
    ),
    ReferenceRow(
        "GPT-5.5",
        {"macro_f1": 0.673, "macro_f1:physical": 0.649, "macro_f1:non_physical": 0.700},
        "§4, §4.2 (Tables 4, 5)",
        "model",
        SPLIT,
    ),
    ReferenceRow("Qwen 3.6 Plus", {"macro_f1": 0.669}, "§4 (Table 4)", "model", SPLIT),
    ReferenceRow(
        "Qwen3.5-27B",
        {"macro_f1": 0.663, "macro_f1:physical": 0.646, "macro_f1:non_physical": 0.680},
        "§4, §4.2 (Tables 4, 5)",
        "model",
        SPLIT,
    ),
    ReferenceRow("Llama 3.3 70B", {"macro_f1": 0.663}, "§4 (Table 4): tied with Qwen3.5-27B", "model", SPLIT),
    ReferenceRow(
        "Qwen3.5-9B",
        {"macro_f1": 0.599, "macro_f1:physical": 0.608, "macro_f1:non_physical": 0.586},
        "§4, §4.2 (Tables 4, 5)",
        "model",
        SPLIT,
    ),
    ReferenceRow("mean of the paper's seven models", {"macro_f1": 0.653}, "§6", "model", SPLIT),
    ReferenceRow(
        "ModernBERT-large (GoEmotions)",
        {"macro_f1": 0.290},
        "§5.1 (Table 6): best of the three GoEmotions encoders",
        "encoder",
        ARGMAX,
    ),
    ReferenceRow(
        "ModernBERT-base (GoEmotions)",
        {"macro_f1": 0.214},
        "§5.1 (Table 6)",
        "encoder",
        ARGMAX,
    ),
    ReferenceRow(
        "weakest GoEmotions encoder",
        {"macro_f1": 0.118},
        "§5.1: lower end of the range 11.8–29.0",
        "encoder",
        ARGMAX,
    ),
)
