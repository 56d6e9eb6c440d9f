"""What a run's settings name outside its folder (a prior, demonstrations, an encoder): its digest, and a copy.

A file is copied into the run folder and read from there ever after; an encoder is only told apart by its digest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from affectlab.benchmarks import open_benchmark
from affectlab.errors import UserError, WorldError
from affectlab.items.source import read_bytes
from affectlab.replacing import replacing
from affectlab.runs.folder import RunFolder, writing
from affectlab.runs.plan import Plan

_NOTHING: Mapping[str, str] = {}


def digests(plan: Plan) -> dict[str, str]:
    """SHA-256 of what each setting of a plan names outside, by the setting's name.

    Raises:
        UserError: When it is not there.
        WorldError: When the disk or the hub fails.
    """
    return {name: plan.benchmark.outside[name](value) for name, value in _named(plan).items()}


def keep(plan: Plan, folder: RunFolder, recorded: Mapping[str, str] = _NOTHING) -> None:
    """Copy the files that a plan's settings name into the run folder, in place of copies that are there.

    Args:
        plan: What is asked.
        folder: Where it is asked.
        recorded: The settings in the folder's manifest, if it has one: copies are found by what these name.
    """
    for name, value in _named(plan).items():
        if Path(value).is_file():
            copy = _copy(folder, name, recorded.get(name) or value)
            with writing(copy):
                copy.parent.mkdir(exist_ok=True)
                with replacing(copy, f".{copy.name}.part") as beside:
                    beside.write_bytes(read_bytes(value))


def from_folder(plan: Plan, folder: RunFolder) -> Plan:
    """The plan with its settings naming the copies in the folder."""
    copies = {name: _copy(folder, name, value) for name, value in _named(plan).items()}
    there = {name: str(copy) for name, copy in copies.items() if copy.is_file()}
    return replace(plan, asking=replace(plan.asking, options={**plan.asking.options, **there})) if there else plan


def or_copies(benchmark: str, options: Mapping[str, str], out: str | Path) -> dict[str, str]:
    """A command's settings, each that names a file which is gone naming the copy that the run it goes on with has.

    Args:
        benchmark: Name of the benchmark.
        options: Its settings as typed.
        out: The run folder, if it is there.

    Raises:
        UserError: When there is no such benchmark, or the folder's manifest cannot be read.
    """
    folder = RunFolder.at(out)
    found = (folder.manifest().get("asking") or {}).get("options") if folder.exists() else None
    recorded = found if isinstance(found, Mapping) else {}
    copies = {
        name: str(copy)
        for name, value in options.items()
        if value and name in open_benchmark(benchmark).outside and not Path(value).exists()
        if recorded.get(name) == value and (copy := _copy(folder, name, value)).is_file()
    }
    return {**options, **copies}


def check(plan: Plan, recorded: Mapping[str, str], folder: RunFolder) -> None:
    """Refuse to score with something else than the run was begun with.

    What cannot be had any more is left to those who need it: they say so.

    Args:
        plan: As :func:`from_folder` gives it.
        recorded: Digests in the manifest.
        folder: The run.

    Raises:
        UserError: When a digest differs.
    """
    for name, value in _named(plan).items():
        try:
            found = plan.benchmark.outside[name](value)
        except (UserError, WorldError):
            continue
        if name not in recorded:
            raise UserError(
                f"{folder.path} has no record of what {name} it was run with, so {value} may be another. Run anew in "
                "another --out."
            )
        if found != recorded[name]:
            raise UserError(
                f"{folder.path} was run with another {name} than {value} is now (sha256 {found[:12]}…; its manifest "
                f"has {recorded[name][:12]}…). Restore it, or run anew in another --out."
            )


def _named(plan: Plan) -> dict[str, str]:
    """Settings that name something outside, and what they name."""
    return {name: value for name, value in plan.asking.options.items() if value and name in plan.benchmark.outside}


def _copy(folder: RunFolder, name: str, value: str) -> Path:
    """Where the copy of a setting's file is; its format goes by the suffix, which stays."""
    return folder.path / "settings" / f"{name}{Path(value).suffix}"
