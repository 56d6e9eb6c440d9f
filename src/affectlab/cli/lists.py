"""``affectlab benchmarks``, ``models`` and ``labels``: what there is."""

from __future__ import annotations

from typing import Annotated

import typer

from affectlab.cli.common import AsJson, plain, print_json, print_rows


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command("benchmarks", help="List the benchmarks, or show one, with protocols and settings.")(benchmarks)
    app.command("models", help="List the ways to name a model, and what is installed.")(models)
    app.command("labels", help="List the label spaces, or show one.")(labels)


def benchmarks(
    name: Annotated[str | None, typer.Argument(help="A benchmark to show alone.", metavar="BENCHMARK")] = None,
    as_json: AsJson = False,
) -> None:
    """Every benchmark, or one, with its question, slots, protocols and settings."""
    from affectlab.benchmarks import benchmark_names, open_benchmark

    opened = [open_benchmark(one) for one in (benchmark_names() if name is None else [name])]
    if as_json:
        print_json(
            [
                {
                    "name": one.name,
                    "title": one.title,
                    "version": one.version,
                    "question": one.question,
                    "paper": one.paper,
                    "slots": {slot: space.name if space else None for slot, space in one.slots.items()},
                    "protocols": {
                        name: {"summary": protocol.summary, "needs": sorted(protocol.needs)}
                        for name, protocol in one.protocols.items()
                    },
                    "settings": dict(one.settings),
                }
                for one in opened
            ]
        )
        return
    for one in opened:
        print(f"{one.name}  {one.title}\n  {one.question}\n  {one.paper}\n")
        print_rows(
            ("protocol", "what it asks", "needs"),
            [(name, protocol.summary, ", ".join(sorted(protocol.needs))) for name, protocol in one.protocols.items()],
            indent=2,
        )
        if one.settings:
            told = [(f"--{setting.replace('_', '-')}", what) for setting, what in one.settings.items()]
            print_rows(("setting", "what it sets (affectlab run)"), told, indent=2)


def models(as_json: AsJson = False) -> None:
    """Every way to name a model."""
    from affectlab.models import catalogue

    rows = catalogue()
    if as_json:
        print_json(
            [
                plain({"spec": row.spec, "what": row.what, "licence": row.licence, "install": row.install})
                | {"installed": row.installed, "abilities": sorted(row.abilities)}
                for row in rows
            ]
        )
        return
    print_rows(
        ("model", "what", "can", "installed"),
        [
            (row.spec, row.what, ", ".join(sorted(row.abilities)), "yes" if row.installed else "no, see below")
            for row in rows
        ],
    )
    installs: dict[str, list[str]] = {}
    for row in rows:
        if not row.installed and row.install:
            installs.setdefault(row.install, []).append(row.spec)
    for install, specs in installs.items():
        print(f"\nFor {', '.join(specs)}:\n  {install}")


def labels(
    space: Annotated[str | None, typer.Argument(help="A label space to show whole.", metavar="SPACE")] = None,
    as_json: AsJson = False,
) -> None:
    """Every label space, or the labels of one."""
    from affectlab.labels import available, load

    if space is None:
        spaces = [load(name) for name in available()]
        if as_json:
            print_json(
                [{"name": one.name, "title": one.title, "labels": len(one), "source": one.source} for one in spaces]
            )
        else:
            print_rows(
                ("space", "labels", "what", "source"),
                [(one.name, str(len(one)), one.title, one.source) for one in spaces],
            )
        return
    opened = load(space)
    if as_json:
        print_json(
            {
                "name": opened.name,
                "title": opened.title,
                "version": opened.version,
                "source": opened.source,
                "groups": list(opened.groups),
                "labels": [
                    plain(
                        {
                            "id": label.id,
                            "names": dict(label.names),
                            "group": label.group,
                            "aliases": list(label.aliases),
                            "definition": label.definition,
                            "level": label.level,
                        }
                    )
                    for label in opened.labels
                ],
            }
        )
        return
    print(f"{opened.title} ({opened.name}, version {opened.version})\n{opened.source}\n")
    print_rows(
        ("id", "name", "zh", "group", "meaning"),
        [
            (label.id, label.names["en"], label.names.get("zh", ""), label.group, label.definition)
            for label in opened.labels
        ],
    )
