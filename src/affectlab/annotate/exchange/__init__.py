"""Answers in the formats of other annotation tools, and gold in the formats benchmarks read."""

from affectlab.annotate.exchange import argilla, doccano, label_studio, potato
from affectlab.annotate.exchange.plain import Format, Found, Written

FORMATS: dict[str, Format] = {
    one.name: one for one in (label_studio.FORMAT, doccano.FORMAT, argilla.FORMAT, potato.FORMAT)
}
"""By the name the user types."""

__all__ = ["FORMATS", "Format", "Found", "Written"]
