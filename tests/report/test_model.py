from __future__ import annotations

from affectlab.report.model import Document, RunReport, Section


def test_what_stands_at_the_prompt_is_a_line(run_report: RunReport, comparison: Document) -> None:
    assert repr(run_report) == "<report: SmolLM2-135M-Instruct on Chiaro, neutral>"
    assert repr(run_report.examples[0]).startswith("<example of item ")
    assert repr(comparison) == "<document 'SmolLM2 against Gemma 3 on Chiaro': Differences>"
    assert repr(comparison.sections[0]) == "<section 'Differences': differences>"
    assert repr(Section("Empty")) == "<section 'Empty': notes only>"
    assert all(len(repr(example)) < 120 for example in run_report.examples)
