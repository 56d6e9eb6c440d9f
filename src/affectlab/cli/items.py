"""``affectlab items``: check data before it is run, and split it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.resources import as_file
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from affectlab.cli.common import AsJson, pairs, print_json, print_rows
from affectlab.errors import UserError

if TYPE_CHECKING:
    from affectlab.benchmarks.base import Benchmark
    from affectlab.items import Item


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    group = typer.Typer(
        help="Check data files (every bad row, near-duplicates, leakage between splits), and split them.",
        no_args_is_help=True,
    )
    group.command("check", help="Load a file as a benchmark's data and list every bad row.")(check)
    group.command("duplicates", help="Find near-duplicates in a file, or texts that two files share.")(duplicates)
    group.command("split", help="Split a file by whole sources, stratified, and look for leakage.")(split)
    app.add_typer(group, name="items")


def check(
    data: Annotated[str, typer.Argument(help="Data file, or hub:NAME.")],
    benchmark: Annotated[str, typer.Option(help="Whose data it is.")] = "chiaro",
    field_map: Annotated[
        list[str] | None,
        typer.Option("--map", help="Our field name = the file's column.", metavar="FIELD=COLUMN"),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting of the benchmark. Repeatable.", metavar="NAME=VALUE"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Load it; a bad file ends with exit code 2 and a list of its bad rows."""
    from affectlab.benchmarks import open_benchmark

    opened = open_benchmark(benchmark)
    options = pairs(settings or [], "--set")
    if unknown := sorted(options.keys() - opened.settings.keys()):
        known = ", ".join(opened.settings) or "none"
        raise UserError(f"{opened.name} has no setting {unknown[0]!r}; it has: {known}.")
    items = opened.load(data, pairs(field_map or [], "--map"), options)
    ignored = list(items.ignored)
    held = {slot: sum(slot in item.gold for item in items) for slot in opened.slots}
    graded = _with_gold(opened) if 0 in held.values() else set()
    gold = {slot: count for slot, count in held.items() if count or slot in graded}
    asked, not_asked = _protocols(opened, items)
    slices = Counter((name, value) for item in items for name, value in item.slices.items())
    if as_json:
        print_json(
            {
                "items": len(items),
                "clusters": len({item.cluster for item in items}),
                "ignored_columns": ignored,
                "notes": list(items.notes),
                "gold": gold,
                "protocols": asked,
                "not_with": not_asked,
                "slices": [
                    {"slice": name, "value": value, "items": count} for (name, value), count in sorted(slices.items())
                ],
            }
        )
        return
    print(f"{len(items)} items in {len({item.cluster for item in items})} clusters; every row is good.")
    if ignored:
        print(f"Columns not used: {', '.join(ignored)}.")
    for note in items.notes:
        print(f"Note: {note}")
    for name, reason in not_asked.items():
        print(f"Cannot be asked with protocol {name}: {reason}")
    if gold:
        print_rows(("slot", "with gold"), [(slot, str(count)) for slot, count in gold.items()])
    if slices:
        print()
        print_rows(
            ("slice", "value", "items"),
            [(name, value, str(count)) for (name, value), count in sorted(slices.items())],
        )


def _with_gold(benchmark: Benchmark) -> set[str]:
    """Slots that have gold of their own in the bundled sample; the others are worked out of answers."""
    with as_file(benchmark.sample) as sample:
        return {slot for item in benchmark.load(str(sample), {}, {}) for slot in item.gold}


def _protocols(benchmark: Benchmark, items: Sequence[Item]) -> tuple[list[str], dict[str, str]]:
    """The protocols these items can be asked with, and why they cannot with the others."""
    from affectlab.benchmarks.base import Asking

    asked, not_asked = [], {}
    for name, protocol in benchmark.protocols.items():
        try:
            if sum(len(protocol.requests(item, Asking(), {})) for item in items):  # of all: each is checked
                asked.append(name)
            else:
                not_asked[name] = f"no item holds what it asks about ({protocol.summary})."
        except UserError as error:
            not_asked[name] = str(error)
    return asked, not_asked


def duplicates(
    data: Annotated[str, typer.Argument(help="Data file.")],
    against: Annotated[
        str | None,
        typer.Argument(help="A second file: look for its texts in the first (leakage between splits)."),
    ] = None,
    field: Annotated[str, typer.Option(help="Field that holds the text.")] = "sentence",
    threshold: Annotated[float, typer.Option(help="Similarity from which two texts count, in (0, 1].")] = 0.8,
    as_json: AsJson = False,
) -> None:
    """List the pairs; exit code 1 when there are any."""
    from affectlab.items import leakage, near_duplicates, read_texts

    first = read_texts(data, field)
    found = (
        near_duplicates(first, threshold) if against is None else leakage(first, read_texts(against, field), threshold)
    )
    if as_json:
        print_json(
            [{"a": pair.a, "b": pair.b, "kind": pair.kind, "similarity": round(pair.similarity, 4)} for pair in found]
        )
    elif found:
        print_rows(
            ("first", "second", "how alike", "similarity"),
            [(pair.a, pair.b, pair.kind, f"{pair.similarity:.3f}") for pair in found],
            ids=2,
        )
    else:
        print(f"No pair among {len(first)} texts is {threshold} alike or more.")
    raise typer.Exit(1 if found else 0)


def split(
    data: Annotated[str, typer.Argument(help="Data file.")],
    out: Annotated[Path, typer.Option(help="Folder for train.jsonl, dev.jsonl and test.jsonl.")],
    benchmark: Annotated[str, typer.Option(help="Whose data it is.")] = "chiaro",
    by: Annotated[str | None, typer.Option(help="Slot whose labels each part gets its share of.")] = None,
    dev: Annotated[float, typer.Option(help="Share of the dev part; 0 for none.", min=0.0, max=1.0)] = 0.1,
    test: Annotated[float, typer.Option(help="Share of the test part.", min=0.0, max=1.0)] = 0.1,
    seed: Annotated[int, typer.Option(help="Seed of the draw.", min=0)] = 0,
    threshold: Annotated[
        float, typer.Option(help="Similarity from which two texts are kept together, in (0, 1].")
    ] = 0.8,
    field_map: Annotated[
        list[str] | None,
        typer.Option("--map", help="Our field name = the file's column.", metavar="FIELD=COLUMN"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write the parts, rows as they were; exit code 1 when two parts share a text all the same."""
    from affectlab.benchmarks import open_benchmark
    from affectlab.items import read_rows
    from affectlab.items.split import leaks, split_groups, tie_duplicates

    opened = open_benchmark(benchmark)
    items = opened.load(data, pairs(field_map or [], "--map"), {})
    rows = read_rows(data)
    if len(rows) != len(items):
        raise UserError(
            f"{data} has {len(rows)} rows for {len(items)} items: only data of one row an item can be split."
        )
    labels = _strata(by, opened.slots, items)
    texts = {item.id: "\n".join(str(value) for value in item.inputs.values()) for item in items}
    groups = tie_duplicates(texts, {item.id: item.cluster for item in items}, threshold)
    shares = {"train": 1 - dev - test, "dev": dev, "test": test}
    parts = split_groups(
        [groups[item.id] for item in items], labels, {part: share for part, share in shares.items() if share}, seed
    )
    _write(out, {part: [rows[index].data for index in indices] for part, indices in parts.items()})
    shared = leaks(
        {part: {items[index].id: texts[items[index].id] for index in parts[part]} for part in parts}, threshold
    )
    counts = {part: Counter(labels[index] for index in indices) for part, indices in parts.items()}
    if as_json:
        print_json(
            {
                "parts": {part: len(indices) for part, indices in parts.items()},
                "groups": {part: len({groups[items[index].id] for index in parts[part]}) for part in parts},
                "labels": counts,
                "leaks": [{"parts": [one, other], "a": pair.a, "b": pair.b} for one, other, pair in shared],
            }
        )
    else:
        for part, indices in parts.items():
            held = len({groups[items[index].id] for index in indices})
            print(f"{out / part}.jsonl: {len(indices)} records in {held} groups.")
        print_rows(
            ("label", *parts),
            [(label, *(str(counts[part][label]) for part in parts)) for label in dict.fromkeys(sorted(labels))],
        )
        for one, other, pair in shared:
            print(f"Shared by {one} and {other}: {pair.a} and {pair.b} ({pair.kind}, {pair.similarity:.3f}).")
        if not shared:
            print(f"No text of one part is {threshold} alike or more to one of another.")
    raise typer.Exit(1 if shared else 0)


def _strata(by: str | None, slots: Mapping[str, object], items: Sequence[Item]) -> list[str]:
    """The label of each item that the parts are to have alike; one for all when nothing has gold."""
    chosen = by or next((slot for slot in slots if any(slot in item.gold for item in items)), None)
    if chosen is None:
        return ["(no gold)"] * len(items)
    if chosen not in slots:
        raise UserError(f"--by {chosen}: there is no such slot; there are {', '.join(slots)}.")
    return [str(item.gold.get(chosen, "(no gold)")) for item in items]


def _write(out: Path, parts: Mapping[str, Sequence[Mapping[str, object]]]) -> None:
    """Each part as JSON lines; nothing that is there is written over."""
    files = {part: out / f"{part}.jsonl" for part in parts}
    if there := [str(file) for file in files.values() if file.exists()]:
        raise UserError(f"{', '.join(there)} exists already; choose another --out.")
    out.mkdir(parents=True, exist_ok=True)
    for part, rows in parts.items():
        text = "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows)
        files[part].write_text(text, encoding="utf-8")
