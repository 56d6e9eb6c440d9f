"""One answer out of several: an option by its letter or its text, or a label by its name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from affectlab.reading import flags
from affectlab.reading.conclude import conclude, unread
from affectlab.reading.markup import plain
from affectlab.reading.outcome import Outcome, Reading
from affectlab.reading.prepare import Prepared, prepare
from affectlab.reading.statements import read_statement
from affectlab.reading.vocabulary import Vocabulary, lower, vocabulary

_SHORT: Final = 40
_ONE_WORD: Final = re.compile("[A-Za-z\u00c0-\u024f-]{2,}|[\u3400-\u9fff]{1,4}")


def read_choice(
    text: str | None,
    options: Mapping[str, str],
    *,
    aliases: Mapping[str, str] | None = None,
    finish: str = "stop",
) -> Reading:
    """Read which option a reply chooses, by its key or by its text.

    Args:
        text: The reply, or ``None`` when the server sent none.
        options: Key -> text (``{"A": "joy", "B": "anger"}``), in the order shown.
        aliases: Other texts for an option: alias -> key.
        finish: Why generation ended.

    Returns:
        Reading whose value is an option key.
    """
    return read_prepared(prepare(text, finish), option_vocabulary(options, aliases))


def read_label(
    text: str | None, labels: Mapping[str, Sequence[str]], *, finish: str = "stop", mentions: bool = False
) -> Reading:
    """Read which label a reply names.

    Args:
        text: The reply, or ``None``.
        labels: Label id -> its names and aliases. The id itself is a name too.
        finish: Why generation ended.
        mentions: Take a name of several words from prose when no other label is mentioned.

    Returns:
        Reading whose value is a label id.
    """
    return read_prepared(prepare(text, finish), label_vocabulary(labels, mentions=mentions))


def option_vocabulary(
    options: Mapping[str, str],
    aliases: Mapping[str, str] | None = None,
    outside: Iterable[tuple[str, tuple[str, ...]]] = (),
) -> Vocabulary:
    """What can be answered when options are shown with keys; ``outside`` names texts that are known to be wrong."""
    extra: dict[str, list[str]] = {}
    for alias, key in (aliases or {}).items():
        extra.setdefault(key, []).append(alias)
    names = [(key, (option, *extra.get(key, ()))) for key, option in options.items()]
    return vocabulary(names, lettered=True, outside=outside)


def label_vocabulary(labels: Mapping[str, Sequence[str]], *, mentions: bool = False) -> Vocabulary:
    """What can be answered when labels are named."""
    # A single name may be given as it is; taken as a sequence it would be its letters.
    names = [(key, (key, *([given] if isinstance(given, str) else given))) for key, given in labels.items()]
    return vocabulary(names, lettered=False, mentions=mentions)


def read_prepared(prepared: Prepared, vocab: Vocabulary) -> Reading:
    """Read the stated answer of a prepared reply."""
    empty = unread(prepared)
    if empty is not None:
        return empty
    words = plain(prepared.text)
    reading = read_statement(vocab, words, cut=prepared.at_limit)
    if reading.outcome is Outcome.UNPARSEABLE and not reading.flags:
        reading = letters_in_a_row(words, vocab) or _one_word(words) or reading
    if reading.ok and prepared.at_limit and _may_go_on(words, reading, vocab):
        reading = Reading(Outcome.UNPARSEABLE, evidence=reading.evidence)
    return conclude(prepared, reading)


def letters_in_a_row(words: str, vocab: Vocabulary) -> Reading | None:
    """Several of the letters and nothing else ("ABCD", "A B"): the options repeated, and no answer."""
    core = _core(words)
    letters = {*re.findall(r"\w+", core)}
    together = core.isupper() and {*core.lower()} <= vocab.letters.keys() and len({*core}) == len(core) > 1
    if together or (len(letters) > 1 and letters <= {letter.upper() for letter in vocab.letters}):
        return Reading(Outcome.AMBIGUOUS, flags=(flags.LIST_ECHO,), evidence=core)
    return None


def _one_word(words: str) -> Reading | None:
    """One short answer that is not declared ("surprise")."""
    core = _core(words)
    if _ONE_WORD.fullmatch(core) and len({*core}) > 1:
        return Reading(Outcome.UNPARSEABLE, flags=(flags.OUT_OF_SPACE,), evidence=core)
    return None


def _core(words: str) -> str:
    """What a short reply says after a colon, if any; empty for a long one."""
    return words.rpartition(":")[2].strip(" \n.,;:!?\"'()[]") if len(words) <= _SHORT else ""


def _may_go_on(words: str, reading: Reading, vocab: Vocabulary) -> bool:
    """Whether a cut reply ends in a name that a longer name begins with ("joy" of "joyful")."""
    name = lower(reading.evidence)
    return words.endswith(reading.evidence) and any(
        other != name and other.startswith(name) and name in vocab.names for other in vocab.names
    )
