"""The two kinds of error a user meets, and the exit code of each.

Everything raised on purpose is one of these; the command line prints its text without a traceback
(``--debug`` shows one). Anything else that reaches the user is a bug.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class AffectlabError(Exception):
    """Base of all errors raised on purpose. The text names the thing and says what to do next."""

    exit_code = 1


class UserError(AffectlabError):
    """What was asked for cannot be done as asked: a bad argument, file, field or key. Exit code 2."""

    exit_code = 2


class WorldError(AffectlabError):
    """The request was fine and the world was not: no network, a full disk, a broken server. Exit code 1."""

    exit_code = 1


def did_you_mean(near: Iterable[str]) -> str:
    """What an error adds where names near the one it refuses are known; empty where none are.

    >>> did_you_mean(["joy", "pride"]), did_you_mean([])
    ('; did you mean joy or pride?', '')
    """
    named = " or ".join(near)
    return f"; did you mean {named}?" if named else ""


def first_of(names: Sequence[str], most: int = 5) -> str:
    """Some names for a sentence: the first ones, and how many more there are.

    >>> first_of(["a", "b", "c"], 2), first_of(["a", "b"], 2)
    ('a, b and 1 more', 'a, b')
    """
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def as_lines(problems: Sequence[str], most: int = 20) -> str:
    """Problems one a line under a sentence: the first ones, and how many more there are.

    >>> as_lines(["no label", "no item", "no name"], 2)
    '\\n  no label\\n  no item\\n  … and 1 more'
    """
    more = [f"… and {len(problems) - most} more"] if len(problems) > most else []
    return "".join(f"\n  {one}" for one in (*problems[:most], *more))
