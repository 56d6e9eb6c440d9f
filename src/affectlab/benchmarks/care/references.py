"""What the paper reports, as the summary of arXiv 2605.17176 that we have gives it, to stand beside runs.

First-person annotations are the gold standard; all models zero-shot, from the story alone.
"""

from __future__ import annotations

from affectlab.benchmarks.base import ReferenceRow

MAIN = "main results table (RQ1)"
FIGURES = (
    "rouge_l",
    "appraisal_rmse",
    "positive_level_rmse",
    "positive_example_f1",
    "positive_macro_f1",
    "negative_level_rmse",
    "negative_example_f1",
    "negative_macro_f1",
)
MODELS = {
    "Claude-Sonnet-4.6": (0.157, 0.357, 0.213, 0.490, 0.499, 0.237, 0.639, 0.513),
    "GPT-5.2": (0.156, 0.365, 0.210, 0.556, 0.475, 0.251, 0.630, 0.500),
    "Qwen 3.5-9B": (0.144, 0.430, 0.222, 0.513, 0.466, 0.251, 0.617, 0.511),
    "Llama 3.1-8B-Instruct": (0.139, 0.395, 0.246, 0.450, 0.403, 0.251, 0.601, 0.458),
    "PsyLLM (Qwen-8B)": (0.138, 0.349, 0.239, 0.441, 0.394, 0.284, 0.593, 0.464),
    "EmoLLaMa-chat-13B": (0.175, 0.443, 0.254, 0.224, 0.322, 0.274, 0.532, 0.345),
}
PEOPLE = (0.163, 0.389, 0.259, 0.615, 0.470, 0.324, 0.564, 0.449)
SPREAD_FIGURES = ("mu_mae", "sigma_mae", "wasserstein", "variance_rho", "precision_at_5")
SPREAD = {
    condition: dict(zip(SPREAD_FIGURES, values, strict=True))
    for condition, values in {
        "subjective": (0.936, 0.816, 0.992, 0.204, 0.275),
        "subjective-persona": (0.874, 0.772, 0.935, 0.223, 0.278),
        "subjective-reasoning": (0.758, 0.875, 0.852, 0.271, 0.298),
        "subjective-both": (0.729, 0.806, 0.813, 0.282, 0.295),
    }.items()
}
"""Qwen 3.5-9B in RQ4, by the protocol that tells a draw the same."""

REFERENCES = (
    ReferenceRow(
        "third-person observers",
        dict(zip(FIGURES, PEOPLE, strict=True)),
        f"{MAIN}, row of human observers",
        "human",
        "500 stories, five observers each, every observer against the writer",
    ),
    *(
        ReferenceRow(name, dict(zip(FIGURES, values, strict=True)), MAIN, "model", "other prompt, the paper's stories")
        for name, values in MODELS.items()
    ),
    *(
        ReferenceRow(
            f"Qwen 3.5-9B, {condition}",
            values,
            "ablation table (RQ4)",
            "model",
            "distances in scale points; draws and the divisor of the standard deviation are not stated",
        )
        for condition, values in SPREAD.items()
    ),
)
