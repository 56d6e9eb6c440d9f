"""Models in the arena: what they are told, what is kept, what happens to replies that cannot be read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from tests.support.saying import Saying

from affectlab.arena import Arena, Result, Setup, match_figures, play_arena, player_figures, read_player
from affectlab.errors import UserError
from affectlab.games import GAMES
from affectlab.models.base import Ability, Answer, Failure, Request, Response


def cooperative(request: Request) -> str:
    """Puts in, whichever letter that has."""
    lines = request.messages[1].content.splitlines()
    return f"ANSWER: {next(line[0] for line in lines if line.endswith('. put in for both'))}"


def run(
    out: Path,
    models: Mapping[str, Saying],
    *players: str,
    game: str = "prisoners_dilemma",
    rounds: int = 3,
    temperature: float = 0.0,
) -> Result:
    named = tuple(map(read_player, players))
    setup = Setup(GAMES[game], rounds=rounds)
    return play_arena(Arena(setup, named, (tuple(range(len(named))),), temperature), models, out)


def test_a_model_that_cooperates_with_tit_for_tat(tmp_path: Path) -> None:
    model = Saying(cooperative)
    result = run(tmp_path / "a", {"m": model}, "m", "strategy:tit_for_tat")
    (match,) = result.matches
    assert [one.payoffs for one in match.rounds] == [(3, 3)] * 3
    assert result.complete
    assert len(model.asked) == 3
    # The options change places from round to round, so that a letter is no behaviour.
    letters = [cooperative(request)[-1] for request in model.asked]
    assert letters == ["B", "A", "B"]


def test_the_model_is_told_rules_numbers_and_what_it_saw(tmp_path: Path) -> None:
    model = Saying(cooperative)
    run(tmp_path / "a", {"m": model}, "m as prompt:anger", "strategy:always_defect")
    system, user = model.asked[1].messages
    assert "anger" in system.content.splitlines()[0]
    assert "If both take for yourself, each gets 1." in system.content
    assert "You play 3 rounds with the same others." in system.content
    assert user.content.startswith(
        "So far:\nRound 1: you chose to put in for both; the other chose to take for yourself. You got 0, the other 5."
    )
    assert "This is round 2 of 3." in user.content
    assert model.asked[1].condition == "prompt:anger"
    told = "\n".join(message.content for message in model.asked[1].messages).lower()
    assert not any(word in told for word in ("cooperat", "defect", "dilemma"))


def test_nobody_sees_the_others_move_of_the_same_round(tmp_path: Path) -> None:
    model = Saying(lambda request: "ANSWER: 7")
    run(tmp_path / "a", {"m": model}, "m", "m as prompt:fear", game="sealed_bid", rounds=2)
    first = [request.messages[1].content for request in model.asked[:2]]
    assert all("So far" not in text for text in first)
    assert "you bid 7; the other bid 7" in model.asked[2].messages[1].content


def test_in_turn_the_second_is_told_what_the_first_did(tmp_path: Path) -> None:
    model = Saying(lambda request: "ANSWER: 4" if "do you send" in request.messages[1].content else "ANSWER: 6")
    result = run(tmp_path / "a", {"m": model}, "m", "m as prompt:joy", game="trust", rounds=1)
    assert "Sent: 4; arrived: 12." in model.asked[1].messages[1].content
    assert list(result.matches[0].rounds[0].payoffs) == [10 - 4 + 6, 12 - 6]


def test_a_model_that_answers_nonsense_loses_no_round_and_is_reported(tmp_path: Path) -> None:
    model = Saying(lambda request: "The weather is fine.")
    result = run(tmp_path / "a", {"m": model}, "m", "strategy:always_cooperate", rounds=20)
    (match,) = result.matches
    assert result.complete
    assert len(match.rounds) == 20
    drawn = [one.moves[0] if one.moves[0].player == 0 else one.moves[1] for one in match.rounds]
    assert {move.how for move in drawn} == {"drawn"}
    assert {move.outcome for move in drawn} == {"unparseable; unparseable"}
    # Drawn evenly: both moves come up (all twenty alike would have a chance of 2 / 2^20).
    assert {move.value for move in drawn} == {0.0, 1.0}
    mine, _ = player_figures(result.matches)
    assert (mine.drawn, mine.moves) == (20, 20)
    assert mine.cooperation.value is None  # drawn moves are nobody's behaviour
    assert mine.payoff.value is not None
    assert match_figures(match).rounds == 20


def test_a_reply_that_cannot_be_read_is_asked_for_once_more(tmp_path: Path) -> None:
    def shy(request: Request) -> str:
        return "Hm." if len(request.messages) == 2 else "ANSWER: 50"

    model = Saying(shy)
    result = run(tmp_path / "a", {"m": model}, "m", "strategy:random", game="ultimatum", rounds=1)
    offer = result.matches[0].rounds[0].moves[0]
    # 50 is out of the range 0 to 10: it is not clamped, so the move is drawn.
    assert (offer.how, offer.outcome) == ("drawn", "unparseable; unparseable")
    assert [message.role for message in model.asked[1].messages] == ["system", "user", "assistant", "user"]
    assert "could not be read" in model.asked[1].messages[3].content
    good = Saying(lambda request: "Hm." if len(request.messages) == 2 else "ANSWER: 5")
    again = run(tmp_path / "b", {"m": good}, "m", "strategy:random", game="ultimatum", rounds=1)
    move = again.matches[0].rounds[0].moves[0]
    assert (move.how, move.value, move.outcome) == ("read", 5, "unparseable; ok")
    assert player_figures(again.matches)[0].repeated == 1


def test_every_round_is_written_down(tmp_path: Path) -> None:
    run(tmp_path / "a", {"m": Saying(cooperative)}, "m", "strategy:always_defect")
    rows = [json.loads(line) for line in (tmp_path / "a" / "rounds.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["round"] for row in rows] == [1, 2, 3]
    assert rows[0]["payoffs"] == [0, 5]
    assert {move["player"]: move["value"] for move in rows[0]["moves"]} == {1: 1.0, 2: 0.0}
    assert {move["how"] for move in rows[0]["moves"]} == {"read", "strategy"}


def test_a_stopped_match_goes_on_and_comes_out_the_same(tmp_path: Path) -> None:
    whole = run(tmp_path / "whole", {"m": Saying(cooperative)}, "m", "strategy:random", rounds=8)
    stopped = run(tmp_path / "a", {"m": Saying(cooperative, stop_after=3)}, "m", "strategy:random", rounds=8)
    assert stopped.interrupted
    assert not stopped.complete
    rest = Saying(cooperative)
    result = run(tmp_path / "a", {"m": rest}, "m", "strategy:random", rounds=8)
    assert len(rest.asked) == 5
    assert result.matches[0].rounds == whole.matches[0].rounds
    one, other = ((tmp_path / name / "rounds.jsonl").read_bytes() for name in ("a", "whole"))
    assert one == other


def test_a_request_that_fails_stalls_its_match_and_is_asked_again(tmp_path: Path) -> None:
    result = run(tmp_path / "a", {"m": Saying(lambda request: Failure("busy"))}, "m", "strategy:grim")
    assert (result.failed, result.errors, result.complete) == (1, (("busy", 1),), False)
    assert run(tmp_path / "a", {"m": Saying(cooperative)}, "m", "strategy:grim").complete


def test_another_match_is_not_played_into_the_same_folder(tmp_path: Path) -> None:
    run(tmp_path / "a", {"m": Saying(cooperative)}, "m", "strategy:grim")
    with pytest.raises(UserError, match="other rounds"):
        run(tmp_path / "a", {"m": Saying(cooperative)}, "m", "strategy:grim", rounds=4)


def test_all_matches_ask_together(tmp_path: Path) -> None:
    batches: list[int] = []

    class Counting(Saying):
        def respond(self, requests: Sequence[Request]) -> Iterator[tuple[Request, Answer]]:
            batches.append(len(requests))
            return super().respond(requests)

    players = tuple(map(read_player, ("m", "m as prompt:anger", "m as prompt:joy")))
    pairings = ((0, 1), (0, 2), (1, 2))
    play_arena(Arena(Setup(GAMES["stag_hunt"], rounds=2), players, pairings), {"m": Counting(_joint)}, tmp_path / "a")
    assert batches == [6, 6]


def _joint(request: Request) -> str:
    lines = request.messages[1].content.splitlines()
    return f"ANSWER: {next(line[0] for line in lines if line.endswith('. do the joint thing'))}"


def test_sampled_replies_have_seeds_of_their_own(tmp_path: Path) -> None:
    model = Saying(cooperative)
    run(tmp_path / "a", {"m": model}, "m", "strategy:grim", temperature=0.7)
    seeds = [request.sampling.seed for request in model.asked]
    assert len(set(seeds)) == 3
    again = Saying(cooperative)
    run(tmp_path / "b", {"m": again}, "m", "strategy:grim", temperature=0.7)
    assert [request.sampling.seed for request in again.asked] == seeds


def test_what_a_model_cannot_do_is_refused_before_anything_is_played(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot generate"):
        run(tmp_path / "a", {"m": Saying(cooperative, frozenset({Ability.SCORE}))}, "m", "strategy:grim")
    with pytest.raises(UserError, match="only a local model can be steered"):
        run(tmp_path / "a", {"m": Saying(cooperative)}, "m as anger@1.0", "strategy:grim")
    assert not (tmp_path / "a").exists()


def test_the_most_likely_move_can_be_taken_instead(tmp_path: Path) -> None:
    class Scoring(Saying):
        def respond(self, requests: Sequence[Request]) -> Iterator[tuple[Request, Answer]]:
            for request in requests:
                self.asked.append(request)
                yield request, Response(None, "scored", logprobs=self.reply(request))

    def five(request: Request) -> tuple[float, ...]:
        return tuple(-1.0 if option == " 5" else -9.0 for option in request.options)

    able = frozenset({Ability.SCORE})
    players = (read_player("m"), read_player("strategy:always_cooperate"))
    arena = Arena(Setup(GAMES["ultimatum"]), players, ((0, 1),), likelihood=True)
    model = Scoring(five, able)
    (match,) = play_arena(arena, {"m": model}, tmp_path / "a").matches
    assert model.asked[0].prefill == "ANSWER:"
    assert model.asked[0].options == tuple(f" {value}" for value in range(11))
    assert (match.rounds[0].moves[0].value, match.rounds[0].moves[0].how) == (5, "read")
    tied = Scoring(lambda request: (-1.0,) * len(request.options), able)
    (match,) = play_arena(arena, {"m": tied}, tmp_path / "b").matches
    assert (match.rounds[0].moves[0].how, match.rounds[0].moves[0].outcome) == ("drawn", "ambiguous; ambiguous")
    with pytest.raises(UserError, match="cannot score"):
        play_arena(arena, {"m": Saying(cooperative)}, tmp_path / "c")
    with pytest.raises(UserError, match="leave --temperature out"):
        Arena(Setup(GAMES["ultimatum"]), players, ((0, 1),), 0.7, likelihood=True)
    writing = (read_player("m as anger@1.0:positions=generated"), players[1])
    able |= {Ability.STEER}
    with pytest.raises(UserError, match=r"and --likelihood scores options.* play without --likelihood"):
        play_arena(
            Arena(Setup(GAMES["ultimatum"]), writing, ((0, 1),), likelihood=True),
            {"m": Scoring(five, able)},
            tmp_path / "d",
        )


def test_the_second_attempt_is_sampled_anew(tmp_path: Path) -> None:
    model = Saying(lambda request: "Hm.")
    run(tmp_path / "a", {"m": model}, "m", "strategy:grim", rounds=1, temperature=0.7)
    first, second = (request.sampling.seed for request in model.asked)
    assert first != second


def test_other_players_do_not_go_on_in_the_same_folder(tmp_path: Path) -> None:
    run(tmp_path / "a", {"m": Saying(cooperative)}, "m", "strategy:grim")
    with pytest.raises(UserError, match="other players"):
        run(tmp_path / "a", {"m": Saying(cooperative)}, "m", "strategy:tit_for_tat")
