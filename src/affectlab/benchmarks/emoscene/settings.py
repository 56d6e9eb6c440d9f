"""The settings of an EmoScene run (``--set NAME=VALUE``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from affectlab.benchmarks.options import flag

SETTINGS = {
    "explain": "yes: also ask why, in one or two sentences",
    "confidence": "yes: also ask how sure the model is, from 0 to 100",
    "prior": "FILE to take co-occurrence from (a saved prior, or other scenarios with gold) instead of the other folds",
}


class Extras(NamedTuple):
    """What is asked beside the answer."""

    explain: bool
    confidence: bool

    @property
    def any(self) -> bool:
        """Whether anything is."""
        return self.explain or self.confidence


def extras(options: Mapping[str, str]) -> Extras:
    """What a run's settings ask for beside the answer.

    Raises:
        UserError: When a setting is neither yes nor no.
    """
    return Extras(flag(options, "explain"), flag(options, "confidence"))


def check(options: Mapping[str, str]) -> None:
    """Refuse settings that cannot be used, before anything is asked.

    Raises:
        UserError: When one is neither yes nor no, or the prior's file cannot be used.
    """
    extras(options)
    if options.get("prior"):
        from affectlab.benchmarks.emoscene.prior_file import read_prior

        read_prior(options["prior"])
