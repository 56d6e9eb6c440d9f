"""Reading replies: from a model's text to an outcome, for every answer shape.

One notion of a *stated answer* serves all shapes; see ``docs/reading.md`` for the rules.
"""

from __future__ import annotations

from affectlab.reading.agents import read_agents
from affectlab.reading.choice import read_choice, read_label
from affectlab.reading.outcome import Outcome, Reading
from affectlab.reading.prepare import Prepared, prepare
from affectlab.reading.refusal import is_refusal

__all__ = ["Outcome", "Prepared", "Reading", "is_refusal", "prepare", "read_agents", "read_choice", "read_label"]
