"""A model whose replies follow from the request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from affectlab.models.base import Ability, Answer, Failure, ModelCard, Request, Response


@dataclass
class Saying:
    """A model whose replies follow from the request; keeps what it was asked."""

    reply: Any
    able: frozenset[Ability] = frozenset({Ability.GENERATE})
    asked: list[Request] = field(default_factory=list)
    stop_after: int | None = None

    @property
    def card(self) -> ModelCard:
        return ModelCard("saying", "saying")

    @property
    def abilities(self) -> frozenset[Ability]:
        return self.able

    def respond(self, requests: Sequence[Request]) -> Iterator[tuple[Request, Answer]]:
        for request in requests:
            if self.stop_after is not None and len(self.asked) == self.stop_after:
                raise KeyboardInterrupt
            self.asked.append(request)
            said = self.reply(request)
            yield request, said if isinstance(said, Failure) else Response(said)

    def close(self) -> None:
        """Nothing to free."""
