"""Language models behind one interface: local, remote, scripted."""

from affectlab.models.base import (
    NEUTRAL,
    Ability,
    Adapting,
    Answer,
    Failure,
    Finish,
    Message,
    Model,
    ModelCard,
    Request,
    RequestKey,
    Response,
    Sampling,
    Steerable,
    Usage,
)
from affectlab.models.settings import ModelSettings
from affectlab.models.spec import CatalogueRow, catalogue, open_model

__all__ = [
    "NEUTRAL",
    "Ability",
    "Adapting",
    "Answer",
    "CatalogueRow",
    "Failure",
    "Finish",
    "Message",
    "Model",
    "ModelCard",
    "ModelSettings",
    "Request",
    "RequestKey",
    "Response",
    "Sampling",
    "Steerable",
    "Usage",
    "catalogue",
    "open_model",
]
