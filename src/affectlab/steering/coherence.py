"""What a steered model does to plain text: its divergence, which is a dose, and its damage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from affectlab.errors import UserError
from affectlab.steering.contrast import Doubles, Floats
from affectlab.steering.subject import Progress, Subject

if TYPE_CHECKING:
    from affectlab.engine.interventions import Intervention

NEUTRAL_TEXTS: tuple[str, ...] = (
    "The library opens at nine in the morning and closes at six on weekdays. Books can be borrowed for three weeks.",
    "Water boils at a lower temperature on a mountain than at the coast, as the pressure of the air falls with height.",
    "To change the battery, slide the cover to the left, take out the old cell, and put in the new one, plus sign up.",
    "The bus to the station runs every fifteen minutes. The fare is the same for every zone and is paid by card.",
    "A spreadsheet has rows and columns. Each cell holds a number, a word, or a formula that refers to other cells.",
    "The museum was built in 1932 of grey stone. It has four floors, two lifts, and a room for visiting exhibitions.",
    "Mix the flour with the salt, add the water slowly, and let the dough rest for half an hour under a cloth.",
    "The committee met on Tuesday and went through the list of repairs. The minutes will be sent out by Friday.",
)
"""Plain texts on which damage and doses are measured: what steering should leave as it is."""

MOST_KL = 1.0
"""Divergence (nats a token) on plain text beyond which a condition is flagged: on SmolLM2 text is damaged there."""

MOST_NLL_RISE = 0.5
"""Rise of the negative log-likelihood (nats a token) of plain text beyond which a condition is flagged."""


_AT_ONCE = 8
"""Interventions that run together: the log-probabilities of every token under each are held at a time."""


@dataclass(frozen=True, slots=True)
class Coherence:
    """What an intervention does to plain text, over every token of it but the first.

    Attributes:
        kl: Mean KL divergence of the neutral from the steered next-token distribution, nats a token.
        nll_rise: How much the texts' negative log-likelihood rises, nats a token.
        kl_error: Standard error of ``kl`` over texts; ``None`` for a single text.
        nll_rise_error: The same of ``nll_rise``.
    """

    kl: float
    nll_rise: float
    kl_error: float | None = None
    nll_rise_error: float | None = None

    @property
    def damaged(self) -> bool:
        """Whether it is beyond :data:`MOST_KL` or :data:`MOST_NLL_RISE`."""
        return not (self.kl <= MOST_KL and self.nll_rise <= MOST_NLL_RISE)


def coherence(
    subject: Subject,
    interventions: Sequence[Intervention],
    texts: Sequence[str] = NEUTRAL_TEXTS,
    progress: Progress | None = None,
    neutral: Sequence[Floats] = (),
) -> list[Coherence]:
    """Measure interventions on plain text: both figures at the same places, in the same passes.

    The places are all tokens but the first of each text, each predicted from those before it. Whatever an
    intervention's positions, it is measured as made at all of them, so that conditions compare.

    Args:
        subject: The model.
        interventions: What is measured.
        texts: Plain texts, of two tokens or more.
        progress: Told how many interventions are measured.
        neutral: What :func:`neutral_text` gave, where it is at hand.

    Raises:
        UserError: When a text has fewer than two tokens.
    """
    rows = _rows(subject, texts)
    everywhere = [replace(one, positions="all") for one in interventions]
    if everywhere and not neutral:
        neutral = neutral_text(subject, texts)
    kl, rise = np.zeros((2, len(everywhere), len(rows)))
    for start in range(0, len(everywhere), _AT_ONCE):
        some = everywhere[start : start + _AT_ONCE]
        for row, which, logprobs in subject.engine.every_token(rows, some):
            lost = neutral[row] - logprobs[:-1]
            kl[start + which, row] = np.sum(np.exp(neutral[row]) * lost, dtype=np.float64)
            rise[start + which, row] = lost[np.arange(len(lost)), rows[row][1:]].sum(dtype=np.float64)
        if progress is not None:
            progress("plain text", start + len(some), len(everywhere))
    places = np.array([len(ids) - 1 for ids in rows])
    found = [(_ratio(one, places), _ratio(other, places)) for one, other in zip(kl, rise, strict=True)]
    return [Coherence(max(one[0], 0.0), other[0], one[1], other[1]) for one, other in found]


def neutral_text(subject: Subject, texts: Sequence[str] = NEUTRAL_TEXTS) -> list[Floats]:
    """Log-probabilities ``[token, vocabulary]`` of each text's tokens but the first, the model left as it is."""
    rows = _rows(subject, texts)
    found = {row: logprobs[:-1] for row, _, logprobs in subject.engine.every_token(rows)}
    return [found[row] for row in range(len(rows))]


def divergence(subject: Subject, interventions: Sequence[Intervention], neutral: Sequence[Floats] = ()) -> Doubles:
    """KL(neutral ‖ steered) of the next token of plain text, nats, for each intervention; see :func:`coherence`."""
    return np.array([one.kl for one in coherence(subject, interventions, neutral=neutral)])


def _rows(subject: Subject, texts: Sequence[str]) -> list[tuple[int, ...]]:
    rows = [subject.plain(text) for text in texts]
    if not rows or min(map(len, rows)) < 2:
        raise UserError("What steering does to plain text is measured on texts of two tokens or more.")
    return rows


def _ratio(sums: Doubles, counts: npt.NDArray[np.int64]) -> tuple[float, float | None]:
    """Sums over counts, all texts together, and the standard error over texts (linearised)."""
    mean = sums.sum() / counts.sum()
    texts = len(sums)
    if texts < 2:
        return float(mean), None
    variance = texts / (texts - 1) * ((sums - mean * counts) ** 2).sum()
    return float(mean), float(np.sqrt(variance) / counts.sum())
