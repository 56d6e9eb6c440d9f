"""doccano's JSON lines for text classification: one file for each annotator and slot.

A line holds an id, the text and the list of its labels. doccano knows one set of labels for each text, so each slot is
a project of its own: ``SLOT/ANNOTATOR.jsonl``. Numbers and intensities have no place in it.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote

from affectlab.annotate.answer_files import BadFieldError
from affectlab.annotate.answers import SLOT, Answer, Kind, normal, type_of
from affectlab.annotate.exchange.plain import (
    Format,
    Found,
    Written,
    counted,
    file_name,
    files_of,
    merged,
    slot_types,
    value_from,
)
from affectlab.items import read_rows

_MODEL = "model-"


def write(answers: Sequence[Answer], texts: Mapping[str, str]) -> Written:
    """A file for each annotator and slot; answers that are no labels are left out and counted."""
    types = slot_types(answers)
    kept, left = counted(
        answers,
        lambda one: one.counts and types[one.slot] in ("label", "set"),
        lambda one: one.status if not one.counts else types[one.slot],
    )
    files: dict[str, list[str]] = defaultdict(list)
    for one in kept:
        assert one.value is not None
        labels = [one.value] if isinstance(one.value, str) else list(one.value)  # type: ignore[arg-type]
        line = {"id": one.item, "text": texts.get(one.item, ""), "label": labels, "kind": type_of(one.value)}
        # A person may be called as models are marked.
        who = _MODEL + file_name(one.annotator) if one.kind == "model" else file_name(one.annotator, _MODEL)
        files[f"{file_name(one.slot)}/{who}.jsonl"].append(json.dumps(line, ensure_ascii=False))
    return Written({name: "\n".join(lines) + "\n" for name, lines in files.items()}, dict(left))


def read(path: str) -> Found:
    """Answers of one file, or of a folder of them.

    The annotator is the file's name and the slot its folder's, where it lies in one below ``path``. A file in which a
    text has several labels holds sets; in one where none has, a text without a label was not annotated and is counted.

    Raises:
        DataError: Listing every line that is none.
        UserError: When there is no file, or listing labels that are no text.
    """
    answers: list[Answer] = []
    bad: list[str] = []
    left: Counter[str] = Counter()
    root = Path(path).expanduser()
    for file in files_of(path, "*.jsonl"):
        slot = normal(unquote(file.parent.name)) if root.is_dir() and file.parent != root else SLOT
        kind: Kind = "model" if file.stem.startswith(_MODEL) else "human"
        who = normal(unquote(file.stem.removeprefix(_MODEL)))
        rows = read_rows(str(file))
        kinds = {str(row.data.get("kind", "")) for row in rows} - {""}
        many = any(isinstance(found := row.data.get("label"), list) and len(found) > 1 for row in rows)
        holds = kinds.pop() if len(kinds) == 1 else "set" if many else "label"
        for row in rows:
            labels = row.data.get("label")
            labels = [labels] if isinstance(labels, str) else labels
            if not isinstance(labels, list):
                bad.append(f"{file.name}, {row.place}: label is {labels!r}, expected a list of labels")
            elif not labels and holds == "label":
                left["text without a label"] += 1
            else:
                try:
                    value = value_from(labels, holds)
                except BadFieldError as error:
                    bad.append(f"{file.name}, {row.place}: {error}")
                    continue
                item = normal(str(row.data.get("id", row.line)))
                answers.append(Answer(item, who, value, slot, kind))
    merged(path, bad)
    return Found(tuple(answers), dict(left))


FORMAT = Format("doccano", "doccano JSON lines (one file for each slot and annotator)", write, read)
