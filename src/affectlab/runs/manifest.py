"""The manifest: everything that decides what a run's figures mean, and the record of the sessions that made it."""

from __future__ import annotations

import hashlib
import json
import platform
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import affectlab
from affectlab.errors import UserError
from affectlab.items import Item
from affectlab.models.base import ModelCard
from affectlab.runs import outside
from affectlab.runs.folder import SCHEMA, item_to_dict
from affectlab.runs.plan import Plan

DECISIVE = (
    "benchmark.name",
    "benchmark.version",
    "protocol",
    "model.spec",
    "model.identity",
    "data.sha256",
    "data.items",
    "data.items_sha256",
    "data.fields",
    "prompt_sha256",
    "asking.order",
    "asking.seed",
    "asking.temperature",
    "asking.top_p",
    "asking.max_tokens",
    "asking.options",
    "settings_sha256",
    "conditions",
    "steering.vectors.sha256",
    "repeats",
)
"""Fields in which a run must agree with what is asked, or it is another run."""

_SHAPES: Mapping[str, type] = {
    "benchmark": dict,
    "protocol": str,
    "model": dict,
    "data": dict,
    "asking": dict,
    "conditions": list,
    "steering": dict,
    "steering.vectors": dict,
    "steering.limits": dict,
    "steering.conditions": dict,
    "repeats": int,
    "settings_sha256": dict,
    "host": dict,
    "sessions": list,
}
_MEMBERS: Mapping[str, type] = {"conditions": str, "steering.conditions": dict, "sessions": dict}
_CALLED = {dict: "an object", list: "a list", str: "text", int: "a whole number"}


def now() -> str:
    """The time as manifests hold it: UTC, ISO 8601, whole seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def make(plan: Plan, card: ModelCard, steering: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest of a run that has not begun.

    Args:
        plan: What is asked.
        card: Whom.
        steering: What :meth:`affectlab.models.Steerable.prepare` says of the conditions; empty without any.
    """
    asking = plan.asking
    return {
        "schema": SCHEMA,
        "package_version": affectlab.__version__,
        "benchmark": {"name": plan.benchmark.name, "version": plan.benchmark.version},
        "protocol": plan.protocol.name,
        "model": {
            "spec": card.spec,
            "name": card.name,
            "identity": dict(card.identity),
            "libraries": dict(card.libraries),
        },
        "data": {
            "source": plan.source,
            "sha256": plan.data_sha256,
            "items": len(plan.items),
            "items_sha256": items_digest(plan.items),
            "fields": dict(plan.fields),
            "ignored_columns": list(plan.ignored),
            "notes": list(plan.notes),
        },
        "prompt_sha256": plan.prompt_sha256(),
        "asking": {
            "order": asking.order,
            "seed": asking.seed,
            "temperature": asking.temperature,
            "top_p": asking.top_p,
            "max_tokens": asking.max_tokens,
            "options": dict(asking.options),
        },
        "conditions": list(plan.conditions),
        **({"settings_sha256": named} if (named := outside.digests(plan)) else {}),
        **({"steering": dict(steering)} if steering else {}),
        "repeats": plan.repeats,
        "created": now(),
        "host": host(),
        "sessions": [],
    }


def items_digest(items: Iterable[Item]) -> str:
    """Over all that items hold, gold and slices too: another column mapped to gold is another run."""
    digest = hashlib.sha256()
    for item in items:
        digest.update(
            json.dumps(item_to_dict(item), ensure_ascii=False, sort_keys=True).encode("utf-8", "replace") + b"\n"
        )
    return digest.hexdigest()


def host() -> dict[str, str]:
    """Where it runs: system, processor and Python, never the user's or machine's name."""
    return {"system": platform.system(), "machine": platform.machine(), "python": platform.python_version()}


def field(manifest: Mapping[str, Any], dotted: str) -> Any:
    """A field by its dotted name; ``None`` when absent."""
    value: Any = manifest
    for name in dotted.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def adapted(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """What must be said where an endpoint could not be asked as the manifest says: a sentence, or none."""
    said = dict.fromkeys(one for session in manifest["sessions"] for one in session.get("adaptations", ()))
    return (f"Asked otherwise than was set, because the endpoint refuses it: {', '.join(said)}.",) if said else ()


def check_kind(manifest: Mapping[str, Any], where: str) -> None:
    """Refuse the manifest of a folder that holds something else than a run of a benchmark.

    Args:
        manifest: Of a folder. Those of runs have no ``kind``.
        where: The folder, for the message.

    Raises:
        UserError: When it has one, with the command that shows what is there; when a field holds something else than
            runs have there.
    """
    kind = manifest.get("kind")
    if kind is None:
        _check_shapes(manifest, where)
        return
    what = "matches of `affectlab play`" if kind == "arena" else f"a {kind}"
    sessions = manifest.get("sessions") or [{}]
    command = sessions[-1].get("command")
    again = f" To see what came of it:\n  {command}" if command else ""
    raise UserError(f"{where} holds {what}, not a run of a benchmark.{again}")


def _check_shapes(manifest: Mapping[str, Any], where: str) -> None:
    """Refuse a manifest that somebody edited into another shape; what it lacks is told where it is missed."""
    for name, kind in _SHAPES.items():
        above, _, own = name.rpartition(".")
        holder = field(manifest, above) if above else manifest
        if own not in (holder or {}):
            continue
        value = holder[own]
        members = value.values() if isinstance(value, dict) else value
        wanted = _MEMBERS.get(name)
        if not isinstance(value, kind) or (wanted and not all(isinstance(one, wanted) for one in members)):
            each = f" of {_CALLED[wanted]} each" if wanted else ""
            raise UserError(
                f"The manifest.json of {where} is broken: {name} is {_short(value)}, not {_CALLED[kind]}{each}. "
                "Restore it, or start anew in another --out."
            )


def check_same(
    found: Mapping[str, Any], asked: Mapping[str, Any], where: str, outside_settings: Collection[str] = ()
) -> None:
    """Refuse to go on with a run that is not the one asked for.

    Args:
        found: Manifest of the folder.
        asked: What would be the manifest of what is asked now.
        where: The folder, for the message.
        outside_settings: Settings that name something whose digest manifests keep.

    Raises:
        UserError: Naming every field that differs, with both values.
    """
    kept = _settings(found).keys() & _settings(asked).keys()
    differences = {
        name: f"  {name}: the folder has {_short(before)}, this command asks {_short(after)}"
        for decisive in DECISIVE
        for name, before, after in _differing(
            decisive, _decisive(found, decisive, kept), _decisive(asked, decisive, kept)
        )
    }
    had = field(found, "asking.options") or {}
    unknown = [name for name in outside_settings if had.get(name) and name not in _settings(found)]
    if not differences and not unknown:
        return
    told = [*differences.values(), *(f"  {name}: the folder has no record of what it was run with" for name in unknown)]
    if "benchmark.version" in differences:  # the command that began it would be refused as well
        do = made_by(found)
    elif unknown:
        do = "Run anew in another --out."
    else:
        do = f"Choose another --out, or repeat the command that began it:\n  {_first_command(found)}"
    raise UserError("\n".join((f"{where} belongs to another run. What differs:", *told, do)))


def made_by(manifest: Mapping[str, Any]) -> str:
    """What to do with a folder that this affectlab reads otherwise than the one that made it."""
    made = field(manifest, "package_version")
    if made == affectlab.__version__:
        return f"Another state of affectlab {made} made it, so it must be run anew, in another --out."
    return f"Use the affectlab that made it ({made}), or run it anew in another --out."


def _settings(manifest: Mapping[str, Any]) -> Mapping[str, str]:
    """Digests of what settings name; none in a folder of before they were kept."""
    return manifest.get("settings_sha256") or {}


def _decisive(manifest: Mapping[str, Any], name: str, kept: Collection[str]) -> Any:
    """A decisive field. The order of conditions decides nothing, nor where a file lies whose digest both sides have."""
    value = field(manifest, name)
    if name == "asking.options" and isinstance(value, Mapping):
        return {setting: given for setting, given in value.items() if setting not in kept}
    if name == "settings_sha256":  # what one side alone names is among the options
        return {setting: digest for setting, digest in _settings(manifest).items() if setting in kept}
    return sorted(value) if name == "conditions" and isinstance(value, list) else value


def _differing(name: str, before: Any, after: Any) -> Iterator[tuple[str, Any, Any]]:
    """The innermost fields in which two values differ."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in sorted({*before, *after}):
            yield from _differing(f"{name}.{key}", before.get(key), after.get(key))
    elif before != after:
        yield name, before, after


def _first_command(manifest: Mapping[str, Any]) -> str:
    sessions = manifest.get("sessions") or [{}]
    return str(sessions[0].get("command") or "(not recorded)")


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 90 else text[:87] + "…"


def command_line() -> str:
    """How this process was called, fit to be typed again, with passwords in URLs left out."""
    import shlex
    from pathlib import Path

    program = Path(sys.argv[0]).name if sys.argv and sys.argv[0] else "affectlab"
    if program.endswith(".py"):
        program = "affectlab"
    return re.sub(r"(\w+://)[^/@\s]+@", r"\1***@", shlex.join([program, *sys.argv[1:]]))
