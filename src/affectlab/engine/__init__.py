"""Local inference on token ids: shared beginnings, many interventions in one pass, outputs of any layer."""

from affectlab.engine.engine import Engine
from affectlab.engine.interventions import NEUTRAL, Edit, Gate, Intervention
from affectlab.engine.rows import EngineReport, EngineSettings, Generated, GenerateRow, Generation, ScoreRow, TextRow

__all__ = [
    "NEUTRAL",
    "Edit",
    "Engine",
    "EngineReport",
    "EngineSettings",
    "Gate",
    "GenerateRow",
    "Generated",
    "Generation",
    "Intervention",
    "ScoreRow",
    "TextRow",
]
