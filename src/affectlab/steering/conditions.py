"""Condition strings: what a run writes after ``--condition``, as a value, and the one way each is spelled.

A condition is one or more terms joined by ``+``::

    neutral                                   nothing is done
    anger@1.0                                 the vector of anger, strength 1, middle third of the layers, all positions
    anger@0.1:relative:layers=10-19           a tenth of the layer's median token norm, at layers 10 to 19
    joy@0.5:kl:positions=generated            the dose that moves plain text by 0.5 nats, at generated tokens only
    fear@1.0:kind=project_out                 the direction of fear taken out
    anger@0.02:relative:kind=clamp:above=anger@0.02
                                              anger held to 0.02 of the token norm at tokens where it is above that
    random@1.0:seed=3                         an isotropic vector of the same norm
    kl-random@1.0:seed=3                      an isotropic vector that moves plain text as far as emotions do
    permuted:anger@1.0:seed=1                 anger's vector extracted with shuffled labels
    prompt:anger                              the emotion asked for in words, the model left as it is
    anger@1.0+prompt:fear                     both

Terms add up. The same vector stands twice only at different layers (``anger@0.5:layers=8-9+anger@1.0:layers=10-12``);
at the same ones a sum is one strength, and is to be written so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from affectlab.engine.interventions import KINDS, POSITIONS, SIDES, Kind, Positions, Side
from affectlab.errors import UserError, did_you_mean
from affectlab.steering.stimuli import NAME, emotion_id, label_space

NEUTRAL = "neutral"

Source: TypeAlias = Literal["emotion", "permuted", "random", "kl-random"]
"""Where a direction comes from: extracted; with shuffled labels; isotropic; isotropic and matched in effect."""

Scale: TypeAlias = Literal["unit", "raw", "relative", "kl"]
"""What a strength counts in: unit vectors (the paper's α), norms of the mean difference, median token norms, nats."""

SCALES: tuple[Scale, ...] = get_args(Scale)

MIDDLE = "middle"
THIRDS = ("early", MIDDLE, "late")
_NAMED_LAYERS = (*THIRDS, "all", "best")

_NUMBER = re.compile(r"-?(\d{1,9}(\.\d{0,12})?|\.\d{1,12})")
_RANGES = re.compile(r"\d{1,12}(-\d{1,12})?(,\d{1,12}(-\d{1,12})?)*")
_HOW = (
    "Write neutral, EMOTION@STRENGTH, permuted:EMOTION@STRENGTH, random@STRENGTH, kl-random@STRENGTH or "
    "prompt:EMOTION, joined by +. "
    f"Behind a strength: :{'|'.join(SCALES)}, :layers={'|'.join(_NAMED_LAYERS)}|10-19|3,5,7, "
    f":positions={'|'.join(POSITIONS)}, :kind={'|'.join(KINDS)}, :above=EMOTION@THRESHOLD, :below=EMOTION@THRESHOLD, "
    ":seed=N. Example: anger@0.1:relative:layers=10-19"
)


class Threshold(NamedTuple):
    """Where a term applies: at tokens whose state, at the first layer it changes, is on one side of a threshold.

    Attributes:
        side: ``above`` (which the threshold belongs to) or ``below``.
        emotion: Whose direction the state is projected on.
        value: Of the projection, in median token norms of that layer.
    """

    side: Side
    emotion: str
    value: float

    def __str__(self) -> str:
        return f"{self.side}={self.emotion}@{_spelled(self.value)}"


@dataclass(frozen=True, slots=True)
class Term:
    """One vector and how it is applied.

    Attributes:
        source: Where the direction comes from.
        emotion: Whose; empty for ``random`` and ``kl-random``.
        strength: In units of ``scale``; its sign turns the direction round.
        scale: What the strength counts in.
        layers: ``early``, ``middle``, ``late`` (thirds), ``all``, ``best``, or ranges (``"10-19,22"``).
        positions: Which tokens.
        kind: What is done with the vector.
        seed: Of a control.
        only: Which of those tokens, told from the model's state; ``None``: all of them.
    """

    source: Source
    emotion: str
    strength: float
    scale: Scale = "unit"
    layers: str = MIDDLE
    positions: Positions = "all"
    kind: Kind = "add"
    seed: int = 0
    only: Threshold | None = None

    @property
    def name(self) -> str:
        """What stands before the ``@``."""
        if self.source == "emotion":
            return self.emotion
        return f"permuted:{self.emotion}" if self.source == "permuted" else self.source

    @property
    def direction(self) -> tuple[str, int]:
        """What it has in common with every other term of the same vectors."""
        return self.name, self.seed

    def __str__(self) -> str:
        parts = [f"{self.name}@{_spelled(self.strength)}"]
        parts += [self.scale] if self.scale != "unit" else []
        parts += [f"layers={self.layers}"] if self.layers != MIDDLE else []
        parts += [f"positions={self.positions}"] if self.positions != "all" else []
        parts += [f"kind={self.kind}"] if self.kind != "add" else []
        parts += [str(self.only)] if self.only else []
        parts += [f"seed={self.seed}"] if self.source != "emotion" else []
        return ":".join(parts)


@dataclass(frozen=True, slots=True)
class Condition:
    """The state a model is put in.

    Attributes:
        terms: Vectors, in canonical order.
        prompts: Emotions asked for in words, in canonical order.
    """

    terms: tuple[Term, ...] = ()
    prompts: tuple[str, ...] = ()

    @property
    def neutral(self) -> bool:
        """Whether nothing is done."""
        return not self.terms and not self.prompts

    @property
    def positions(self) -> Positions:
        """Which tokens all its vectors are for."""
        return self.terms[0].positions if self.terms else "all"

    @property
    def only(self) -> Threshold | None:
        """Which of those tokens, told from the model's state."""
        return self.terms[0].only if self.terms else None

    @property
    def control(self) -> bool:
        """Whether it is there to be compared with: it applies vectors, and none of an emotion, and says nothing."""
        return bool(self.terms) and not self.prompts and all(term.source != "emotion" for term in self.terms)

    @property
    def prompt(self) -> str:
        """What the system turn starts with; empty when no emotion is asked for in words."""
        return emotion_prompt(self.prompts)

    def __str__(self) -> str:
        """The canonical spelling: ``parse(str(condition)) == condition``."""
        return "+".join((*map(str, self.terms), *(f"prompt:{emotion}" for emotion in self.prompts))) or NEUTRAL


def check_scored(conditions: Iterable[str], asked: str, instead: str = "") -> None:
    """Refuse conditions that steer what is generated only, where nothing is: options are scored.

    The probability of an option's first token is read at the prompt's last one. Such a condition would move options of
    several tokens and leave the others as they are, which is a bias for their lengths.

    Args:
        conditions: Those that are asked under.
        asked: What scores its options, for the message.
        instead: What else can be done, for the message.

    Raises:
        UserError: Naming the condition, what scores, and what to do.
    """
    for condition in conditions:
        if any(term.positions == "generated" for term in parse(condition).terms):
            raise UserError(
                f"Condition {condition!r} changes the model only while it writes, and {asked} scores options, for "
                "which it writes nothing: one of a single token would not be moved at all. Leave positions= out, or "
                f"write positions=prompt{instead and f', or {instead}'}."
            )


def emotion_prompt(emotions: Sequence[str]) -> str:
    """What a model is told under ``prompt:EMOTION``; empty without emotions."""
    if not emotions:
        return ""
    space = label_space()
    names = [space.name_of(one) if one in space else one.replace("_", " ") for one in emotions]
    return (
        f"Something has just happened to you that fills you with {' and '.join(names)}. You are in this state now, and "
        "it stays while you read and answer. Do not describe it; let it shape what you decide and say."
    )


def parse(text: str) -> Condition:
    """Read a condition string.

    Args:
        text: As described above; spaces do not matter, emotions may be written in any form (``happiness``).

    Raises:
        UserError: Saying which part is wrong and how conditions are written.
    """
    parts = [part.strip() for part in text.split("+")]
    if parts == [NEUTRAL]:
        return Condition()
    terms: list[Term] = []
    prompts: list[str] = []
    for part in parts:
        if part == NEUTRAL:
            raise _wrong(text, "neutral stands alone")
        if part.startswith("prompt:"):
            prompts.append(_told(text, part.removeprefix("prompt:")))
        else:
            terms.append(_term(text, part))
    written = [*((*term.direction, term.layers) for term in terms), *((one,) for one in prompts)]
    if twice := next((one for one in written if written.count(one) > 1), None):
        raise _wrong(text, f"{twice[0]} stands in it twice; write the sum as one strength")
    if len({(term.positions, term.only) for term in terms}) > 1:
        raise _wrong(text, "all its vectors must have the same positions, and the same above= or below=")
    return Condition(tuple(sorted(terms, key=str)), tuple(sorted(prompts)))


def _term(text: str, part: str) -> Term:
    source: Source = "emotion"
    rest = part
    if part.startswith("permuted:"):
        source, rest = "permuted", part.removeprefix("permuted:")
    name, at, tail = rest.partition("@")
    name, colon, early = (piece.strip() for piece in name.partition(":"))
    if not at or colon:
        meant = f"{'permuted:' if source == 'permuted' else ''}{name or 'anger'}@{tail or '1.0'}{colon}{early}"
        what = "has its strength in the wrong place" if at else "has no strength"
        raise _wrong(text, f"{part!r} {what} (write {meant})")
    strength, *options = (option.strip() for option in tail.split(":"))
    if not _NUMBER.fullmatch(strength):
        raise _wrong(text, f"the strength {strength!r} is not a number such as 1, -0.5 or 0.025")
    if source == "emotion" and name in ("random", "kl-random"):
        source = "random" if name == "random" else "kl-random"
    emotion = "" if source in ("random", "kl-random") else _emotion(text, name)
    found = dict(_options(text, options))
    seed, only = found.pop("seed", None), found.pop("only", None)
    if seed is not None and source == "emotion":
        raise _refused(text, "seed= goes with random, kl-random and permuted:")
    threshold = _threshold(text, only) if only else None
    term = Term(source, emotion, float(strength) + 0.0, seed=int(seed or 0), only=threshold, **found)  # type: ignore[arg-type]
    _check_term(text, term)
    return term


def _options(text: str, options: list[str]) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for option in options:
        name, equals, value = (piece.strip() for piece in option.partition("="))
        if not equals and name in SCALES:
            name, value = "scale", name
        if name in SIDES:
            name, value = "only", f"{name}={value}"
        if name in seen:
            raise _wrong(text, f"{'above or below' if name == 'only' else name} is given twice")
        seen.add(name)
        if name == "layers":
            value = layer_text(text, value)
        allowed = {"scale": SCALES, "positions": POSITIONS, "kind": KINDS}.get(name)
        if allowed is not None and value not in allowed:
            raise _wrong(text, f"{name} {value!r} is none of {', '.join(allowed)}")
        if name == "seed" and not (value.isdecimal() and len(value) <= 9):
            raise _wrong(text, f"the seed {value[:20]!r} is not a whole number from 0 to 999999999")
        if name not in ("layers", "scale", "positions", "kind", "only", "seed"):
            raise _wrong(text, f"{option!r} is no option")
        yield name, value


def _threshold(text: str, value: str) -> Threshold:
    """From ``above=anger@0.02``."""
    side, _, rest = value.partition("=")
    emotion, _, number = (piece.strip() for piece in rest.partition("@"))
    if not _NUMBER.fullmatch(number):
        raise _wrong(text, f"{value!r} has no threshold (write {side}={emotion or 'anger'}@0.02)")
    return Threshold("above" if side == "above" else "below", _emotion(text, emotion), float(number) + 0.0)


def layer_text(text: str, value: str) -> str:
    """The canonical spelling of a choice of layers: a name, or ascending ranges.

    Raises:
        UserError: When it is neither.
    """
    if value in _NAMED_LAYERS:
        return value
    if not _RANGES.fullmatch(value):
        raise _wrong(text, f"layers {value!r} is neither {', '.join(_NAMED_LAYERS)} nor numbers like 10-19 or 3,5,7")
    return ranges(sorted(layer_numbers(value)))


def layer_numbers(spec: str) -> set[int]:
    """Layers of ranges such as ``"10-19,22"``.

    Raises:
        UserError: When a range falls, which may be a slip of one of its ends, or no model has so many layers.
    """
    found: set[int] = set()
    for piece in spec.split(","):
        low, _, high = piece.partition("-")
        first, last = int(low), int(high or low)
        if last < first:
            raise UserError(f"Layers {piece}: a range rises. Write {last}-{first} if that is meant.")
        if last > 100_000:
            raise UserError(f"Layer {last}: no model has that many layers.")
        found |= set(range(first, last + 1))
    return found


def ranges(numbers: list[int] | tuple[int, ...]) -> str:
    """Ascending numbers as people write them.

    >>> ranges((0, 1, 2, 5, 7, 8))
    '0-2,5,7-8'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)


def third(name: str, n_layers: int) -> tuple[int, ...]:
    """Layers of a third of a model.

    The thirds meet at ``n/3`` and ``2n/3``, rounded to the nearest whole number; the middle third of 16 layers is 5 to
    10, of 24 8 to 15, of 26 9 to 16, of 28 9 to 18, of 30 10 to 19. A third has at least one layer.

    Args:
        name: ``early``, ``middle`` or ``late``.
        n_layers: Layers of the model, at least 1.
    """
    cuts = (0, round(n_layers / 3), round(2 * n_layers / 3), n_layers)
    place = THIRDS.index(name)
    start = min(cuts[place], n_layers - 1)
    return tuple(range(start, max(cuts[place + 1], start + 1)))


def _check_term(text: str, term: Term) -> None:
    if term.kind == "project_out" and (term.strength != 1.0 or term.scale != "unit"):
        raise _refused(text, "project_out takes the whole direction out: write strength 1.0 without a scale")
    if term.kind == "clamp" and term.scale == "kl":
        raise _refused(text, "clamp sets a projection and has no kl dose")
    if term.scale == "kl" and term.strength == 0:
        raise _refused(text, "a kl dose is not 0")
    if term.source == "kl-random" and (term.scale == "kl" or term.kind not in ("add", "add_keep_norm")):
        raise _refused(text, "kl-random is matched to added emotion vectors; write random@DOSE:kl for its own dose")
    if term.only and (term.scale == "kl" or term.source == "kl-random"):
        raise _refused(text, f"{term.only.side}= goes with no dose in nats, which is that of a vector at every token")


def _emotion(text: str, name: str) -> str:
    if not NAME.fullmatch(name.strip()):
        raise _wrong(text, f"{name!r} is no emotion")
    return emotion_id(name)


def _told(text: str, name: str) -> str:
    """An emotion that is asked for in words: any word but one that looks like another one misspelt."""
    emotion = _emotion(text, name)
    if emotion in (NEUTRAL, "random", "kl-random", "kl_random"):
        raise _wrong(text, f"{name!r} is no emotion")
    space = label_space()
    if emotion not in space and (near := space.nearest(name)):
        raise _refused(text, f"{name!r} is no emotion that is known{did_you_mean(near)}")
    return emotion


def _spelled(number: float) -> str:
    """A strength without an exponent, as it is read: ``1.0``, ``0.0000001``."""
    return np.format_float_positional(number, trim="0")


def _refused(text: str, what: str) -> UserError:
    """The error about a condition that is written well and cannot be meant."""
    return UserError(f"Condition {text!r}: {what}{'' if what.endswith('?') else '.'}")


def _wrong(text: str, what: str) -> UserError:
    """The error about a condition that is not written as conditions are."""
    return UserError(f"{_refused(text, what)} {_HOW}")
