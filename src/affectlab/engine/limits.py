"""Which texts a model takes: how long they may be, and of which tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from affectlab.engine.rows import GenerateRow, ScoreRow, TextRow
from affectlab.engine.scoring import name
from affectlab.errors import UserError


@dataclass(frozen=True, slots=True)
class Limits:
    """What a model's config says of the texts it takes.

    Attributes:
        vocabulary: Number of tokens there are.
        context: Most tokens of a text; ``None`` where the model states no limit.
    """

    vocabulary: int
    context: int | None

    @classmethod
    def of(cls, config: Any) -> Limits:
        """The limits of a transformers text config."""
        stated = getattr(config, "max_position_embeddings", None)
        return cls(int(config.vocab_size), stated if isinstance(stated, int) and stated > 0 else None)

    def check_scored(self, rows: Sequence[ScoreRow]) -> None:
        """Refuse rows that cannot be scored.

        Raises:
            UserError: Naming the row.
        """
        _check_kind(rows, ScoreRow)
        for number, row in enumerate(rows):
            who = name(rows, number)
            self._check_ids(who, row.prompt, "prompt")
            if not len(row.options):
                raise UserError(f"{who} has no options to score.")
            for option in row.options:
                self._check_ids(who, option, "option")
            longest = max(map(len, row.options))
            self._check_length(who, len(row.prompt), longest, f", and the longest option {longest}")

    def check_continued(self, rows: Sequence[GenerateRow]) -> None:
        """Refuse rows that cannot be continued.

        Raises:
            UserError: Naming the row.
        """
        _check_kind(rows, GenerateRow)
        for number, row in enumerate(rows):
            who, more = name(rows, number), row.generation.max_tokens
            self._check_ids(who, row.prompt, "prompt")
            self._check_length(who, len(row.prompt), more, f", and up to {more} are to follow")

    def check_read(self, rows: Sequence[TextRow]) -> None:
        """Refuse texts whose layers cannot be read.

        Raises:
            UserError: Naming the text.
        """
        for number, row in enumerate(rows):
            self._check_ids(name(rows, number), row.ids, "text")
            self._check_length(name(rows, number), len(row.ids))

    def _check_ids(self, who: str, ids: Sequence[int], what: str) -> None:
        if not len(ids):
            raise UserError(f"{who}: the {what} has no tokens.")
        try:
            low, high = min(ids), max(ids)
            fits = low >= 0 and high < self.vocabulary
        except TypeError:
            raise UserError(f"{who}: the {what} is no list of token ids. Tokenise it first.") from None
        if not fits:
            raise UserError(f"{who}: the {what} has token {low if low < 0 else high}; the model has {self.vocabulary}.")

    def _check_length(self, who: str, tokens: int, more: int = 1, told: str = "") -> None:
        """Refuse a text of some tokens and more to come, of which the last is never fed."""
        if self.context is not None and tokens + more - 1 > self.context:
            raise UserError(f"{who} has {tokens} tokens{told}; the model takes {self.context}.")


def _check_kind(rows: Sequence[Any], kind: type) -> None:
    if isinstance(rows, kind) or not all(isinstance(row, kind) for row in rows):
        raise UserError(f"Expected a list of {kind.__name__}s, one for each prompt.")
