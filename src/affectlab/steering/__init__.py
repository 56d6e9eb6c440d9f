"""Emotion vectors: extracted from a model's own states, applied while it answers, and shown to do what they say.

Names are loaded when first used, so that reading a condition string costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from affectlab.steering.apply import Applied, Applier
    from affectlab.steering.conditions import parse
    from affectlab.steering.files import export_gguf, load, save
    from affectlab.steering.stimuli import EMOTIONS, load_stimuli
    from affectlab.steering.subject import Subject
    from affectlab.steering.validation import Settings, Validation, validate
    from affectlab.steering.validation_tables import heatmap, scores
    from affectlab.steering.vectors import EmotionVectors, extract

_WHERE = {
    "EMOTIONS": "stimuli",
    "Applied": "apply",
    "Applier": "apply",
    "EmotionVectors": "vectors",
    "Settings": "validation",
    "Subject": "subject",
    "Validation": "validation",
    "export_gguf": "files",
    "extract": "vectors",
    "heatmap": "validation_tables",
    "load": "files",
    "load_stimuli": "stimuli",
    "parse": "conditions",
    "save": "files",
    "scores": "validation_tables",
    "validate": "validation",
}

__all__ = [
    "EMOTIONS",
    "Applied",
    "Applier",
    "EmotionVectors",
    "Settings",
    "Subject",
    "Validation",
    "export_gguf",
    "extract",
    "heatmap",
    "load",
    "load_stimuli",
    "parse",
    "save",
    "scores",
    "validate",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'affectlab.steering' has no attribute {name!r}")
    return getattr(import_module(f"affectlab.steering.{_WHERE[name]}"), name)
