"""What the paper reports, as far as it stands in text we have: its abstract. Its tables are in none."""

from __future__ import annotations

from affectlab.benchmarks.base import ReferenceRow

REFERENCES = (
    ReferenceRow(
        "best of six instruction-tuned models",
        {"macro_f1": 0.501},
        "arXiv 2604.00819, abstract: best zero-shot macro-F1",
        "model",
        "all 4,731 scenarios, yes/no log-odds, the paper's prompt; joint inference is reported to add 0.051 "
        "for Qwen2.5-7B (abstract of version 1), by an unpublished formula",
    ),
)
