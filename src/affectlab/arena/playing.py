"""Play matches to their end: all of them at once, every reply on disk before the next is taken.

A folder holds ``manifest.json`` (what is played by whom), ``responses.jsonl`` (every reply of a model with its request,
append-only) and ``rounds.jsonl`` (every finished round, made anew from the replies by each session). The same command
goes on where it stopped and asks only what is missing.

An unreadable reply is answered once with a reminder of the format. If that is not readable either, the move is drawn
evenly from the legal ones, which favours no behaviour, and is marked; no round is lost.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import affectlab
from affectlab.arena import prompts
from affectlab.arena.match import Match, Round, Setup, Waiting
from affectlab.arena.players import Player
from affectlab.arena.strategies import STRATEGIES, plays
from affectlab.errors import UserError
from affectlab.games import fill
from affectlab.models.base import Ability, Failure, Message, Model, Request, Response, Sampling, Steerable
from affectlab.reading import Outcome
from affectlab.runs.folder import SCHEMA, Answers, Appender, RunFolder, writing
from affectlab.runs.manifest import now
from affectlab.runs.plan import Cell
from affectlab.steering.conditions import check_scored, parse

ATTEMPTS = 2
"""How often a decision is asked for before it is drawn."""


@dataclass(frozen=True)
class Arena:
    """What is to be played: who meets whom, at what.

    Attributes:
        setup: The game.
        players: All who play.
        pairings: Each match's players, as indices into ``players``.
        temperature: Of replies; 0 for greedy.
        max_tokens: Most new tokens of a reply.
        likelihood: Take the most likely legal move in the place of a generated reply.
    """

    setup: Setup
    players: tuple[Player, ...]
    pairings: tuple[tuple[int, ...], ...]
    temperature: float = 0.0
    max_tokens: int = 32
    likelihood: bool = False

    def __post_init__(self) -> None:
        if self.likelihood and self.temperature:
            raise UserError("--likelihood takes the most likely move; nothing is sampled, so leave --temperature out.")
        names = Counter(player.name for player in self.players)
        if twice := next((name for name, count in names.items() if count > 1), None):
            raise UserError(f"Player {twice!r} is given twice; a player meets itself in a tournament.")
        if self.setup.rounds < 1:
            raise UserError(f"--rounds {self.setup.rounds}: at least 1 is needed.")
        for player in self.players:
            if player.strategy and not plays(player.strategy, self.setup.game.id):
                raise UserError(
                    f"{player.name} cannot play {self.setup.game.title}: its moves are neither cooperative nor not. "
                    "strategy:random can."
                )
        for pairing in self.pairings:
            self.setup.rules(len(pairing))

    def matches(self) -> list[Match]:
        """All matches, none begun."""
        width = len(str(len(self.pairings)))
        return [
            Match(f"m{number:0{width}d}", [self.players[index].name for index in pairing], self.setup)
            for number, pairing in enumerate(self.pairings, start=1)
        ]


@dataclass(frozen=True)
class Result:
    """What was played.

    Attributes:
        matches: With their finished rounds.
        asked: Replies that came in this session.
        failed: Requests that got none; the same command asks them again.
        interrupted: Whether Ctrl-C ended the session.
        errors: Distinct errors of failed requests with their counts.
    """

    matches: tuple[Match, ...]
    asked: int
    failed: int
    interrupted: bool
    errors: tuple[tuple[str, int], ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every match is over."""
        return not any(match.waiting() for match in self.matches)


def play_arena(
    arena: Arena,
    models: Mapping[str, Model],
    out: str | Path,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
    command: str | None = None,
) -> Result:
    """Play all matches of an arena, or go on with them.

    Args:
        arena: What to play.
        models: An open model for each spec that players name.
        out: Folder; made when absent.
        on_progress: Called with finished rounds and all rounds.
        command: The command line to record.

    Raises:
        UserError: When a model cannot do what is needed, or the folder is in use or holds something else.
        WorldError: When the disk is full, or a model can no longer be reached.
    """
    _check_abilities(arena, models)
    folder = RunFolder.at(out)
    with folder.locked():
        manifest = _open(arena, models, folder, command)
        answers = folder.answers()
        with writing(folder.path):
            rounds = (folder.path / "rounds.jsonl").open("w", encoding="utf-8")
        with rounds, folder.appending() as appender:
            session = _Session(arena, models, answers, appender, rounds, on_progress)
            try:
                session.run()
            finally:
                manifest["sessions"][-1].update(ended=now(), answered=session.asked, failed=session.failed)
                folder.write_manifest(manifest)
    return session.result()


def _check_abilities(arena: Arena, models: Mapping[str, Model]) -> None:
    for player in arena.players:
        if not player.model:
            continue
        able = models[player.model].abilities
        if arena.likelihood and Ability.SCORE not in able:
            raise UserError(f"{player.model} cannot score options: play without --likelihood.")
        if not arena.likelihood and Ability.GENERATE not in able:
            raise UserError(f"{player.model} cannot generate text: play with --likelihood.")
        if player.steered and Ability.STEER not in able:
            raise UserError(
                f"{player.name}: only a local model can be steered. Any model can be told an emotion: prompt:EMOTION."
            )
        if arena.likelihood:
            check_scored([player.condition], "--likelihood", "play without --likelihood")


def _open(arena: Arena, models: Mapping[str, Model], folder: RunFolder, command: str | None) -> dict[str, Any]:
    asked: dict[str, Any] = {
        "schema": SCHEMA,
        "kind": "arena",
        "game": arena.setup.game.id,
        "parameters": dict(fill(arena.setup.game, arena.setup.parameters, repeated=arena.setup.rounds > 1)),
        "rounds": arena.setup.rounds,
        "alternate": arena.setup.alternate,
        "seed": arena.setup.seed,
        "temperature": arena.temperature,
        "max_tokens": arena.max_tokens,
        "likelihood": arena.likelihood,
        "players": [player.name for player in arena.players],
        "pairings": [list(pairing) for pairing in arena.pairings],
        "models": {spec: dict(model.card.identity) for spec, model in models.items()},
    }
    found: dict[str, Any] = {}
    if folder.exists():
        found = folder.manifest()
        if found.get("kind") != "arena":
            raise UserError(f"{folder.path} holds a run of a benchmark; choose another --out.")
        changed = [name for name in asked if found.get(name) != asked[name]]
        if changed:
            raise UserError(
                f"{folder.path} was played with other {', '.join(changed)}. Repeat the command that began it, or "
                "choose another --out."
            )
    else:
        folder.check_new()
    steering = dict(found.get("steering", {}))
    for number, (spec, model) in enumerate(models.items()):
        states = sorted({one.condition for one in arena.players if one.model == spec and one.steered})
        if states and isinstance(model, Steerable):
            kept = folder.path / f"vectors-{number}.safetensors"
            steering[spec] = dict(model.prepare(states, kept, steering.get(spec, {})))
    sessions = [*found.get("sessions", []), {"started": now(), "ended": None, "command": command}]
    manifest = {**asked, "package_version": affectlab.__version__, "steering": steering, "sessions": sessions}
    folder.write_manifest(manifest)
    return manifest


@dataclass
class _Session:
    arena: Arena
    models: Mapping[str, Model]
    answers: Answers
    appender: Appender
    rounds: TextIO
    on_progress: Callable[[int, int], None]
    asked: int = 0
    failed: int = 0
    interrupted: bool = False
    matches: list[Match] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    _stalled: set[tuple[str, str]] = field(default_factory=set)

    def run(self) -> None:
        """Go round all matches until none waits for anything that can be had."""
        self.matches = self.arena.matches()
        try:
            while True:
                asks = [ask for number in range(len(self.matches)) for ask in self._advance(number)]
                if not asks:
                    return
                self._ask(asks)
        except KeyboardInterrupt:
            self.interrupted = True

    def result(self) -> Result:
        errors = tuple(self.errors.most_common())
        return Result(tuple(self.matches), self.asked, self.failed, self.interrupted, errors)

    def _advance(self, number: int) -> list[tuple[str, Request]]:
        """Make every move of a match that can be made, and say what must be asked for the next ones."""
        match, pairing = self.matches[number], self.arena.pairings[number]
        while waiting := match.waiting():
            asks: list[tuple[str, Request]] = []
            for one in waiting:
                player = self.arena.players[pairing[one.player]]
                if player.strategy:
                    move = STRATEGIES[player.strategy]
                    value = move(one.turn, match.others_cooperated(one.player), match.chance(one))
                    self._finish(match, match.decide(one, value, "strategy"))
                elif (ask := self._decide(match, one, player)) is not None:
                    asks.append((player.model, ask))
            if asks:
                return [(spec, ask) for spec, ask in asks if (ask.item, ask.step) not in self._stalled]
        return []

    def _decide(self, match: Match, waiting: Waiting, player: Player) -> Request | None:
        """Make a model's move from the replies there are, or return the request that is missing."""
        outcomes: list[str] = []
        messages = self._messages(match, waiting, player)
        for attempt in range(ATTEMPTS):
            request = self._request(match, waiting, player, messages, attempt)
            response = self.answers.by_cell.get(Cell(request.condition, 0, request.item), {}).get(("", request.step))
            if response is None:
                return request
            outcome, value = self._read(match, waiting, response)
            if value is not None:
                self._finish(match, match.decide(waiting, value, "read", "; ".join([*outcomes, "ok"])))
                return None
            outcomes.append(outcome.value)
            messages = (*messages, Message("assistant", response.text or ""), Message("user", prompts.again(waiting)))
        value = match.chance(waiting).choice(waiting.turn.legal)
        self._finish(match, match.decide(waiting, value, "drawn", "; ".join(outcomes)))
        return None

    def _read(self, match: Match, waiting: Waiting, response: Response) -> tuple[Outcome, float | None]:
        if self.arena.likelihood:
            return prompts.most_likely(match, waiting, response.logprobs)
        reading, value = prompts.read(match, waiting, response.text, response.finish)
        return reading.outcome, value

    def _messages(self, match: Match, waiting: Waiting, player: Player) -> tuple[Message, ...]:
        told = parse(player.condition).prompt
        system = prompts.system(match, waiting)
        return (
            Message("system", f"{told}\n\n{system}" if told else system),
            Message("user", prompts.user(match, waiting)),
        )

    def _request(
        self, match: Match, waiting: Waiting, player: Player, messages: tuple[Message, ...], attempt: int
    ) -> Request:
        warm = self.arena.temperature > 0
        seed = match.chance(waiting).getrandbits(31) + attempt if warm else None
        return Request(
            item=match.name,
            step=f"round={waiting.round + 1}:player={waiting.player + 1}:move={waiting.nth + 1}:attempt={attempt + 1}",
            messages=messages,
            prefill=prompts.ANSWER if self.arena.likelihood else "",
            options=tuple(prompts.scored(match, waiting)) if self.arena.likelihood else (),
            sampling=Sampling(self.arena.temperature, 1.0, self.arena.max_tokens, seed),
            condition=player.condition,
        )

    def _ask(self, asks: Sequence[tuple[str, Request]]) -> None:
        for spec, model in self.models.items():
            for request, answer in _answered(model, [ask for named, ask in asks if named == spec]):
                if isinstance(answer, Failure):
                    self.failed += 1
                    self.errors[answer.error] += 1
                    self._stalled.add((request.item, request.step))
                    self.appender.failure(request, answer, now())
                    continue
                self.appender.response(request, answer)
                self.answers.add(Cell(request.condition, 0, request.item), "", request.step, answer)
                self.asked += 1

    def _finish(self, match: Match, finished: Round | None) -> None:
        if finished is None:
            return
        with writing(self.rounds.name):
            self.rounds.write(json.dumps(round_to_dict(match, finished), ensure_ascii=False) + "\n")
            self.rounds.flush()
        done = sum(len(one.rounds) for one in self.matches)
        self.on_progress(done, len(self.matches) * self.arena.setup.rounds)


def _answered(model: Model, requests: list[Request]) -> Iterator[tuple[Request, Response | Failure]]:
    return model.respond(requests) if requests else iter(())


def round_to_dict(match: Match, finished: Round) -> dict[str, Any]:
    """A finished round as plain data."""
    return {
        "match": match.name,
        "round": finished.number + 1,
        "players": list(match.players),
        "moves": [
            {
                "player": move.player + 1,
                "role": move.role,
                "value": move.value,
                "low": move.low,
                "high": move.high,
                "how": move.how,
                "outcome": move.outcome,
                "cooperation": move.cooperation,
            }
            for move in finished.moves
        ],
        "payoffs": list(finished.payoffs),
    }


def everyone_with_everyone(players: int) -> tuple[tuple[int, int], ...]:
    """The pairings of a tournament: every two players, and each with itself."""
    return tuple((one, other) for one in range(players) for other in range(one, players))
