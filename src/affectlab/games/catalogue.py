"""The seven games and nine roles of the decisions benchmark, declared.

Source: the emotion-sensitive decisions paper (arXiv 2604.06562), section "Game Theory Templates", and the studies it
names. Parameters are defaults; an item or an arena match may give its own.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from types import MappingProxyType

from affectlab.errors import UserError, did_you_mean
from affectlab.games.template import Game, GameRole, Move, Parameter

PRISONERS_DILEMMA = Game(
    id="prisoners_dilemma",
    title="Prisoner's Dilemma",
    about="Defecting pays more whatever the other does, and both defecting pays both less than both cooperating.",
    source="Rapoport and Chammah 1965; Axelrod 1984",
    players=(2, 2),
    moves=(Move("prisoners_dilemma", "nothing of the other's move in this round; all earlier rounds"),),
    simultaneous=True,
    roles=(
        GameRole(
            id="prisoners_dilemma",
            game="prisoners_dilemma",
            title="Prisoner's Dilemma",
            decides="Whether to cooperate with the other player or to defect.",
            focal="cooperate",
            kind="binary",
            options=("defect", "cooperate"),
            unit="cooperation",
        ),
    ),
    parameters=(
        Parameter("T", 5, "temptation: defecting on a cooperator"),
        Parameter("R", 3, "reward: both cooperate"),
        Parameter("P", 1, "punishment: both defect"),
        Parameter("S", 0, "sucker: cooperating with a defector"),
    ),
    rules=("T > R > P > S", "2R > T + S when repeated"),
)

STAG_HUNT = Game(
    id="stag_hunt",
    title="Stag Hunt",
    about="Both prefer hunting the stag together, but only the hare is safe: trust in the other's part decides.",
    source="Skyrms 2004",
    players=(2, 2),
    moves=(Move("stag_hunt", "nothing of the other's move in this round; all earlier rounds"),),
    simultaneous=True,
    roles=(
        GameRole(
            id="stag_hunt",
            game="stag_hunt",
            title="Stag Hunt",
            decides="Whether to join the venture that needs both or to take the safe one.",
            focal="choose stag",
            kind="binary",
            options=("hare", "stag"),
            unit="cooperation",
        ),
    ),
    parameters=(
        Parameter("R", 4, "both hunt the stag"),
        Parameter("T", 3, "hare while the other hunts the stag"),
        Parameter("P", 2, "both hunt hares"),
        Parameter("S", 0, "stag alone"),
    ),
    rules=("R > T >= P > S",),
)

ESCALATION = Game(
    id="escalation",
    title="Escalation Game (dollar auction)",
    about="Two bid in turn for a prize, and the loser pays too: what has been spent draws both further in.",
    source="Shubik 1971",
    players=(2, 2),
    moves=(Move("escalation", "both standing bids"),),
    simultaneous=False,
    roles=(
        GameRole(
            id="escalation",
            game="escalation",
            title="Escalation Game",
            decides="Whether to raise again or to stop and lose what has been spent.",
            focal="persist",
            kind="binary",
            options=("withdraw", "persist"),
            unit="persistence",
        ),
    ),
    parameters=(
        Parameter("prize", 10, "what the last bidder gets"),
        Parameter("step", 2, "by how much each raise exceeds the other's standing bid"),
        Parameter("budget", 16, "most a player can bid"),
    ),
    rules=("0 < step < prize", "budget >= step"),
)

TRUST = Game(
    id="trust",
    title="Trust Game",
    about="What the first mover sends is multiplied on the way; the second mover decides how much comes back.",
    source="Berg, Dickhaut and McCabe 1995",
    players=(2, 2),
    moves=(
        Move("trust_trustor", "the endowment and the multiplier"),
        Move("trust_trustee", "what was sent, and what it has become"),
    ),
    simultaneous=False,
    roles=(
        GameRole(
            id="trust_trustor",
            game="trust",
            title="Trust Game, trustor",
            decides="How much of the endowment to send.",
            focal="send",
            kind="ordered",
            unit="amount sent",
        ),
        GameRole(
            id="trust_trustee",
            game="trust",
            title="Trust Game, trustee",
            decides="How much of what arrived to return.",
            focal="return",
            kind="ordered",
            unit="amount returned",
        ),
    ),
    parameters=(
        Parameter("endowment", 10, "what the trustor has"),
        Parameter("multiplier", 3, "what each unit sent becomes"),
    ),
    rules=("endowment > 0", "multiplier > 1"),
)

ULTIMATUM = Game(
    id="ultimatum",
    title="Ultimatum Game",
    about="One proposes a split, the other accepts it or leaves both with nothing.",
    source="Güth, Schmittberger and Schwarze 1982",
    players=(2, 2),
    moves=(
        Move("ultimatum_proposer", "the amount to be split"),
        Move("ultimatum_responder", "the offer"),
    ),
    simultaneous=False,
    roles=(
        GameRole(
            id="ultimatum_proposer",
            game="ultimatum",
            title="Ultimatum Game, proposer",
            decides="How much of the amount to offer the other.",
            focal="offer",
            kind="ordered",
            unit="amount offered",
        ),
        GameRole(
            id="ultimatum_responder",
            game="ultimatum",
            title="Ultimatum Game, responder",
            decides="Whether to accept the offer or to reject it, which leaves both with nothing.",
            focal="reject",
            kind="binary",
            options=("accept", "reject"),
            unit="rejection",
        ),
    ),
    parameters=(Parameter("pie", 10, "the amount to be split"),),
    rules=("pie > 0",),
)

SEALED_BID = Game(
    id="sealed_bid",
    title="Sealed-bid no-return (all-pay) auction",
    about="Everyone bids unseen, the highest bid gets the prize, and every bid is paid.",
    source="Krishna 2009; Baye, Kovenock and de Vries 1996",
    players=(2, 10),
    moves=(Move("sealed_bid", "the prize and how many bid; no other bid"),),
    simultaneous=True,
    roles=(
        GameRole(
            id="sealed_bid",
            game="sealed_bid",
            title="Sealed-bid auction",
            decides="How much to bid, which is paid whoever wins.",
            focal="bid high",
            kind="ordered",
            unit="amount bid",
        ),
    ),
    parameters=(
        Parameter("prize", 10, "worth of the prize to each"),
        Parameter("budget", 10, "most a player can bid"),
    ),
    rules=("prize > 0", "budget > 0"),
)

BEAUTY_CONTEST = Game(
    id="beauty_contest",
    title="p-beauty contest",
    about="Whoever guesses nearest to p times the mean of all guesses wins: guesses show how far one thinks ahead.",
    source="Keynes 1936; Nagel 1995",
    players=(2, 20),
    moves=(Move("beauty_contest", "p, the range, and how many guess; no other guess in this round"),),
    simultaneous=True,
    roles=(
        GameRole(
            id="beauty_contest",
            game="beauty_contest",
            title="Beauty contest",
            decides="Which number to guess.",
            focal="depth of reasoning (a lower guess)",
            kind="ordered",
            unit="the number guessed",
            rising=False,
        ),
    ),
    parameters=(
        Parameter("p", 2 / 3, "what the mean is multiplied by"),
        Parameter("low", 0, "smallest guess"),
        Parameter("high", 100, "largest guess"),
        Parameter("prize", 10, "what the nearest guess wins; ties share it"),
    ),
    rules=("0 < p < 1", "0 <= low < high", "prize > 0"),
)

GAMES: Mapping[str, Game] = MappingProxyType(
    {game.id: game for game in (PRISONERS_DILEMMA, STAG_HUNT, ESCALATION, TRUST, ULTIMATUM, SEALED_BID, BEAUTY_CONTEST)}
)
"""By id, in the order of the paper's table of directions."""

ROLES: Mapping[str, GameRole] = MappingProxyType({role.id: role for game in GAMES.values() for role in game.roles})
"""All nine roles by id."""


def find_game(name: str) -> Game:
    """A game by id.

    Raises:
        UserError: When there is none of that name.
    """
    if name not in GAMES:
        near = did_you_mean(difflib.get_close_matches(name, GAMES, n=1, cutoff=0.4))
        raise UserError(f"No game {name!r}{near or '.'} There are: {', '.join(GAMES)}.")
    return GAMES[name]
