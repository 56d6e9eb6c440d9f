"""What a steered model does to plain text: its divergence, which is a dose, and its damage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from affectlab.steering.contrast import Doubles
from affectlab.steering.subject import Subject

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


@dataclass(frozen=True, slots=True)
class Coherence:
    """What an intervention does to plain text.

    Attributes:
        kl: Mean KL divergence of the neutral from the steered next-token distribution, nats.
        nll: Negative log-likelihood of the texts, nats a token.
        neutral_nll: The same without the intervention.
    """

    kl: float
    nll: float
    neutral_nll: float

    @property
    def damaged(self) -> bool:
        """Whether it is beyond :data:`MOST_KL` or :data:`MOST_NLL_RISE`."""
        return not (self.kl <= MOST_KL and self.nll - self.neutral_nll <= MOST_NLL_RISE)


def coherence(
    subject: Subject, interventions: Sequence[Intervention], texts: Sequence[str] = NEUTRAL_TEXTS
) -> list[Coherence]:
    """Measure interventions on plain text, all in one pass."""
    from affectlab.engine.interventions import NEUTRAL

    kls = divergence(subject, interventions, texts)
    nlls = _nll(subject, [NEUTRAL, *interventions], texts)
    return [Coherence(float(kl), float(nll), float(nlls[0])) for kl, nll in zip(kls, nlls[1:], strict=True)]


def divergence(
    subject: Subject, interventions: Sequence[Intervention], texts: Sequence[str] = NEUTRAL_TEXTS
) -> Doubles:
    """KL(neutral ‖ steered) of the next token, nats, for each intervention.

    The mean over the middle and the end of each text, over the whole vocabulary. Whatever an intervention's positions,
    it is measured as made at all of them: at generated ones alone it could not show before anything is generated.
    """
    beginnings = [ids[:end] for ids in map(subject.plain, texts) for end in sorted({(len(ids) + 1) // 2, len(ids)})]
    neutral = {row: logprobs.astype(np.float64) for row, _, logprobs in subject.engine.next_tokens(beginnings)}
    everywhere = [replace(one, positions="all") for one in interventions]
    total = np.zeros(len(everywhere))
    for row, which, logprobs in subject.engine.next_tokens(beginnings, everywhere):
        total[which] += np.exp(neutral[row]) @ (neutral[row] - logprobs)
    kl: Doubles = np.maximum(total / len(beginnings), 0.0)
    return kl


def _nll(subject: Subject, interventions: Sequence[Intervention], texts: Sequence[str]) -> Doubles:
    """Negative log-likelihood of the second half of each text, nats a token, for each intervention."""
    from affectlab.engine.rows import ScoreRow

    halves = [(ids[: (len(ids) + 1) // 2], ids[(len(ids) + 1) // 2 :]) for ids in map(subject.plain, texts)]
    rows = [ScoreRow(start, [rest], f"plain text {number}") for number, (start, rest) in enumerate(halves)]
    total = np.zeros(len(interventions))
    for _, which, logprobs in subject.engine.score(rows, interventions):
        total[which] -= logprobs[0]
    mean: Doubles = total / sum(len(rest) for _, rest in halves)
    return mean
