"""``affectlab play``: models and fixed strategies play a game, each in its own condition."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from affectlab.cli.common import (
    INTERRUPTED,
    AsJson,
    BaseUrl,
    Device,
    Dtype,
    Threads,
    Vectors,
    numbers,
    print_json,
    print_rows,
)
from affectlab.errors import UserError

if TYPE_CHECKING:
    from affectlab.arena import Arena, MatchFigures, PlayerFigures, Result
    from affectlab.models.base import Model
    from affectlab.models.settings import ModelSettings


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("play", help="Let models and fixed strategies play a game, each in its own condition.")(play)


def play(
    game: Annotated[str, typer.Argument(help="Which game; `affectlab games list` lists them.")],
    out: Annotated[Path, typer.Option(help="Folder to make or go on with.")],
    player: Annotated[
        list[str] | None,
        typer.Option(help="Who plays: MODEL, 'MODEL as CONDITION', or strategy:NAME (tit_for_tat …). Repeatable."),
    ] = None,
    model: Annotated[str | None, typer.Option(help="A tournament of this model's emotional states: its spec.")] = None,
    emotions: Annotated[
        str, typer.Option(help="With --model: all, or a list (anger,fear). Neutral plays too.")
    ] = "all",
    alpha: Annotated[float, typer.Option(help="With --model: strength of the emotion vectors.")] = 1.0,
    tournament: Annotated[
        bool, typer.Option("--tournament", help="Every player meets every player, itself included, two by two.")
    ] = False,
    rounds: Annotated[int, typer.Option(help="Rounds of each match.", min=1)] = 1,
    matches: Annotated[int, typer.Option(help="How often each pairing is played.", min=1)] = 1,
    alternate: Annotated[bool, typer.Option("--alternate", help="Change seats after every round.")] = False,
    parameters: Annotated[
        list[str] | None, typer.Option("--set", help="A payoff parameter. Repeatable.", metavar="NAME=NUMBER")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of whatever is drawn.", min=0)] = 0,
    temperature: Annotated[float, typer.Option(help="0 for greedy.", min=0.0)] = 0.0,
    likelihood: Annotated[
        bool, typer.Option("--likelihood", help="Take each model's most likely move; nothing is generated.")
    ] = False,
    max_tokens: Annotated[int, typer.Option(help="Most new tokens of a reply.", min=1)] = 32,
    vectors: Vectors = None,
    base_url: BaseUrl = None,
    device: Device = "auto",
    dtype: Dtype = "float32",
    threads: Threads = None,
    as_json: AsJson = False,
) -> None:
    """Play what is missing, and print who got what."""
    from affectlab.arena import Arena, Setup, everyone_with_everyone, match_figures, play_arena, player_figures
    from affectlab.games import find_game
    from affectlab.models import ModelSettings
    from affectlab.runs.manifest import command_line

    named = _players(player or [], model, emotions, alpha)
    if vectors is not None and not any(one.steered for one in named):
        raise UserError("--vectors goes with a player in a state that applies one, such as 'MODEL as anger@1.0'.")
    everyone = tuple(dict.fromkeys(named))
    pairings: tuple[tuple[int, ...], ...]
    if model is not None or tournament:
        pairings = everyone_with_everyone(len(everyone))
    else:
        pairings = (tuple(everyone.index(one) for one in named),)
    arena = Arena(
        Setup(find_game(game), numbers(parameters or [], "--set"), rounds, alternate, seed),
        everyone,
        tuple(pairing for pairing in pairings for _ in repeat(None, matches)),
        temperature,
        max_tokens,
        likelihood,
    )
    settings = ModelSettings(
        base_url=base_url,
        device=device,
        dtype=dtype,  # type: ignore[arg-type]
        threads=threads,
        vectors=vectors,
    )
    with _open_all({one.model for one in everyone if one.model}, settings) as models, _bar(game) as show:
        result = play_arena(arena, models, out, show, command_line())
    finished = [match for match in result.matches if match.rounds]
    figures = [match_figures(match) for match in finished]
    players = player_figures(finished)
    if as_json:
        print_json(_document(result, players, figures))
    else:
        _print(arena, result, players, figures)
        print(f"\nEvery round: {out / 'rounds.jsonl'}")
    raise typer.Exit(_tell(result, out))


def _players(written: Sequence[str], model: str | None, emotions: str, alpha: float) -> list[Any]:
    from affectlab.arena import read_player
    from affectlab.games import EMOTIONS
    from affectlab.steering.stimuli import emotion_id

    if model is None:
        if emotions != "all":
            raise UserError("--emotions goes with --model; without it, write --player 'MODEL as anger@1.0'.")
        if len(written) < 2:
            raise UserError("A game takes two players or more: give --player twice, or --model for a tournament.")
        return [read_player(one) for one in written]
    named = [one.strip() for one in emotions.split(",")]
    chosen = EMOTIONS if emotions == "all" else tuple(dict.fromkeys(emotion_id(one) for one in named if one))
    if not chosen or "neutral" in chosen:
        raise UserError(f"--emotions {emotions!r}: expected all, or emotions joined by commas; neutral plays anyway.")
    states = [model, *(f"{model} as {emotion}@{alpha}" for emotion in chosen)]
    return [read_player(one) for one in (*states, *written)]


@contextmanager
def _open_all(specs: set[str], settings: ModelSettings) -> Iterator[Mapping[str, Model]]:
    from affectlab.models import open_model

    with ExitStack() as stack:
        models = {}
        for spec in sorted(specs):
            models[spec] = open_model(spec, settings)
            stack.callback(models[spec].close)
        yield models


@contextmanager
def _bar(title: str) -> Iterator[Any]:
    from affectlab.cli.run import progress_bar
    from affectlab.runs import Progress

    with progress_bar(title) as show:
        yield lambda done, total: show(Progress(done, total, 0))


def _print(arena: Arena, result: Result, players: Sequence[PlayerFigures], figures: Sequence[MatchFigures]) -> None:
    finished, wanted = sum(one.rounds for one in figures), len(result.matches) * arena.setup.rounds
    print(f"{arena.setup.game.title}. Matches: {len(result.matches)}; rounds finished: {finished} of {wanted}.")
    if not finished:
        return
    print()
    print_rows(
        ("player", "matches", "payoff a round", "cooperation", "focal behaviour", "drawn moves"),
        [
            (
                one.name,
                str(one.matches),
                _spanned(one.payoff),
                _spanned(one.cooperation),
                ", ".join(f"{role} {share:.2f}" for role, share in one.focal.items()),
                f"{one.drawn} of {one.moves}",
            )
            for one in players
        ],
    )
    print()
    _print_pairings(figures)
    drawn, again = sum(one.drawn for one in players), sum(one.repeated for one in players)
    lost = "No round was lost." if result.complete else f"{wanted - finished} rounds are not played yet."
    print(
        f"\nUnreadable replies: {drawn} moves were drawn evenly from the legal ones after two unreadable replies, "
        f"{again} were read from the second reply. {lost}\n"
        "Drawn moves count in payoffs and in no figure of behaviour. docs/games.md says what each figure is."
    )


def _print_pairings(figures: Sequence[MatchFigures]) -> None:
    from affectlab.arena import pairing_figures

    pairings = pairing_figures(figures)
    rows = [
        (
            " – ".join(one.players),
            str(one.matches),
            " – ".join(f"{paid:.2f}" for paid in one.payoffs),
            _number(one.surplus),
            f"{one.inequality:.2f}",
            " – ".join(map(_number, one.exploitability)),
            _number(one.off_equilibrium),
        )
        for one in pairings
    ]
    names = ("players", "matches", "payoffs a round", "surplus", "inequality", "exploitability", "off equilibrium")
    print_rows(names, rows)
    if len(figures) > len(pairings):
        print("Means over the matches of each pairing; --json has every match.")


def _number(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.2f}"


def _spanned(one: Any) -> str:
    if one.value is None:
        return "n/a"
    span = "" if one.low is None else f" [{one.low:.2f}, {one.high:.2f}]"
    return f"{one.value:.2f}{span}"


def _document(result: Result, players: Sequence[PlayerFigures], figures: Sequence[MatchFigures]) -> dict[str, Any]:
    from dataclasses import asdict

    from affectlab.arena import pairing_figures

    return {
        "players": [asdict(one) for one in players],
        "pairings": [asdict(one) for one in pairing_figures(figures)],
        "matches": [asdict(one) for one in figures],
        "session": {
            "asked": result.asked,
            "failed": result.failed,
            "interrupted": result.interrupted,
            "complete": result.complete,
        },
    }


def _tell(result: Result, out: Path) -> int:
    """Say on standard error how the session ended; the exit code."""
    if result.interrupted:
        print(f"Stopped; every reply so far is kept in {out}. The same command goes on.", file=sys.stderr)
        return INTERRUPTED
    if result.failed:
        shown = "\n".join(f"  {count} × {error}" for error, count in result.errors[:5])
        print(
            f"{result.failed} requests got no reply:\n{shown}\nTheir matches wait in {out}; the same command goes on.",
            file=sys.stderr,
        )
        return 1
    return 0
