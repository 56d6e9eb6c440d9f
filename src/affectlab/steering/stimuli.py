"""The texts that emotion vectors are extracted from.

The bundled texts were written for this project: six emotions (Decisions paper, arXiv 2604.06562, Appendix "Emotion
Eliciting Dataset": anger, joy, fear, disgust, sadness, surprise), 30 each, as first-person accounts of an event that do
not name the emotion. They come in 30 groups of six, one text an emotion, which share opening, tenses, persons,
punctuation and number of sentences and differ by at most three words in length; each of 15 situation domains has two
groups. What tells the emotions apart is therefore what happens, not how it is written.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib.resources import as_file, files
from types import MappingProxyType

from affectlab.errors import UserError
from affectlab.items import DataError, Row, read_rows
from affectlab.labels import LabelSpace, fold, load

EMOTIONS = ("anger", "disgust", "fear", "joy", "sadness", "surprise")
"""The six emotions, as ids of the label space ``basic6_neutral``. The paper's tables call joy "happiness"."""

LABEL_SPACE = "basic6_neutral"

NAME = re.compile(r"[^\W\d][\w \-]*")
"""An emotion's name, as conditions can write it."""

_TAKEN = ("neutral", "random", "kl-random", "kl_random")
"""What these mean in a condition is no emotion."""

_BUNDLED = files(__package__) / "stimuli.jsonl"
_FEWEST = 2


@dataclass(frozen=True)
class Stimuli:
    """Labelled texts.

    Attributes:
        texts: In file order.
        labels: Emotion of each text.
        groups: Group of each text: texts of one group never stand on both sides of a cross-validation. A text
            without one is a group of its own.
        left_out: Rows that were not taken, counted by their label.
        source: Where they are from.
    """

    texts: tuple[str, ...]
    labels: tuple[str, ...]
    groups: tuple[str, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)
    source: str = "bundled"

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def emotions(self) -> tuple[str, ...]:
        """Emotions that occur, sorted."""
        return tuple(sorted(set(self.labels)))

    @property
    def sha256(self) -> str:
        """Digest of labels, texts and which of them are of one group, which a vector file records.

        What groups are called does not count.
        """
        digest = sha256()
        numbers = {group: number for number, group in enumerate(dict.fromkeys(self.groups))}
        for label, group, text in zip(self.labels, self.groups, self.texts, strict=True):
            digest.update(f"{label}\t{numbers[group]}\t{text}\n".encode())
        return digest.hexdigest()

    def __repr__(self) -> str:
        counts = Counter(self.labels)
        shown = ", ".join(f"{emotion} {counts[emotion]}" for emotion in self.emotions)
        left = f", {sum(self.left_out.values())} left out" if self.left_out else ""
        return f"Stimuli({self.source}: {shown}{left})"


@cache
def label_space() -> LabelSpace:
    """The six basic emotions and neutral, which condition strings are resolved against."""
    return load(LABEL_SPACE)


def emotion_id(name: str) -> str:
    """Id of an emotion in any of its forms (``happiness`` is ``joy``); a name outside the space stays, folded."""
    return label_space().resolve(name) or fold(name).replace(" ", "_")


def check_names(emotions: Iterable[str]) -> None:
    """Refuse emotions whose vectors no condition could name.

    Raises:
        UserError: Naming the first one.
    """
    for emotion in emotions:
        if not NAME.fullmatch(emotion) or emotion in _TAKEN:
            raise UserError(
                f"No condition can name vectors of {emotion!r}: a name starts with a letter, has only letters, digits, "
                "spaces, - and _, and is none of neutral, random and kl-random. Rename this label."
            )


def load_stimuli(
    source: str | None = None,
    fields: Mapping[str, str] = MappingProxyType({}),
    emotions: Sequence[str] = EMOTIONS,
) -> Stimuli:
    """Read labelled texts.

    Args:
        source: JSON lines, JSON, CSV or TSV with a column ``text`` and a column ``emotion`` (crowd-enVENT and
            its like); optionally ``group``. ``None`` for the bundled texts.
        fields: Our column name -> the file's (``{"text": "generated_text"}``).
        emotions: Labels to take, in any of their forms. Rows with other labels are left out and counted.

    Raises:
        DataError: Listing every row whose text or emotion is missing or is not text.
        UserError: When the source cannot be read, no emotion is named, or one has fewer than two texts.
        WorldError: When the disk fails.
    """
    if source is None:
        with as_file(_BUNDLED) as path:
            return _labelled("bundled", read_rows(str(path)), emotions)
    return _labelled(source, read_rows(source, fields), emotions)


def _labelled(source: str, rows: Sequence[Row], emotions: Sequence[str]) -> Stimuli:
    _check(source, rows)
    wanted = tuple(dict.fromkeys(map(emotion_id, emotions)))
    if not wanted:
        raise UserError("No emotion is named, so no text would be taken. Name two or more (--emotions anger,joy).")
    taken: list[tuple[str, str, str]] = []
    left_out: Counter[str] = Counter()
    for number, row in enumerate(rows):
        label = emotion_id(row.data["emotion"])
        if label in wanted:
            group = row.data.get("group")
            taken.append((row.data["text"].strip(), label, f"row {number}" if group is None else str(group)))
        else:
            left_out[label] += 1
    counts = Counter(label for _, label, _ in taken)
    if few := [emotion for emotion in wanted if counts[emotion] < _FEWEST]:
        there = ", ".join(f"{label} {count}" for label, count in sorted((counts + left_out).items()))
        raise UserError(
            f"{source} has fewer than {_FEWEST} texts of {', '.join(few)}. Its labels are: {there}. "
            "Name the emotions it has with --emotions."
        )
    texts, labels, groups = zip(*taken, strict=True)
    return Stimuli(texts, labels, groups, dict(left_out), source)


def _check(source: str, rows: Sequence[Row]) -> None:
    columns = dict.fromkeys(name for row in rows for name in row.data)
    if absent := [name for name in ("text", "emotion") if name not in columns]:
        raise UserError(
            f"{source} has no column {' and no column '.join(absent)}; it has: {', '.join(columns)}. "
            f"Say which one is meant, for example --map {absent[0]}=COLUMN"
        )
    problems = [
        row.problem(name, "nothing" if name not in row.data else repr(row.data[name])[:60], "text")
        for row in rows
        for name in ("text", "emotion")
        if not (isinstance(row.data.get(name), str) and row.data[name].strip())
    ]
    if problems:
        raise DataError(source, problems)
