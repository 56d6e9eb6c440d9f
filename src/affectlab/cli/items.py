"""``affectlab items``: check data before it is run."""

from __future__ import annotations

from collections.abc import Sequence
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
        help="Check data files: every bad row, near-duplicates, leakage between splits.", no_args_is_help=True
    )
    group.command("check", help="Load a file as a benchmark's data and list every bad row.")(check)
    group.command("duplicates", help="Find near-duplicates in a file, or texts that two files share.")(duplicates)
    app.add_typer(group, name="items")


def check(
    data: Annotated[str, typer.Argument(help="Data file, or hub:NAME.")],
    benchmark: Annotated[str, typer.Option(help="Whose data it is.")] = "chiaro",
    field_map: Annotated[
        list[str] | None,
        typer.Option("--map", help="Our field name = the file's column.", metavar="FIELD=COLUMN"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Load it; a bad file ends with exit code 2 and a list of its bad rows."""
    from collections import Counter

    from affectlab.benchmarks import open_benchmark

    opened = open_benchmark(benchmark)
    items = opened.load(data, pairs(field_map or [], "--map"), {})
    ignored = list(items.ignored)
    gold = {slot: sum(slot in item.gold for item in items) for slot in opened.slots}
    asked, not_asked = _protocols(opened, items)
    slices = Counter((name, value) for item in items for name, value in item.slices.items())
    if as_json:
        print_json(
            {
                "items": len(items),
                "clusters": len({item.cluster for item in items}),
                "ignored_columns": ignored,
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
    for name, reason in not_asked.items():
        print(f"Cannot be asked with protocol {name}: {reason}")
    print_rows(("slot", "with gold"), [(slot, str(count)) for slot, count in gold.items()])
    if slices:
        print()
        print_rows(
            ("slice", "value", "items"),
            [(name, value, str(count)) for (name, value), count in sorted(slices.items())],
        )


def _protocols(benchmark: Benchmark, items: Sequence[Item]) -> tuple[list[str], dict[str, str]]:
    """The protocols these items can be asked with, and why they cannot with the others."""
    from affectlab.benchmarks.base import Asking

    asked, not_asked = [], {}
    for name, protocol in benchmark.protocols.items():
        try:
            for item in items:
                protocol.requests(item, Asking(), {})
            asked.append(name)
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
