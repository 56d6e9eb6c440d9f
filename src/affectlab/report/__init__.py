"""Results for people: tables in the terminal, one HTML file, CSV, LaTeX and JSON exports.

``model`` says what a report is made from; ``terminal``, ``html`` and ``export`` each show it. Figures need
matplotlib, which is imported only when one is drawn.
"""

from __future__ import annotations

from affectlab.report.model import Document, Example, RunReport, Section, SlotAnswer

__all__ = ["Document", "Example", "RunReport", "Section", "SlotAnswer"]
