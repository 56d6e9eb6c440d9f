"""``affectlab games``: the games and roles there are, and where each rests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from affectlab.cli.common import AsJson, numbers, print_json, print_rows

if TYPE_CHECKING:
    from affectlab.games import Equilibrium, Game, GameRole

_ARROWS = {1: "up", 0: "–", -1: "down"}
_MOST_SHOWN = 6


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    group = typer.Typer(help="The games: roles, payoffs, equilibria, people's direction.", no_args_is_help=True)
    group.command("list", help="List the games and their roles.")(list_games)
    group.command("show", help="Show a game: moves, payoffs, equilibria, where emotions move people in it.")(show)
    app.add_typer(group, name="games")


def list_games(as_json: AsJson = False) -> None:
    """Every role of every game."""
    from affectlab.games import GAMES, ROLES

    if as_json:
        print_json([{"role": one.id, "game": one.game, "focal": one.focal, "kind": one.kind} for one in ROLES.values()])
        return
    print_rows(
        ("role", "game", "focal behaviour", "decision"),
        [(one.id, GAMES[one.game].title, one.focal, one.kind) for one in ROLES.values()],
    )


def show(
    game: Annotated[str, typer.Argument(help="Which; `affectlab games list` lists them.")],
    parameters: Annotated[
        list[str] | None, typer.Option("--set", help="A payoff parameter. Repeatable.", metavar="NAME=NUMBER")
    ] = None,
    players: Annotated[int | None, typer.Option(help="How many play. Default: the fewest that can.", min=1)] = None,
    repeated: Annotated[bool, typer.Option("--repeated", help="Hold the rules of repeated play too.")] = False,
    as_json: AsJson = False,
) -> None:
    """One game, with parameters of one's own."""
    from affectlab.games import equilibria, fill, find_game
    from affectlab.games.amounts import amount
    from affectlab.games.equilibria import level_k

    found = find_game(game)
    given = numbers(parameters or [], "--set")
    values = fill(found, given, repeated=repeated)
    seats = players or found.players[0]
    rests = equilibria(found, given, seats)
    if as_json:
        print_json(_document(found, dict(values), seats, rests))
        return
    fewest, most = found.players
    print(f"{found.title} ({found.source})\n{found.about}\n")
    moves = "at the same time" if found.simultaneous else "in turn"
    print(f"Players: {fewest if fewest == most else f'{fewest} to {most}'}, moving {moves}.")
    for number, move in enumerate(found.moves, start=1):
        print(f"Move {number}: {move.role}, who knows {move.knows}.")
    print(f"Rules: {'; '.join(found.rules)}.\n")
    print_rows(
        ("parameter", "value", "meaning"),
        [(one.name, amount(values[one.name]), one.meaning) for one in found.parameters],
    )
    print(f"\nEquilibria of one round with {seats} players:")
    if not rests:
        print("  No closed form is known here for these parameters.")
    for one in rests[:_MOST_SHOWN]:
        print(
            f"  {one.kind}: {_strategies(one)}; expected payoffs {', '.join(amount(paid, 3) for paid in one.payoffs)}"
        )
    if len(rests) > _MOST_SHOWN:
        print(f"  … and {len(rests) - _MOST_SHOWN} more (--json shows all)")
    if found.id == "beauty_contest":
        steps = ", ".join(amount(level_k(k, values["p"], values["low"], values["high"]), 3) for k in range(4))
        print(f"\nGuesses of who thinks 0, 1, 2, 3 steps ahead from the middle (Nagel 1995): {steps}.")
    print(
        "\nWhere people's behaviour moves under an emotion (– is neither way, or too little known; docs/games.md says "
        "what it rests on):"
    )
    from affectlab.games import EMOTIONS

    print_rows(
        ("role", "focal behaviour", *EMOTIONS),
        [(role.id, role.focal, *(_arrow(role, emotion) for emotion in EMOTIONS)) for role in found.roles],
    )


def _strategies(one: Equilibrium) -> str:
    return f"everyone {one.strategies[0]}" if len(set(one.strategies)) == 1 else " / ".join(one.strategies)


def _arrow(role: GameRole, emotion: str) -> str:
    found = role.evidence(emotion)
    return _ARROWS[found.direction] + (f" ({found.evidence})" if found.direction else "")


def _document(game: Game, values: dict[str, float], seats: int, rests: tuple[Equilibrium, ...]) -> dict[str, object]:
    from affectlab.games import EMOTIONS

    return {
        "game": game.id,
        "title": game.title,
        "source": game.source,
        "players": list(game.players),
        "simultaneous": game.simultaneous,
        "parameters": values,
        "rules": list(game.rules),
        "equilibria": [
            {"kind": one.kind, "strategies": list(one.strategies), "payoffs": list(one.payoffs)} for one in rests
        ],
        "seats": seats,
        "roles": [
            {
                "role": role.id,
                "focal": role.focal,
                "kind": role.kind,
                "directions": {emotion: role.evidence(emotion)._asdict() for emotion in EMOTIONS},
            }
            for role in game.roles
        ],
    }
