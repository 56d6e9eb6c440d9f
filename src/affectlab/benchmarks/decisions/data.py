"""Reading decisions from files: our own records, other column names, and the records of the paper's authors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from affectlab.benchmarks.decisions import lexicon, prompts
from affectlab.benchmarks.decisions.authors import FIRST_MOVES, unfolded
from affectlab.benchmarks.decisions.record import Decision, to_item
from affectlab.errors import UserError
from affectlab.items.item import Item
from affectlab.items.load import Loaded, load_items
from affectlab.items.parse import Parsed
from affectlab.items.read import scan_rows
from affectlab.items.source import HUB

SETTINGS = {
    "lexicon": "TOML file of affective words by emotion, counted in reasoning and refused in options",
    "first_move": "what second movers of the authors' records are told that the first chose: low, medium or high",
}


def load(source: str, fields: Mapping[str, str], options: Mapping[str, str] | None = None) -> Loaded:
    """Read decisions.

    Args:
        source: A file (``.jsonl``, ``.json``, ``.csv``, ``.tsv``) or ``hub:NAME``. Images are looked for from the
            file's folder.
        fields: Our field name -> the file's, where they differ.
        options: Those of :data:`SETTINGS`.

    Returns:
        Items without gold. Notes name affective words in options and languages without a frame of their own.

    Raises:
        UserError: Naming the source and every bad row, or a setting that is not one.
        WorldError: When the disk or the hub fails.
    """
    given = options or {}
    first_move = given.get("first_move", "low")
    if first_move not in FIRST_MOVES:
        raise UserError(f"first_move={first_move}: expected one of {', '.join(FIRST_MOVES)}.")
    words = lexicon.load(given.get("lexicon", ""))
    folder = None if source.startswith(HUB) else Path(source).expanduser().parent

    def scan(source: str, fields: Mapping[str, str]) -> Parsed:
        return unfolded(source, scan_rows(source, fields), first_move)

    def item(decision: Decision, index: int) -> Item:
        return to_item(decision, index, folder)

    loaded = load_items(source, fields, Decision, item, scan=scan)
    return replace(loaded, notes=(*loaded.notes, *_notes(loaded.items, words)))


def _notes(items: Sequence[Item], words: lexicon.Lexicon) -> Iterator[str]:
    told = [item.id for item in items if any(words.count(one["text"]) for one in item.inputs["options"])]
    if told:
        shown = ", ".join(told[:5]) + (" …" if len(told) > 5 else "")
        yield (
            f"{len(told)} of {len(items)} decisions have an affective word in an option ({shown}): "
            "an induced emotion may then pull at the word and not at the decision."
        )
    foreign = Counter(item.slices["language"] for item in items if item.slices["language"] not in prompts.FRAMES)
    for language, count in sorted(foreign.items()):
        yield f"{count} decisions in {language!r} are asked in an English frame; there are {', '.join(prompts.FRAMES)}."
