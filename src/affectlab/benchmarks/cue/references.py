"""What the paper prints, to stand beside runs (arXiv 2608.10810, Tables 3 and 4)."""

from __future__ import annotations

from affectlab.benchmarks.base import ReferenceRow

NOTE = "release's test split, the paper's prompts"

_COLUMNS = tuple(
    f"{figure}:{task}" for task in ("stance", "intent", "emotion") for figure in ("accuracy", "macro_f1", "weighted_f1")
)

# Model -> method -> accuracy, macro-F1, weighted-F1 of stance, intent and emotion, then Avg.
_MAIN: dict[str, dict[str, tuple[float, ...]]] = {
    "DeepSeek V4-Flash": {
        "direct": (0.492, 0.408, 0.500, 0.325, 0.277, 0.330, 0.247, 0.170, 0.248, 0.333),
        "few-shot": (0.480, 0.412, 0.498, 0.339, 0.288, 0.344, 0.247, 0.174, 0.246, 0.336),
        "CoT": (0.498, 0.425, 0.516, 0.332, 0.277, 0.343, 0.251, 0.182, 0.253, 0.342),
        "matrix-guided": (0.510, 0.466, 0.527, 0.459, 0.361, 0.465, 0.313, 0.194, 0.327, 0.402),
    },
    "GPT 4o-mini": {
        "direct": (0.317, 0.250, 0.292, 0.281, 0.263, 0.285, 0.115, 0.089, 0.112, 0.223),
        "few-shot": (0.341, 0.281, 0.336, 0.302, 0.274, 0.298, 0.226, 0.153, 0.229, 0.271),
        "CoT": (0.429, 0.343, 0.431, 0.281, 0.262, 0.297, 0.226, 0.150, 0.226, 0.294),
        "matrix-guided": (0.458, 0.336, 0.444, 0.390, 0.264, 0.383, 0.275, 0.147, 0.266, 0.329),
    },
    "LLaMA 4 Maverick": {
        "direct": (0.338, 0.270, 0.326, 0.273, 0.245, 0.273, 0.237, 0.162, 0.232, 0.262),
        "few-shot": (0.367, 0.315, 0.385, 0.293, 0.271, 0.307, 0.233, 0.169, 0.233, 0.286),
        "CoT": (0.454, 0.361, 0.463, 0.248, 0.216, 0.256, 0.253, 0.167, 0.247, 0.296),
        "matrix-guided": (0.512, 0.410, 0.511, 0.453, 0.342, 0.452, 0.339, 0.183, 0.331, 0.393),
    },
    "LLaMA 3.1 8B": {
        "direct": (0.203, 0.194, 0.221, 0.232, 0.208, 0.233, 0.142, 0.086, 0.151, 0.186),
        "few-shot": (0.281, 0.256, 0.307, 0.259, 0.231, 0.277, 0.167, 0.112, 0.166, 0.228),
        "CoT": (0.277, 0.256, 0.311, 0.226, 0.216, 0.248, 0.129, 0.101, 0.135, 0.211),
        "matrix-guided": (0.362, 0.293, 0.369, 0.285, 0.236, 0.292, 0.190, 0.097, 0.184, 0.256),
    },
    "Qwen 3-8B": {
        "direct": (0.180, 0.154, 0.172, 0.196, 0.210, 0.242, 0.209, 0.128, 0.225, 0.191),
        "few-shot": (0.181, 0.183, 0.197, 0.231, 0.214, 0.227, 0.212, 0.121, 0.221, 0.199),
        "CoT": (0.422, 0.325, 0.430, 0.254, 0.226, 0.257, 0.212, 0.132, 0.206, 0.274),
        "matrix-guided": (0.424, 0.309, 0.412, 0.364, 0.271, 0.367, 0.260, 0.137, 0.262, 0.312),
    },
}

# Model -> what is given and asked, and the task -> accuracy, macro-F1, weighted-F1.
_ORACLE: dict[str, dict[tuple[str, str], tuple[float, float, float]]] = {
    "DeepSeek V4-Flash": {
        ("gold stance → intent", "intent"): (0.791, 0.703, 0.790),
        ("gold stance → emotion", "emotion"): (0.392, 0.243, 0.379),
        ("gold stance + intent → emotion", "emotion"): (0.432, 0.219, 0.389),
    },
    "LLaMA 4 Maverick": {
        ("gold stance → intent", "intent"): (0.739, 0.658, 0.745),
        ("gold stance → emotion", "emotion"): (0.430, 0.251, 0.436),
        ("gold stance + intent → emotion", "emotion"): (0.489, 0.254, 0.466),
    },
}

REFERENCES = (
    *(
        ReferenceRow(
            f"{model}, {method}",
            {"average": figures[-1], **dict(zip(_COLUMNS, figures[:-1], strict=True))},
            "Table 3",
            "model",
            NOTE,
        )
        for model, methods in _MAIN.items()
        for method, figures in methods.items()
    ),
    *(
        ReferenceRow(
            f"{model}, {given}",
            dict(zip((f"accuracy:{task}", f"macro_f1:{task}", f"weighted_f1:{task}"), figures, strict=True)),
            "Table 4",
            "model",
            NOTE,
        )
        for model, settings in _ORACLE.items()
        for (given, task), figures in settings.items()
    ),
)
