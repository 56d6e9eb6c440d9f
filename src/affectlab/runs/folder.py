"""The run folder: what is in it, and how it survives being killed.

``responses.jsonl`` is the source of truth and is only ever appended to, one write per response. Everything computed
from it can be made again. Formats are described in docs/run-folder.md.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, cast

from affectlab.errors import AffectlabError, UserError, WorldError
from affectlab.items import Item
from affectlab.metrics.predictions import Prediction
from affectlab.metrics.scores import dumps
from affectlab.models.base import Failure, Request, Response, Usage
from affectlab.replacing import replacing
from affectlab.runs.plan import Cell, request_to_dict, response_to_dict

SCHEMA = 1
"""Version of all formats in a run folder."""


@dataclass
class Answers:
    """Responses by cell, and what reading the file met."""

    by_cell: dict[Cell, dict[tuple[str, str], Response]] = field(default_factory=dict)
    total: int = 0
    torn: int = 0
    doubled: int = 0

    def add(self, cell: Cell, variant: str, step: str, response: Response) -> None:
        """Keep a response; of two under one key the first counts."""
        answered = self.by_cell.setdefault(cell, {})
        if (variant, step) in answered:
            self.doubled += 1
        else:
            answered[variant, step] = response
            self.total += 1


@dataclass(frozen=True)
class RunFolder:
    """Paths and formats of one run on disk. Make one with :meth:`at`; it touches nothing until asked to."""

    path: Path

    @classmethod
    def at(cls, path: str | Path) -> RunFolder:
        """The run folder at a path, whether or not it exists yet."""
        return cls(Path(path))

    @property
    def manifest_path(self) -> Path:
        """What was run, with what, when."""
        return self.path / "manifest.json"

    @property
    def items_path(self) -> Path:
        """The items asked about, so that the folder can be scored without the data file."""
        return self.path / "items.jsonl"

    @property
    def responses_path(self) -> Path:
        """One response a line, append-only."""
        return self.path / "responses.jsonl"

    @property
    def failures_path(self) -> Path:
        """Requests that got no response, append-only; a later run of the same command asks them again."""
        return self.path / "failures.jsonl"

    @property
    def predictions_path(self) -> Path:
        """What was read, one answer a line."""
        return self.path / "predictions.jsonl"

    @property
    def scores_path(self) -> Path:
        """Scores by condition."""
        return self.path / "scores.json"

    @property
    def vectors_path(self) -> Path:
        """What conditions were made of, so that the run can go on without the file or the cache it came from."""
        return self.path / "vectors.safetensors"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder; another process that wants it is refused. Killing the holder frees it.

        Raises:
            UserError: When another process holds it, or the path is a file.
            WorldError: When it cannot be written.
        """
        from filelock import FileLock, Timeout

        with writing(self.path):
            if self.path.exists() and not self.path.is_dir():
                raise UserError(f"{self.path} is a file; --out needs a folder.")
            self.path.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.path / ".lock", timeout=0)
            try:
                lock.acquire()
            except Timeout as error:
                raise UserError(
                    f"{self.path} is in use by another process; wait for it or choose another --out."
                ) from error
        try:
            yield
        finally:
            lock.release()

    def exists(self) -> bool:
        """Whether a run has been started here."""
        return self.manifest_path.is_file()

    def has_responses(self) -> bool:
        """Whether anything was answered yet."""
        return self.responses_path.exists() and self.responses_path.stat().st_size > 0

    def check_new(self) -> None:
        """Refuse a folder that holds something else.

        Raises:
            UserError: When it is not empty and holds no run.
        """
        # A process killed while it made the folder leaves these behind; they are written anew.
        ours = {".lock", "items.jsonl", "vectors.safetensors", "settings"}
        strangers = sorted(one.name for one in self.path.iterdir() if one.name not in ours and not one.match(".*.part"))
        if strangers:
            raise UserError(
                f"{self.path} is not empty and is not a run folder (it holds {', '.join(strangers[:3])}"
                f"{' …' if len(strangers) > 3 else ''}); choose another --out."
            )

    def manifest(self) -> dict[str, Any]:
        """The manifest.

        Raises:
            UserError: When there is none, it is broken, or a newer version wrote it.
        """
        if not self.exists():
            hint = " (an empty folder)" if self.path.is_dir() else ""
            raise UserError(f"{self.path} is not a run folder: no manifest.json{hint}. `affectlab run` makes one.")
        try:
            manifest: dict[str, Any] = json.loads(self.manifest_path.read_text(encoding="utf-8"))
            schema = manifest["schema"]
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(
                f"{self.manifest_path} is broken ({error}); restore it, or start anew in another --out."
            ) from error
        if schema != SCHEMA:
            raise UserError(
                f"{self.manifest_path} has schema {schema}, this affectlab reads {SCHEMA}; "
                "use the version that wrote it."
            )
        return manifest

    def write_manifest(self, manifest: Mapping[str, Any]) -> None:
        """Replace the manifest whole."""
        self._replace(self.manifest_path, [dumps(manifest) + "\n"])

    def write_items(self, items: Iterable[Item]) -> None:
        """Write the items asked about."""
        self._replace(self.items_path, (_line(item_to_dict(item)) for item in items))

    def items(self) -> tuple[Item, ...]:
        """The items asked about, as they were.

        Raises:
            UserError: When their file is missing or broken.
        """
        try:
            with self.items_path.open(encoding="utf-8") as lines:
                return tuple(_item_from_dict(json.loads(line)) for line in lines)
        except FileNotFoundError as error:
            raise UserError(
                f"{self.items_path} is missing; without it the run cannot be scored. Restore it."
            ) from error
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"{self.items_path} is broken ({error}). Restore it, or start anew.") from error

    def write_predictions(self, predictions: Iterable[Prediction]) -> None:
        """Replace the predictions."""
        self._replace(self.predictions_path, (_line(prediction_to_dict(row)) for row in predictions))

    def write_scores(self, scores: Mapping[str, Any]) -> None:
        """Replace the scores."""
        self._replace(self.scores_path, [dumps(scores) + "\n"])

    def _replace(self, path: Path, pieces: Iterable[str]) -> None:
        # Written beside and moved over, so that a killed process leaves the old file or the new one, never a half.
        with (
            writing(path),
            replacing(path, f".{path.name}.part") as beside,
            beside.open("w", encoding="utf-8", errors="replace", newline="\n") as file,
        ):
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())

    def answers(self) -> Answers:
        """All responses so far. A torn last line (a process killed while writing) is counted and left out.

        Raises:
            UserError: When a line that is not the last is broken, naming it.
        """
        answers = Answers()
        if not self.responses_path.exists():
            return answers
        with reading(self.responses_path), self.responses_path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    answers.torn += 1
                    break
                try:
                    row = json.loads(line)
                    cell = Cell(row["condition"], row["repeat"], row["item"])
                    answers.add(cell, row["variant"], row["step"], _response_from_dict(row["response"]))
                except (ValueError, KeyError, TypeError) as error:
                    raise UserError(
                        f"{self.responses_path}, line {number}: not a response ({error}). The file was "
                        "changed by something else; delete that line to have its request asked again."
                    ) from error
        return answers

    def failures(self) -> list[dict[str, Any]]:
        """Every failed request on record, in order of time."""
        if not self.failures_path.exists():
            return []
        with self.failures_path.open(encoding="utf-8") as lines:
            return [json.loads(line) for line in lines if line.endswith("\n")]

    @contextmanager
    def appending(self) -> Iterator[Appender]:
        """Open the append-only files, cutting off a torn last line first."""
        with writing(self.path):
            _cut_torn_line(self.responses_path)
            _cut_torn_line(self.failures_path)
            responses = cast(BinaryIO, self.responses_path.open("ab", buffering=0))
            failures = cast(BinaryIO, self.failures_path.open("ab", buffering=0))
        try:
            yield Appender(responses, failures)
        finally:
            for file in (responses, failures):
                with writing(self.path):
                    os.fsync(file.fileno())
                file.close()


@dataclass(frozen=True, slots=True)
class Appender:
    """Writes each response as one line in one write, so that killing the process loses at most that line."""

    responses: BinaryIO
    failures: BinaryIO

    def response(self, request: Request, response: Response) -> None:
        """Append a response with its request."""
        row = {
            **request.key._asdict(),
            "request": request_to_dict(request),
            "response": response_to_dict(response),
        }
        _write_whole(self.responses, _bytes(row))

    def failure(self, request: Request, failure: Failure, time: str) -> None:
        """Append a failed request."""
        row = {**request.key._asdict(), "error": failure.error, "attempts": failure.attempts, "time": time}
        _write_whole(self.failures, _bytes(row))


def _write_whole(file: BinaryIO, line: bytes) -> None:
    with writing(file.name):
        written = file.write(line)
        if written != len(line):  # a full disk takes part of the line before it complains
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Turn what the operating system says about writing into an error a user can act on."""
    try:
        yield
    except AffectlabError:
        raise
    except FileNotFoundError as error:
        parent = Path(path).parent
        why = f"{parent} takes no new files" if parent.is_dir() else f"there is no folder {parent}. Make it first"
        raise UserError(f"{path} cannot be written: {why}.") from error
    except PermissionError as error:
        raise UserError(
            f"{path} cannot be written ({error.strerror}); choose another place or change its permissions."
        ) from error
    except OSError as error:
        raise WorldError(
            f"{path} could not be written ({error.strerror}). What was written before is kept: "
            "mend it (free space?) and run the same command again."
        ) from error


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what the operating system says about reading into an error a user can act on."""
    try:
        yield
    except PermissionError as error:
        raise UserError(f"{path} may not be read by this user; change its permissions.") from error
    except OSError as error:
        raise WorldError(f"{path} could not be read ({error.strerror}).") from error


def _cut_torn_line(path: Path) -> None:
    if not path.exists():
        return
    with path.open("rb+") as file:
        end = file.seek(0, os.SEEK_END)
        keep = end
        while keep > 0:
            start = max(0, keep - 65536)
            file.seek(start)
            newline = file.read(keep - start).rfind(b"\n")
            if newline >= 0:
                keep = start + newline + 1
                break
            keep = start
        if keep < end:
            file.truncate(keep)


_COMPACT = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _bytes(row: Mapping[str, Any]) -> bytes:
    # A server may send half of a surrogate pair, which no UTF-8 file can hold: it becomes "?".
    return _line(row).encode("utf-8", "replace")


def _line(row: Mapping[str, Any]) -> str:
    return _COMPACT.encode(row) + "\n"


def item_to_dict(item: Item) -> dict[str, Any]:
    """An item as a line of ``items.jsonl``."""
    return {
        "id": item.id,
        "index": item.index,
        "inputs": dict(item.inputs),
        "gold": dict(item.gold),
        "slices": dict(item.slices),
        "cluster": item.cluster,
    }


def _item_from_dict(row: Mapping[str, Any]) -> Item:
    gold = {slot: tuple(value) if isinstance(value, list) else value for slot, value in row["gold"].items()}
    return Item(row["id"], row["index"], row["inputs"], gold, row["slices"], row["cluster"])


def _response_from_dict(row: Mapping[str, Any]) -> Response:
    kept = dict(row)
    for name in ("text", "reasoning", "prompt"):
        if not isinstance(kept.get(name), str | None):
            raise TypeError(f"{name} is {type(kept[name]).__name__}, not text")
    if usage := kept.get("usage"):
        kept["usage"] = Usage(**usage)
    for name in ("logprobs", "option_tokens"):
        if name in kept:
            kept[name] = tuple(kept[name])
    return Response(**kept)


def prediction_to_dict(prediction: Prediction) -> dict[str, Any]:
    """A prediction as a line of ``predictions.jsonl``."""
    row: dict[str, Any] = {
        "item": prediction.item,
        "cluster": prediction.cluster,
        "slot": prediction.slot,
        "variant": prediction.variant,
        "condition": prediction.condition,
        "repeat": prediction.repeat,
        "outcome": prediction.outcome,
        "value": prediction.value,
        "gold": prediction.gold,
        "position": prediction.position,
        "slices": dict(prediction.slices),
        "flags": list(prediction.flags),
    }
    if prediction.detail:
        row["detail"] = dict(prediction.detail)
    return row
