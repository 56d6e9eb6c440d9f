"""A record of CUE-Bench as it stands in a file, and the item made of it.

Source: CUE-Bench (arXiv 2608.10810), section 3.2 and Appendices B.1 and E, and the keys of the public release.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, TypeAlias

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field

from affectlab.benchmarks.cue import settings
from affectlab.items.duplicates import fold_text
from affectlab.items.fields import Identifier, OptionalText, Text, label_of
from affectlab.items.item import Item
from affectlab.items.load import Loaded, load_items
from affectlab.items.parse import Row
from affectlab.items.problems import Problem
from affectlab.items.quality import outside, valence_clash
from affectlab.labels import load as load_labels

_NAMED = 5
"""Most ids or values a note names; the rest are counted."""


def _context(value: Any) -> Any:
    """Turns on lines of their own, however lines end; a list of turns is taken as well, ``None`` is no context."""
    if isinstance(value, list) and all(isinstance(turn, str) for turn in value):
        value = "\n".join(value)
    if isinstance(value, str):
        return value.replace("\r\n", "\n").replace("\r", "\n")
    if value is not None:
        raise ValueError("text, or a list of texts")
    return ""


Polarity: TypeAlias = Annotated[str | None, label_of("cue_polarity3")]


class Record(BaseModel):
    """A target text in its context, with up to five labels.

    Only ``id`` and ``text`` are needed: what has no label can be predicted, not scored. Labels may be given by id,
    English or Chinese name, or alias. Other fields are not used; :func:`load` names them.

    Attributes:
        id: Unique within the file; ``sample_id`` in the release.
        text: The target utterance; ``target_text`` in the paper's Table 5.
        context: Earlier turns, one a line, or a list of turns; may be empty.
        explicit_polarity: What the words alone express.
        implicit_polarity: What they mean in their context.
        affective_stance: One of nine; φ of the two polarities.
        pragmatic_intent: One of eight.
        fine_grained_emotion: One of 25.
        explicit_emotion: Basic emotion of the words. Kept as text: the release holds values of other lists.
        implicit_emotion: Basic emotion meant; likewise.
        scenario_type: Where it was said (``dialogue``, ``qa`` …).
        speaker_role: Who says it, where known.
        quality_tier: How the labels came about, in the release's split files.
        source: Shared by records cut from one source text, which are not independent.
    """

    model_config = ConfigDict(frozen=True)

    id: Identifier = Field(validation_alias=AliasChoices("sample_id", "id"))
    text: Text = Field(validation_alias=AliasChoices("text", "target_text"))
    context: Annotated[str, BeforeValidator(_context)] = ""
    explicit_polarity: Polarity = None
    implicit_polarity: Polarity = None
    affective_stance: Annotated[str | None, label_of("cue_stance9")] = None
    pragmatic_intent: Annotated[str | None, label_of("cue_intent8")] = None
    fine_grained_emotion: Annotated[str | None, label_of("cue_emotion25")] = None
    explicit_emotion: OptionalText = None
    implicit_emotion: OptionalText = None
    scenario_type: OptionalText = None
    speaker_role: OptionalText = None
    quality_tier: OptionalText = None
    source: OptionalText = Field(default=None, validation_alias=AliasChoices("source", "source_id", "source_instance"))

    @property
    def composed_stance(self) -> str | None:
        """φ of the two polarities (section 4.2); ``None`` when one of them is missing."""
        if self.explicit_polarity is None or self.implicit_polarity is None:
            return None
        return load_labels("cue_stance9").compose(self.explicit_polarity, self.implicit_polarity)

    @property
    def breaks_matrix(self) -> bool:
        """Whether the stance is not the one that its two polarities make up."""
        made = self.composed_stance
        return made is not None and self.affective_stance is not None and made != self.affective_stance


def to_item(record: Record, index: int) -> Item:
    """The record as an item, sliced by scenario type and quality tier.

    The cluster is the source where it is named; else records with one context are taken to come from one source, and a
    record without context is its own.

    Args:
        record: The record.
        index: Its position in the file, from 0.
    """
    gold = {
        "explicit": record.explicit_polarity,
        "implicit": record.implicit_polarity,
        "stance": record.affective_stance,
        "intent": record.pragmatic_intent,
        "emotion": record.fine_grained_emotion,
    }
    slices = {"scenario_type": record.scenario_type, "quality_tier": record.quality_tier}
    return Item(
        id=record.id,
        index=index,
        inputs={"text": record.text, "context": record.context},
        gold={slot: label for slot, label in gold.items() if label},
        slices={name: value for name, value in slices.items() if value},
        cluster=record.source or _context_digest(record.context) or record.id,
    )


def _context_digest(context: str) -> str:
    folded = fold_text(context)
    return f"context {hashlib.sha256(folded.encode()).hexdigest()[:16]}" if folded else ""


def load(source: str, fields: Mapping[str, str], options: Mapping[str, str] | None = None) -> Loaded:
    """Read a file of records.

    Args:
        source: What :func:`affectlab.items.load.load_items` takes: a file, or ``hub:NAME``.
        fields: Our field name -> the file's, where they differ.
        options: The benchmark's settings; those of every protocol are checked here.

    Returns:
        Items in file order. Notes say which records break the stance matrix and which basic emotions are outside the
        nine or clash with their polarity.

    Raises:
        UserError: Naming the file and every bad row, or a setting that cannot be read.
    """
    given = options or {}
    settings.window(given)
    settings.language(given)
    settings.demos(given)
    refuse = settings.strict(given)
    seen: list[Record] = []

    def check(rows: Sequence[tuple[Row, Record]]) -> Iterable[Problem]:
        seen.extend(record for _, record in rows)
        return list(_broken(rows)) if refuse else []

    loaded = load_items(source, fields, record=Record, to_item=to_item, check=check)
    return replace(loaded, notes=(*loaded.notes, *_notes(seen)))


def _broken(rows: Sequence[tuple[Row, Record]]) -> Iterator[Problem]:
    for row, record in rows:
        if record.breaks_matrix:
            yield row.problem(
                "affective_stance",
                repr(record.affective_stance),
                f"{record.composed_stance!r}, which {record.explicit_polarity} words and {record.implicit_polarity} "
                "meaning make up",
            )


def _notes(records: Sequence[Record]) -> Iterator[str]:
    broken = [record.id for record in records if record.breaks_matrix]
    if broken:
        yield (
            f"{len(broken)} of {len(records)} records have a stance that their explicit and implicit polarity do not "
            f"make up: {_listed(broken)}. They are scored by the stance they state; --set strict=yes refuses them."
        )
    space = load_labels("cue_plutchik9")
    pairs = [
        (record, polarity, emotion)
        for record in records
        for polarity, emotion in (
            (record.explicit_polarity, record.explicit_emotion),
            (record.implicit_polarity, record.implicit_emotion),
        )
        if emotion
    ]
    if strange := outside((emotion for _, _, emotion in pairs), space):
        counts = Counter(emotion for _, _, emotion in pairs)
        yield (
            f"{sum(counts[value] for value in strange)} values of explicit_emotion or implicit_emotion are none of the "
            f"nine: {_listed(strange)}. Nothing is computed from these fields."
        )
    clashing = [
        record.id
        for record, polarity, emotion in pairs
        if polarity and space.resolve(emotion) and valence_clash(polarity, emotion, space)
    ]
    if clashing:
        yield (
            f"In {len(dict.fromkeys(clashing))} records a basic emotion is of the opposite valence to its polarity: "
            f"{_listed(list(dict.fromkeys(clashing)))}."
        )


def _listed(names: Sequence[str]) -> str:
    rest = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")
