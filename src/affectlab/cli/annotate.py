"""``affectlab annotate``: a web app in which people label items, and everything around it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from affectlab.cli import annotate_assist
from affectlab.cli.common import AsJson, pairs, print_json, print_rows
from affectlab.errors import UserError

if TYPE_CHECKING:
    from affectlab.annotate.web.visit import Ask

Folder: TypeAlias = Annotated[Path, typer.Argument(metavar="PROJECT", help="Folder of the project.")]
FieldMap: TypeAlias = Annotated[
    list[str] | None, typer.Option("--map", help="Our field = the file's.", metavar="FIELD=COLUMN")
]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    group = typer.Typer(help="Have people label items in a web app, adjudicate, export.", no_args_is_help=True)
    group.command("init", help="Make a project from a design and a file of items.")(init)
    group.command("serve", help="Serve the pages on this machine and print invitation links.")(serve)
    group.command("invite", help="Print a link by which somebody chooses a new password.")(invite)
    group.command("status", help="Where a project stands: slots, people, what is open.")(status)
    group.command("agreement", help="Agreement on every slot of a project.")(agreement)
    group.command("adjudicate", help="List what waits for a decision, or decide one slot.")(adjudicate)
    group.command("export", help="Write answers, gold or a benchmark's own file.")(export)
    group.command("import", help="Add items or answers to a project.")(import_)
    group.command("design", help="Put a new version of the design in place.")(design)
    group.command("backup", help="Copy the whole database while people work.")(backup)
    group.command("restore", help="Put a backup in the place of the database.")(restore)
    annotate_assist.add_to(group)
    app.add_typer(group, name="annotate")


def init(
    folder: Folder,
    study: Annotated[str, typer.Option("--design", help="chiaro, cue, emoscene, care, decisions, or a .toml file.")],
    items: Annotated[
        str | None, typer.Option(help="File of items, or hub:NAME. Default: those bundled with the benchmark.")
    ] = None,
    field_map: FieldMap = None,
    assignments: Annotated[
        str | None, typer.Option(help="File with columns item and name: who gets which item.")
    ] = None,
    database: Annotated[str, typer.Option(help="postgresql://HOST/NAME; a SQLite file by default.")] = "",
    seed: Annotated[int, typer.Option(help="Seed of orders and probes.", min=0)] = 0,
) -> None:
    """Make a project, and say what to do next."""
    from affectlab.annotate.design_file import read_design
    from affectlab.annotate.project import init_project
    from affectlab.annotate.sources import bundled_source, read_units
    from affectlab.annotate.store.claims import repeats_of

    found = read_design(study)
    fields = pairs(field_map or [], "--map")
    if fields and items is None:
        raise UserError("--map names columns of --items; give both.")
    with bundled_source(found) as bundled:
        # Where people write stories of their own, none are needed.
        source = items or (bundled if found.story is None else None)
        units = read_units(found, source, fields) if source else []
    if items is None and units:
        print(f"No --items: the {len(units)} that are bundled with {found.benchmark}.")
    fixed = _assignments(assignments) if assignments else []
    _, doubled = init_project(folder, found, units, database=database, seed=seed, assignments=fixed)
    print(f"{folder}: {len(units) - len(doubled)} items, {found.overlap} people each, design {found.name}.")
    if doubled:
        shown = ", ".join(doubled[:5]) + (" …" if len(doubled) > 5 else "")
        print(f"{len(doubled)} items left out because the same content came before: {shown}")
    total = len(units) - len(doubled)
    wanted, possible = repeats_of(found, total)
    if units and found.repeat_share and possible < max(wanted, 1):
        print(
            f"Items shown again to a person: {possible or 'none'}. The design wants {found.repeat_share:.0%} of them, "
            f"each at least {found.repeat_gap} items after the first time; {total} items are too few for that."
        )
    print(f"Next: affectlab annotate serve {folder}")


def _assignments(source: str) -> list[tuple[str, str]]:
    from affectlab.items import DataError, read_rows

    rows = read_rows(source)
    bad = [row.problem("", "no item or no name", "both") for row in rows if not {"item", "name"} <= row.data.keys()]
    if bad:
        raise DataError(source, bad)
    return [(str(row.data["item"]), str(row.data["name"])) for row in rows]


def serve(
    folder: Folder,
    host: Annotated[str, typer.Option(help="Address to listen on. Others than this machine need it.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port.", min=0, max=65535)] = 8765,
    annotators: Annotated[int | None, typer.Option(help="Annotators to invite in all.", min=0)] = None,
    adjudicators: Annotated[int, typer.Option(help="Adjudicators to invite in all.", min=0)] = 1,
    public: Annotated[
        str, typer.Option(help="Address people reach it under, if another one (https://label.example.org).")
    ] = "",
    model: Annotated[str | None, typer.Option(help="Model for the interviews of a design with stories.")] = None,
    base_url: Annotated[str | None, typer.Option(help="Endpoint of a remote model.")] = None,
    backup_minutes: Annotated[int, typer.Option(help="A backup so often; 0 for none.", min=0)] = 30,
) -> None:
    """Serve until Ctrl-C."""
    from urllib.parse import urlsplit

    from affectlab.annotate import serve as server
    from affectlab.annotate.project import find_project
    from affectlab.annotate.store.project import current_design

    project = find_project(folder)
    base = server.address_of(host, port, public)
    name = urlsplit(base).hostname or ""
    with project.opened() as store:
        with store.read() as conn:
            study = current_design(conn)
        wanted = {"admin": 1, "annotator": study.overlap if annotators is None else annotators}
        links = server.invitations(store, wanted | {"adjudicator": adjudicators}, base)
        ask, close = _interviewer(model, base_url)

        def told() -> None:
            print(f"{base}  (Ctrl-C stops it)")
            for role, link in links:
                print(f"  invitation, {role}: {link}")
            sys.stdout.flush()

        settings = server.Serving((host, port), (host, name), base.startswith("https:"), backup_minutes)
        try:
            server.run(project, store, settings, ask=ask, ready=told)
        finally:
            close()


def invite(
    folder: Folder,
    name: Annotated[str, typer.Option("--for", help="Name of the account that needs a new password.")],
    public: Annotated[str, typer.Option(help="Address people reach the pages under.")] = "http://127.0.0.1:8765",
) -> None:
    """Sign somebody out everywhere and print a link by which he or she chooses a new password."""
    from affectlab.annotate.project import find_project
    from affectlab.annotate.serve import new_password

    with find_project(folder).opened() as store:
        print(new_password(store, name, public))


def _interviewer(spec: str | None, base_url: str | None) -> tuple[Ask | None, Any]:
    if spec is None:
        return None, lambda: None
    from affectlab.annotate.web.asking import asking
    from affectlab.models import ModelSettings, open_model

    model = open_model(spec, ModelSettings(base_url=base_url))
    return asking(model), model.close


def status(folder: Folder, as_json: AsJson = False) -> None:
    """Print where the project stands."""
    from affectlab.annotate.project import find_project
    from affectlab.annotate.status import project_status

    with find_project(folder).opened() as store, store.read() as conn:
        found = project_status(conn)
    if as_json:
        print_json(found)
        return
    print(f"{found['design']}: {found['complete']} of {found['items']} items have all their answers.\n")
    print_rows(
        ("slot", "where items stand"),
        [(name, ", ".join(f"{key} {n}" for key, n in counts.items())) for name, counts in found["slots"].items()],
    )
    print()
    print_rows(
        ("person", "name", "role", "answered", "left out", "flags"),
        [
            (one["id"], one["name"], one["role"], str(one["answered"]), str(one["skipped"]), ", ".join(one["flags"]))
            for one in found["people"]
        ],
    )
    if found["skipped_by_all"]:
        print(f"\nLeft out by everybody: {', '.join(found['skipped_by_all'])}")
    if found["awaited"]:
        print(f"\nItems are fixed for people without an account: {', '.join(found['awaited'])}")


def agreement(
    folder: Folder,
    by: Annotated[
        str | None, typer.Option(help="For each value of this slice of the items apart.", metavar="SLICE")
    ] = None,
    schema: Annotated[
        str | None, typer.Option(help="Only answers given under this version of the design.", metavar="VERSION")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print agreement on every slot, and within each group of labels."""
    from affectlab.annotate.agreement import scores_of
    from affectlab.annotate.project import find_project
    from affectlab.annotate.project_agreement import project_agreement
    from affectlab.annotate.store.project import current_design
    from affectlab.report.agreement import document_of
    from affectlab.report.terminal import print_document

    with find_project(folder).opened() as store, store.read() as conn:
        found = project_agreement(conn, current_design(conn), by=by, schema=schema)
    if as_json:
        print_json({one.slot: scores_of(one).to_dict() for one in found})
    else:
        print_document(document_of(str(folder), found))


def adjudicate(
    folder: Folder,
    decide: Annotated[str | None, typer.Option(help="Slot to decide, as ITEM.SLOT.", metavar="ITEM.SLOT")] = None,
    value: Annotated[str | None, typer.Option(help="Its gold (a label id, a number, JSON for sets).")] = None,
    no_gold: Annotated[bool, typer.Option("--no-gold", help="Decide that no answer is right.")] = False,
    reason: Annotated[str, typer.Option(help="Why.")] = "",
    by: Annotated[str, typer.Option(help="Name of the adjudicator's account.")] = "",
    as_json: AsJson = False,
) -> None:
    """List the queue, or decide one slot of it."""
    from affectlab.annotate import decide as deciding
    from affectlab.annotate.project import find_project

    with find_project(folder).opened() as store:
        if decide is not None:
            if (value is None) == (not no_gold):
                raise UserError("Give --value or --no-gold, not both.")
            with store.write() as conn:
                version = deciding.decide_slot(conn, decide, None if no_gold else value, reason, by, store.now())
            print(f"{decide}: decided (version {version}).")
            return
        with store.read() as conn:
            rows = deciding.open_slots(conn)
    if as_json:
        print_json(rows)
    elif not rows:
        print("Nothing is waiting for a decision.")
    else:
        shown = [(row["item"], row["slot"], row["status"], " | ".join(row["candidates"])) for row in rows]
        print_rows(("item", "slot", "status", "answers"), shown, ids=2)


def export(
    folder: Folder,
    out: Annotated[Path, typer.Option(help="File to write.")],
    form: Annotated[
        str,
        typer.Option("--form", help="long, wide, gold, remarks, benchmark, or another tool's format."),
    ] = "long",
    strict: Annotated[bool, typer.Option("--strict", help="Refuse while anything is pending.")] = False,
    bom: Annotated[bool, typer.Option("--bom", help="Byte order mark in CSV, for Excel.")] = False,
    items: Annotated[str | None, typer.Option(help="For benchmark: the file the items came from.")] = None,
    field_map: FieldMap = None,
) -> None:
    """Write a file."""
    from affectlab.annotate.export import Wish, write_export
    from affectlab.annotate.project import find_project

    if out.is_dir():
        raise UserError(f"{out} is a folder; name a file.")
    renamed = pairs(field_map or [], "--map")
    if renamed and form != "benchmark":
        raise UserError("--map names columns of --items, which only --form benchmark reads.")
    with find_project(folder).opened() as store, store.read() as conn:
        told = write_export(conn, out, Wish(form, strict, bom, items, renamed, folder))
    print(f"{out}: {told}")


def import_(
    folder: Folder,
    items: Annotated[str | None, typer.Option(help="File of further items.")] = None,
    answers: Annotated[str | None, typer.Option(help="File of people's answers.")] = None,
    form: Annotated[
        str, typer.Option("--form", help="Of the answers: long, label-studio, doccano, argilla or potato.")
    ] = "long",
    field_map: FieldMap = None,
) -> None:
    """Add items or answers; a backup is made first."""
    from affectlab.annotate import importing
    from affectlab.annotate.backups import backup as back_up
    from affectlab.annotate.project import find_project

    if (items is None) == (answers is None):
        raise UserError("Give --items FILE or --answers FILE.")
    project = find_project(folder)
    renamed = pairs(field_map or [], "--map")
    with project.opened() as store:
        print(f"Backup: {back_up(project)}")
        if items is not None:
            added, doubled = importing.import_items(store, items, renamed)
            print(f"{added} items added, {doubled} left out because their content is there already.")
        else:
            assert answers is not None
            found = importing.import_answers(store, answers, renamed, form)
            told = [f"{found.answers} answers of {found.annotators} annotators added"]
            if found.there:
                told.append(f"{found.there} are there already")
            told += [f"{count} of {what} left out" for what, count in found.left_out.items()]
            print("; ".join(told) + ".")


def design(
    folder: Folder,
    study: Annotated[str, typer.Option("--design", help="The new design (.toml), with a higher version.")],
    field_map: Annotated[
        list[str] | None,
        typer.Option("--map", help="A label that is gone = the one in its place.", metavar="SLOT.OLD=NEW"),
    ] = None,
) -> None:
    """Replace the design; a backup is made first."""
    from affectlab.annotate.backups import backup as back_up
    from affectlab.annotate.design_file import read_design
    from affectlab.annotate.project import find_project
    from affectlab.annotate.store.project import replace_design

    new = read_design(study)
    mapping: dict[str, dict[str, str]] = {}
    for old, label in pairs(field_map or [], "--map").items():
        slot, dot, name = old.partition(".")
        if not dot:
            raise UserError(f"--map {old}={label}: expected SLOT.OLD=NEW.")
        mapping.setdefault(slot, {})[name] = label
    project = find_project(folder)
    with project.opened() as store:
        print(f"Backup: {back_up(project)}")
        with store.write() as conn:
            replace_design(conn, new, mapping, store.now())
    print(f"{folder}: design {new.name}, version {new.version}.")


def backup(folder: Folder) -> None:
    """Make a backup."""
    from affectlab.annotate.backups import backup as back_up
    from affectlab.annotate.project import find_project

    print(back_up(find_project(folder)))


def restore(
    folder: Folder,
    source: Annotated[Path, typer.Argument(metavar="BACKUP", help="File of `annotate backup`.")],
    other_study: Annotated[bool, typer.Option("--other-study", help="Take a backup of another study too.")] = False,
) -> None:
    """Put a backup in place; refused while a server or another command is at work on the project."""
    from affectlab.annotate.backups import restore as put_back
    from affectlab.annotate.project import find_project

    kept = put_back(find_project(folder), source, other_study=other_study)
    print(f"{folder}: restored from {source}." + (f" What was there is in {kept}." if kept else ""))
