"""Loading: one file with a list of records, or the release's folders with one file for each record.

Source: the published code's layout, ``first_person/ID.json`` (or ``first_person_500``), ``third_person/ID.json`` with a
list of observers, ``counterfactual/DIMENSION/ID.json`` with the observers whose rating lies on the other side.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from affectlab.benchmarks.care import columns, spaces
from affectlab.benchmarks.care.counterfactual import opposite
from affectlab.benchmarks.care.record import Record, plain, to_item, unread_keys
from affectlab.errors import UserError
from affectlab.items import Item
from affectlab.items.load import Loaded, load_items
from affectlab.items.parse import Parsed, Row
from affectlab.items.problems import Problem
from affectlab.items.read import read_json_file, rename, scan_rows
from affectlab.items.source import json_files, read_text
from affectlab.metrics.bertscore import BertScorer

FIRST = ("first_person", "first_person_500")
OBSERVERS = ("third_person/", "counterfactual/")
CHAIN = ("cognitive_questions", "appraisal_ratings", "emotion_labels")
"""Fields of an observer's record that are used."""


def load(source: str, fields: Mapping[str, str], options: Mapping[str, str]) -> Loaded:
    """Read records with their observers.

    Args:
        source: A file with a list of records or a record a line, ``hub:NAME``, a folder as the release has it, or a
            folder of first-person files alone.
        fields: Our field name -> the file's, where they differ; a name with dots lies inside an object of the record
            (``appraisal_ratings.relevance.goals``). Columns of such names need not be mapped.
        options: Those of :data:`~affectlab.benchmarks.care.settings.SETTINGS`.

    Raises:
        UserError: Naming the source and everything wrong in it.
        WorldError: When the disk or the hub fails.
    """
    if options.get("bertscore"):
        BertScorer.open(options["bertscore"])  # refused before anything is asked, not when it is scored
    statements = _statements(options.get("statements"))
    columns.check(fields, statements)
    notes: list[str] = []

    def scan(source: str, fields: Mapping[str, str]) -> Parsed:
        if not Path(source).expanduser().is_dir():
            rows, problems = scan_rows(source, fields)
        else:
            read, problems, said = _folder(source, options.get("first_person"))
            notes.extend(said)
            rows = rename(source, read, fields)
        made, clashes = columns.nested(rows, fields)
        return Parsed(made, [*problems, *clashes])

    unread: dict[str, None] = {}

    def collect(rows: Sequence[tuple[Row, Record]]) -> list[Problem]:
        for row, _ in rows:
            unread.update(dict.fromkeys(key for key in unread_keys(row.data) if key not in fields.values()))
        return []

    loaded = load_items(source, fields, Record, partial(to_item, statements=statements), collect, scan)
    return replace(loaded, ignored=(*loaded.ignored, *unread), notes=(*notes, *_notes(loaded.items)))


def encoder_digest(spec: str) -> str:
    """SHA-256 of the encoder that a run's BERTScore names.

    Raises:
        UserError: When it cannot be had.
    """
    return BertScorer.open(spec).sha256


def _statements(path: str | None) -> dict[str, str]:
    if path is None:
        return {}
    try:
        data = json.loads(read_text(path))
    except ValueError as error:
        raise UserError(f"{path} is not JSON ({error}); it must be an object from dimension to statement") from error
    if not isinstance(data, dict) or not all(isinstance(text, str) and text.strip() for text in data.values()):
        raise UserError(f"{path} must be a JSON object from dimension to statement")
    found = {spaces.APPRAISALS.require(name): " ".join(text.split()) for name, text in data.items()}
    if missing := [name for name in spaces.DIMENSIONS if name not in found]:
        raise UserError(f"{path} has no statement for {', '.join(missing)}")
    said: dict[str, str] = {}
    for dimension, statement in found.items():
        if (other := said.setdefault(plain(statement), dimension)) != dimension:
            raise UserError(
                f"{path} gives {other} and {dimension} the same statement ({statement!r}): ratings keyed by it could "
                "not be told apart"
            )
    return found


def _folder(source: str, named: str | None) -> tuple[list[Row], list[Problem], list[str]]:
    files = json_files(source)
    first, in_one = _first_person(source, files, named)
    rows, problems = _list(source, first[0]) if in_one else _one_each(source, first)
    unread = [name for name in files if name not in first and not name.startswith(OBSERVERS)]
    observers: dict[str, list[dict[str, Any]]] = {row.data["id"]: [] for row in rows}
    strange: set[str] = set()
    for name in (name for name in files if name.startswith("third_person/")):
        stem = Path(name).stem
        if stem not in observers:
            strange.add(stem)
            continue
        read, wrong = read_json_file(source, name)
        problems += wrong
        observers[stem] += [{**row.data, "listed": []} for row in read]
    other = 0
    for name in (name for name in files if name.startswith("counterfactual/")):
        folder, stem = Path(name).parent.relative_to("counterfactual").as_posix(), Path(name).stem
        dimension = spaces.APPRAISALS.resolve(folder)
        if dimension is None:
            expected = "a dimension as folder: " + ", ".join(label.names["en"] for label in spaces.APPRAISALS)
            problems.append(Problem(1, "", f"the folder {folder!r}", expected, file=name))
            continue
        if stem not in observers:
            strange.add(stem)
            continue
        read, wrong = read_json_file(source, name)
        listed = [_listed(row, observers[stem], dimension) for row in read]
        problems += [*wrong, *(found for found in listed if isinstance(found, Problem))]
        other += sum(found is False for found in listed)
    for row in rows:
        if found := observers[row.data["id"]]:
            if row.data.get("observers"):
                problems.append(
                    row.problem("observers", "a list", "observers here, or in files of their own, not both")
                )
            row.data["observers"] = found
    said = []
    if unread:
        said.append(
            f"{len(unread)} JSON files of the folder are none that is read: {_some(unread)}. Observers' records are "
            "taken from third_person/ID.json and counterfactual/DIMENSION/ID.json."
        )
    if strange:
        said.append(f"{len(strange)} stories have observers' files but no first-person record; they are left out.")
    if other:
        said.append(
            f"{other} records in counterfactual folders say otherwise than the same person's record elsewhere "
            "(third_person, or the first counterfactual folder); that one is used."
        )
    return rows, problems, said


def _some(names: Sequence[str], most: int = 5) -> str:
    """The first few of some names, and how many more there are."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def _listed(row: Row, known: list[dict[str, Any]], dimension: str) -> bool | Problem:
    """Note with a story's observers that one is listed for a dimension; add one who stands nowhere else.

    Returns:
        Whether the record agrees with what is known of the person, or what is wrong with it.
    """
    person = row.data.get("participant_id")
    if person is None:
        return row.problem("participant_id", "nothing", "whose record it is")
    one = next((one for one in known if str(one.get("participant_id")) == str(person)), None)
    if one is None:
        known.append({**row.data, "listed": [dimension]})
        return True
    if dimension in one["listed"]:
        return row.problem("participant_id", repr(str(person)), "each observer once in a file")
    one["listed"].append(dimension)
    return all(row.data.get(part) == one.get(part) for part in CHAIN)


def _first_person(source: str, files: list[str], named: str | None) -> tuple[list[str], bool]:
    """The files with first-person records, and whether it is one that lists them all."""
    for folder in (named,) if named else FIRST:
        chosen = [name for name in files if name.startswith(f"{folder}/")]
        if chosen:
            return chosen, False
        if f"{folder}.json" in files:
            return [f"{folder}.json"], True
    top = [name for name in files if "/" not in name]
    if named or not top:
        wanted = f"{named}/ or {named}.json" if named else "first_person/, first_person_500/ or first_person.json"
        raise UserError(f"{source} holds no {wanted}; name the folder that does, or one with a .json file a record")
    return top, False


def _one_each(source: str, names: list[str]) -> tuple[list[Row], list[Problem]]:
    rows: list[Row] = []
    problems: list[Problem] = []
    for name in names:
        read, wrong = read_json_file(source, name)
        problems += wrong
        if len(read) != 1 and not wrong:
            problems.append(Problem(1, "", f"{len(read)} records", "one record a file", file=name))
        rows += [replace(row, data={**row.data, "id": Path(name).stem}) for row in read[:1]]
    return rows, problems


def _list(source: str, name: str) -> tuple[list[Row], list[Problem]]:
    read, problems = read_json_file(source, name)
    keys = ("id", "sample_id", "story_id", "participant_id")
    rows = []
    for row in read:
        written = next((str(row.data[key]) for key in keys if row.data.get(key) is not None), None)
        if written is None:
            problems.append(row.problem("id", "nothing", f"one of {', '.join(keys)}"))
        else:
            rows.append(replace(row, data={**row.data, "id": written}))
    return rows, problems


def _notes(items: tuple[Item, ...]) -> Iterator[str]:
    """What of the data must be known beside figures."""
    for slots, what in (
        (spaces.DIMENSIONS, "22 ratings"),
        ((*spaces.LEVELS, *spaces.SETS), "two levels and two label sets"),
        (spaces.CORE, "five core answers"),
    ):
        short = sum(not item.gold.keys() >= set(slots) for item in items)
        if short:
            yield f"{short} of {len(items)} stories lack some of the {what}; what there is, is scored."
    listed = other = 0
    for item in items:
        for observer in item.inputs.get("observers", ()):
            for dimension in observer["listed"]:
                listed += 1
                other += not opposite(item.gold.get(dimension), observer["answers"].get(dimension))
    if other:
        yield (
            f"{other} of {listed} records in counterfactual folders do not lie on the other side of the scale's "
            "midpoint than the first person's rating; they are not used."
        )
