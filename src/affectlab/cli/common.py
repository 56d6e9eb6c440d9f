"""What every command shares: how errors end, where output goes."""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from affectlab.errors import AffectlabError, UserError

AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]

Replicates: TypeAlias = Annotated[int, typer.Option(help="Bootstrap replicates behind each interval.", min=1)]

AS_LAST = "Default: as the run was scored last"

KeptReplicates: TypeAlias = Annotated[
    int | None, typer.Option(help=f"Bootstrap replicates behind each interval. {AS_LAST}, else 1000.", min=1)
]

BaseUrl: TypeAlias = Annotated[
    str | None, typer.Option(help="Endpoint of an openai: model. The key comes from OPENAI_API_KEY.")
]

Device: TypeAlias = Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1 …, or map: over all.")]

Dtype: TypeAlias = Annotated[str, typer.Option(help="float32, bfloat16 or float16. Report float32 figures.")]

Threads: TypeAlias = Annotated[int | None, typer.Option(help="CPU threads of a local model.", min=1)]

Vectors: TypeAlias = Annotated[
    Path | None,
    typer.Option(help="Emotion vectors of `affectlab vectors extract`. Default: of the bundled texts, made once."),
]

BatchTokens: TypeAlias = Annotated[int, typer.Option(help="Token budget of a local batch.", min=1)]

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""


def guarded(command: Callable[[], Any], *, debug: bool) -> int:
    """Run a command and return its exit code, printing errors to standard error.

    Errors raised on purpose are shown as their text, 2 for the user's and 1 for the world's. Anything else is a bug:
    one line that says so, and the traceback under ``--debug``.
    """
    try:
        _check_words(sys.argv)
        command()
        sys.stdout.flush()
    except SystemExit as ended:  # typer has told of wrong usage, or a command chose its exit code
        return ended.code if isinstance(ended.code, int) else 0
    except AffectlabError as error:
        return _failed(str(error), error.exit_code, debug=debug)
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader (head, less) has gone: nothing is wrong, and nothing more may be written.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except MemoryError as error:
        return _failed(f"Memory ran out ({error}). Free some, ask for less, or take a smaller model.", 1, debug=debug)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return _failed(f"A file's name is too long: {error.filename}. Choose a shorter one.", 2, debug=debug)
        if error.errno != errno.ENOSPC:
            return _bug(error, debug=debug)
        # What is left in the buffer would raise again when Python closes it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _failed("Standard output could not be written: no space left.", 1, debug=debug)
    except Exception as error:  # noqa: BLE001 - the last place an unforeseen error can be told to the user
        return _bug(error, debug=debug)
    return 0


def _check_words(words: Sequence[str]) -> None:
    for word in words:
        if any("\ud800" <= letter <= "\udfff" for letter in word):
            raise UserError(f"The argument {word!r} is not valid UTF-8; rename the file or folder it names.")


def _bug(error: Exception, *, debug: bool) -> int:
    text = f"This is a bug in affectlab ({type(error).__name__}: {error}). "
    return _failed(text + "Run again with --debug and report what it prints.", 1, debug=debug)


def _failed(text: str, code: int, *, debug: bool) -> int:
    if debug:
        import traceback

        traceback.print_exc()
    print(f"Error: {text}", file=sys.stderr)
    return code


def print_json(document: Any) -> None:
    """One JSON document on standard output."""
    print(json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2))


def tables_to_dict(tables: Sequence[Any], notes: Sequence[str]) -> dict[str, Any]:
    """What ``--json`` prints of some tables."""
    from dataclasses import asdict

    return {"notes": list(notes), "tables": {table.id: asdict(table) for table in tables}}


def pairs(options: Sequence[str], what: str) -> dict[str, str]:
    """``name=value`` options as a mapping.

    Raises:
        UserError: When one has no ``=``, or a name comes twice.
    """
    found: dict[str, str] = {}
    for option in options:
        name, equals, value = option.partition("=")
        if not equals or not name or not value:
            raise UserError(f"{what} {option!r}: expected name=value.")
        if name in found:
            raise UserError(f"{what} names {name!r} twice.")
        found[name] = value
    return found


def numbers(options: Sequence[str], what: str) -> dict[str, float]:
    """``name=number`` options as a mapping.

    Raises:
        UserError: When one is not of that form, or a name comes twice.
    """
    found = {}
    for name, value in pairs(options, what).items():
        try:
            found[name] = float(value)
        except ValueError:
            raise UserError(f"{what} {name}={value}: {value!r} is not a number.") from None
    return found


def print_rows(columns: Sequence[str], rows: Sequence[Sequence[str]], *, ids: int = 1, indent: int = 0) -> None:
    """A plain list as a table, without empty columns.

    What must be copied is never broken: no word is, nor any line of the first ``ids`` columns. Where that does not fit
    the terminal, the table is wider than it.
    """
    from rich.padding import Padding

    from affectlab.report.layouts import Column, Sheet, styled
    from affectlab.report.terminal import make_console

    shown = [
        Column(styled(heading), tuple(styled(row[index]) for row in rows), whole=index < ids)
        for index, heading in enumerate(columns)
        if any(row[index] for row in rows)
    ]
    sheet = Sheet(tuple(shown), padding=2, ruled=False)
    room = max(make_console().width - indent, sheet.least)
    make_console(width=room + indent).print(Padding(sheet.grid(room), (0, 0, 0, indent)))


def plain(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """A mapping with absent values left out, for JSON."""
    return {name: value for name, value in mapping.items() if value not in (None, "", (), [])}
