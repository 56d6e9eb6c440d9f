"""Players by their specs."""

from __future__ import annotations

import pytest

from affectlab.arena import read_player
from affectlab.errors import UserError


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("strategy:tit_for_tta", "did you mean tit_for_tat"),
        (" as anger@1.0", "names no model"),
        ("smollm2 as anger", "has no strength"),
    ],
)
def test_players_that_are_none(spec: str, told: str) -> None:
    with pytest.raises(UserError, match=told):
        read_player(spec)


def test_players_are_spelled_in_one_way() -> None:
    player = read_player("smollm2 as happiness@1")
    assert (player.name, player.model, player.condition) == ("smollm2 as joy@1.0", "smollm2", "joy@1.0")
    assert read_player("smollm2 as neutral").name == "smollm2"


def test_only_a_model_with_vectors_is_steered() -> None:
    specs = ("smollm2 as anger@1.0", "smollm2 as prompt:anger", "smollm2", "strategy:grim")
    assert [read_player(spec).steered for spec in specs] == [True, False, False, False]
