"""What the paper reports (arXiv 2604.06562), to stand beside runs: its means over nine roles, six emotions and four
strengths (.6 to 1.5) on its own items and stimuli, without and with chain of thought, and those of its random vectors.

Its random vectors move answers further than its emotion vectors: in 20 of 23 models without and in all 23 with
reasoning.
"""

from __future__ import annotations

from affectlab.benchmarks.base import ReferenceRow

SOURCE = "arXiv 2604.06562, overall results"
FIGURES = ("ndm", "nad", "ndm:random", "nad:random")
MODELS: dict[str, tuple[tuple[float, float, float, float], tuple[float, float, float, float]]] = {
    "Llama-3.2-Instruct-1B": ((0.346, 0.039, 0.349, -0.004), (0.393, 0.063, 0.401, 0.006)),
    "Llama-3.2-Instruct-3B": ((0.227, 0.074, 0.238, 0.001), (0.283, 0.067, 0.291, 0.004)),
    "Phi-3.5-instruct-4B": ((0.230, 0.037, 0.225, -0.002), (0.131, 0.016, 0.139, 0.003)),
    "Phi-4-instruct-4B": ((0.149, 0.074, 0.156, -0.003), (0.196, 0.035, 0.202, 0.002)),
    "Qwen2.5-Instruct-0.5B": ((0.373, 0.039, 0.369, 0.002), (0.376, 0.061, 0.384, 0.008)),
    "Qwen2.5-Instruct-1.5B": ((0.278, 0.044, 0.281, -0.005), (0.296, 0.038, 0.304, 0.001)),
    "Qwen2.5-Instruct-3B": ((0.203, 0.035, 0.211, 0.003), (0.297, 0.021, 0.305, -0.004)),
    "Qwen3-0.6B": ((0.167, 0.037, 0.171, -0.004), (0.196, 0.035, 0.201, 0.002)),
    "Qwen3-1.7B": ((0.157, -0.000, 0.154, -0.002), (0.154, 0.000, 0.161, 0.001)),
    "Qwen3-4B": ((0.158, 0.018, 0.162, -0.001), (0.239, 0.014, 0.245, 0.003)),
    "Gemma-3-it-270M": ((0.300, 0.003, 0.303, -0.002), (0.283, -0.000, 0.289, 0.001)),
    "Gemma-3-it-1B": ((0.199, 0.003, 0.203, -0.001), (0.221, -0.004, 0.227, 0.002)),
    "Gemma-3-it-4B": ((0.228, 0.001, 0.231, -0.002), (0.246, 0.000, 0.252, 0.001)),
    "Zamba2-Instruct-1.2B": ((0.265, 0.044, 0.271, -0.003), (0.365, 0.051, 0.371, 0.005)),
    "Zamba2-Instruct-2.7B": ((0.289, 0.054, 0.294, -0.002), (0.329, 0.062, 0.336, 0.003)),
    "Mamba2-1.3B": ((0.224, 0.031, 0.229, -0.001), (0.293, 0.038, 0.299, 0.002)),
    "Mamba2-2.7B": ((0.282, 0.044, 0.286, -0.002), (0.336, 0.052, 0.343, 0.004)),
    "Phi-3.5-vision-4B": ((0.177, 0.009, 0.181, -0.001), (0.139, 0.005, 0.145, 0.002)),
    "Phi-4-multimodal-4B": ((0.085, 0.001, 0.089, -0.002), (0.129, 0.018, 0.135, 0.004)),
    "Qwen3-VL-Instruct-2B": ((0.168, 0.004, 0.172, -0.002), (0.126, 0.002, 0.132, 0.001)),
    "Qwen3-VL-Instruct-4B": ((0.120, 0.011, 0.126, -0.001), (0.218, 0.024, 0.224, 0.003)),
    "InternVL3-1B": ((0.251, 0.011, 0.255, -0.003), (0.322, 0.071, 0.328, 0.004)),
    "InternVL3-2B": ((0.290, 0.026, 0.294, -0.001), (0.319, 0.019, 0.325, 0.002)),
}
"""Model -> (without, with chain of thought) -> NDM and NAD of emotions, NDM and NAD of random vectors."""

REFERENCES = tuple(
    ReferenceRow(
        name + way,
        dict(zip(FIGURES, values[place], strict=True)),
        SOURCE,
        "model",
    )
    for name, values in MODELS.items()
    for place, way in enumerate(("", ", chain of thought"))
)
