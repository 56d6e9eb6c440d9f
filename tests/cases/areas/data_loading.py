"""Cases about reading corpora: separators, quoting, codes, absent against zero, keys, escapes, layouts."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pydantic import create_model

from affectlab.benchmarks.care.data import load as load_care
from affectlab.errors import UserError
from affectlab.items import Item, load_items
from affectlab.items import corpora as c
from affectlab.items.clean import unescape_text
from affectlab.labels import load

Given = Mapping[str, Any]


def check(case: Mapping[str, Any]) -> str | None:
    """``None`` when what is read is what the case says is right, else what was wrong."""
    given, right = case["input"], case["right_outcome"]
    for keys, rule in _RULES:
        if keys <= set(given):
            try:
                return rule(given, right)
            except UserError as error:
                refused = right.get("status") in {"error", "invalid", "reject"}
                return None if refused else f"refused: {error}"
    return f"unknown shape: input {sorted(given)}"


def _same(found: object, right: object) -> str | None:
    return None if found == right else f"read {found!r}, right is {right!r}"


def _tsv_line(given: Given, right: Given) -> str | None:
    plain, undone = (c.goemotions_row(given["tsv_line"], quoting) for quoting in ("none", "csv"))
    if (plain.labels, plain.id) != (undone.labels, undone.id):
        return f"the two quotings give other rows: {plain} and {undone}"
    found = {"labels": list(plain.labels or ()), "id": plain.id}
    return _same(found, {key: right[key] for key in found if key in right})


def _tsv_lines(given: Given, right: Given) -> str | None:
    rows = [c.goemotions_row(line) for line in given["tsv_lines"]]
    return _same([list(row.labels or ()) for row in rows], right["labels"])


def _label_codes(given: Given, right: Given) -> str | None:
    written = ",".join(map(str, given["labels"]))
    return _same(c.goemotions_row(f"text\t{written}\tid").labels, tuple(sorted(set(given["labels"]))))


def _split_rows(given: Given, right: Given) -> str | None:
    found = [c.split_key(row["split"], row["Dialogue_ID"], row["Utterance_ID"]) for row in given["rows"]]
    return _same(found, right["keys"])


def _gaps(given: Given, right: Given) -> str | None:
    ids = given["Utterance_IDs"]
    for position in range(1, len(ids)):
        if c.preceding(ids, position, 1) != (ids[position - 1],):
            return f"before {ids[position]} stands {c.preceding(ids, position, 1)}"
    return None


def _side_files(given: Given, right: Given) -> str | None:
    record = given["utterance"]
    nulls = [name for name, value in record.items() if value is None]
    return _same(c.absent_side_files(record, record.keys() - {"Dialogue_ID", "Utterance_ID"}), nulls)


def _line(given: Given, right: Given) -> str | None:
    line = given["line"]
    if "\t" not in line:
        return _same(unescape_text(line), right["value"])
    row = c.xed_neutral_row(line) if line.startswith("9\t") else c.xed_row(line)
    return _same(None if row.labels is None else list(row.labels), right["value"])


def _cell(given: Given, right: Given) -> str | None:
    return _same(unescape_text(given["csv_cell"]), right["value"])


def _header(given: Given, right: Given) -> str | None:
    labels = load("basic6_neutral").ids[:-1]
    row = dict.fromkeys(given["header"], 0)
    read = c.read_indicators(row, labels)
    missing = tuple(label for label in labels if label not in given["header"])
    return _same((read.not_annotated, read.absent), (missing, tuple(i for i in labels if i not in missing)))


def _indicators(given: Given, right: Given) -> str | None:
    read = c.read_indicators(given["row"], tuple(given["row"]))
    return _same(list(read.present), right["value"])


def _unified(given: Given, right: Given) -> str | None:
    cells = given["record"]["emotions"]
    read = c.read_indicators(cells, tuple(cells))
    expected = (
        tuple(label for label, cell in cells.items() if cell),
        tuple(label for label, cell in cells.items() if cell is not None and not cell),
        tuple(label for label, cell in cells.items() if cell is None),
    )
    return _same((read.present, read.absent, read.not_annotated), expected)


def _votes(given: Given, right: Given) -> str | None:
    agrees = c.emotionx_majority(given["votes"]) == given["label"]
    expected = right.get("status", "ok") in {"ok", "pass", "valid"}
    return _same(agrees, expected)


def _utterance(given: Given, right: Given) -> str | None:
    left_out = c.unscorable([given["utterance"], "text"])
    return _same(left_out, [0] if right.get("status") == "flag" else [])


def _literal(given: Given, right: Given) -> str | None:
    return _same(c.parse_literal(given["content"]), right["value"])


def _phase(given: Given, right: Given) -> str | None:
    found = c.phase_orders(given["phase"])
    expected = {p: o if o is None else tuple(o) for p, o in given["phase"]["orders"].items()}
    return _same(found, expected)


def _null_or_absent(given: Given, right: Given) -> str | None:
    record: Mapping[str, Any] = given["record"]
    kept = {name: value for name, value in record.items() if value is not None}
    # One field with a value, so that the second row is not empty.
    rows = [{"text": "x", **record}, {"text": "x", **kept}]
    fields: dict[str, Any] = dict.fromkeys(record, (Any, None))
    model = create_model("Record", text=(str, ...), **fields)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "records.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        items = load_items(str(file), {}, model, lambda r, i: Item(str(i), i, r.model_dump(), {}))
    return _same(dict(items[0].inputs), dict(items[1].inputs))


def _path(given: Given, right: Given) -> str | None:
    folder = given["path"].split("/")[-2]
    space = load("care_appraisal22")
    return _same(space.name_of(space.require(folder)), folder)


def _both_layouts(given: Given, right: Given) -> str | None:
    records = [
        {"id": str(number), "story_collection": {"final_scenario": f"Story {number}."}} for number in range(1, 13)
    ]
    with tempfile.TemporaryDirectory() as folder:
        whole, each = Path(folder) / "first_person.json", Path(folder) / "data" / "first_person"
        each.mkdir(parents=True)
        whole.write_text(json.dumps(records), encoding="utf-8")
        for record in records:
            alone = {name: value for name, value in record.items() if name != "id"}
            (each / f"{record['id']}.json").write_text(json.dumps(alone), encoding="utf-8")
        one, many = (load_care(str(source), {}, {}) for source in (whole, each.parent))
    stories = [{item.id: item.inputs["story"] for item in loaded} for loaded in (one, many)]
    return _same(*stories)


_RULES: tuple[tuple[set[str], Callable[[Given, Given], str | None]], ...] = (
    ({"tsv_line"}, _tsv_line),
    ({"tsv_lines"}, _tsv_lines),
    ({"votes", "label"}, _votes),
    ({"labels"}, _label_codes),
    ({"rows"}, _split_rows),
    ({"Utterance_IDs"}, _gaps),
    ({"utterance"}, lambda g, r: (_utterance if isinstance(g["utterance"], str) else _side_files)(g, r)),
    ({"line"}, _line),
    ({"csv_cell"}, _cell),
    ({"header"}, _header),
    ({"row"}, _indicators),
    ({"record"}, lambda g, r: (_unified if "emotions" in g["record"] else _null_or_absent)(g, r)),
    ({"content"}, _literal),
    ({"phase"}, _phase),
    ({"path"}, _path),
    ({"first_person_json"}, _both_layouts),
)
