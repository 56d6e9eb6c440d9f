"""Reading replies: from a model's text to an outcome, for every answer shape.

One notion of a *stated answer* serves all shapes; see ``docs/reading.md`` for the rules.
"""

from __future__ import annotations

from affectlab.reading.agents import read_agents
from affectlab.reading.choice import read_choice, read_label
from affectlab.reading.free_text import read_text
from affectlab.reading.json_fields import read_json
from affectlab.reading.label_set import LabelSet, label_groups, read_label_set
from affectlab.reading.likert import Scale, read_likert
from affectlab.reading.numbers import NumberRange, read_number
from affectlab.reading.outcome import Outcome, Reading
from affectlab.reading.prepare import Prepared, prepare
from affectlab.reading.refusal import is_refusal
from affectlab.reading.yes_no import read_yes_no, yes_no_from_logprobs

__all__ = [
    "LabelSet",
    "NumberRange",
    "Outcome",
    "Prepared",
    "Reading",
    "Scale",
    "is_refusal",
    "label_groups",
    "prepare",
    "read_agents",
    "read_choice",
    "read_json",
    "read_label",
    "read_label_set",
    "read_likert",
    "read_number",
    "read_text",
    "read_yes_no",
    "yes_no_from_logprobs",
]
