"""A benchmark's own settings as options of a command: ``--context 3`` for ``--set context=3``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from typer.core import TyperCommand

from affectlab.benchmarks import benchmark_names, open_benchmark
from affectlab.errors import UserError


class TakesSettings(TyperCommand):
    """A command with an argument BENCHMARK and an option ``--set`` that takes that benchmark's settings by name too."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments, with the benchmark's settings written as ``--set NAME=VALUE``."""
        valued = {name: not getattr(param, "is_flag", False) for param in self.params for name in param.opts}
        return super().parse_args(ctx, spelled_out(args, valued))


def spelled_out(args: Sequence[str], valued: Mapping[str, bool]) -> list[str]:
    """Arguments with ``--NAME VALUE`` and ``--NAME=VALUE`` of a benchmark's settings as ``--set NAME=VALUE``.

    Args:
        args: What was typed after the command.
        valued: The command's own options: name -> whether a value follows. They come before settings of that name.

    Raises:
        UserError: When a setting has no value.
    """
    settings = _settings(args, valued)
    found: list[str] = []
    rest = iter(args)
    for word in rest:
        option, equals, value = word.partition("=")
        name = option.removeprefix("--").replace("-", "_")
        if word == "--":
            return [*found, word, *rest]
        if option in valued or not option.startswith("--") or name not in settings:
            found.append(word)
            if not equals and valued.get(option):
                found += [value for value in [next(rest, None)] if value is not None]
            continue
        if not equals:
            value = next(rest, "")
        if not value or value.startswith("--"):
            raise UserError(f"{option} needs a value. It sets the {settings[name]}.")
        found += ["--set", f"{name}={value}"]
    return found


def _settings(args: Sequence[str], valued: Mapping[str, bool]) -> Mapping[str, str]:
    """The settings of the benchmark that the first argument names; none when it names none."""
    rest, known = iter(args), benchmark_names()
    for word in rest:
        if word in known:
            return open_benchmark(word).settings
        if word.startswith("-") and "=" not in word and valued.get(word, True):
            next(rest, None)
    return {}
