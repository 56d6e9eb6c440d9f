"""Run a file of cases and say what came out."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, TextIO

LATER = "not covered yet:"
"""How an area module's answer starts when the code for a case comes with a later issue."""

Check = Callable[[Mapping[str, Any]], "str | None"]
Verdict = Literal["passed", "failed", "later"]


class BadFileError(Exception):
    """The file of cases cannot be read; the text says why."""


@dataclass(frozen=True)
class Result:
    """One case, what came of it, and what was wrong."""

    id: str
    area: str
    verdict: Verdict
    message: str = ""
    right: Any = None


@dataclass
class Outcome:
    """All results, and the areas that have no module."""

    results: list[Result] = field(default_factory=list)
    uncovered: Counter[str] = field(default_factory=Counter)

    @property
    def failures(self) -> list[Result]:
        return [result for result in self.results if result.verdict == "failed"]


def load_cases(path: Path) -> list[dict[str, Any]]:
    """Cases of a JSON-lines file.

    Raises:
        BadFileError: When the file is not there, not UTF-8, or a line is not a case.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadFileError(f"{path}: {error}") from error
    cases = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            case = json.loads(line)
        except ValueError as error:
            raise BadFileError(f"{path}, line {number}: not JSON ({error})") from error
        missing = {"id", "area", "input", "right_outcome"} - set(case if isinstance(case, dict) else ())
        if missing:
            raise BadFileError(f"{path}, line {number}: no {', '.join(sorted(missing))}")
        cases.append(case)
    if not cases:
        raise BadFileError(f"{path}: no cases")
    return cases


def covered_areas() -> dict[str, Check]:
    """The check of every area that has a module."""
    folder = Path(__file__).with_name("areas")
    names = sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__")
    return {name: import_module(f"{__package__}.areas.{name}").check for name in names}


def run_cases(cases: Iterable[Mapping[str, Any]], checks: Mapping[str, Check]) -> Outcome:
    """Check each case. A check that raises is a failure of that case, not of the run."""
    outcome = Outcome()
    for case in cases:
        check = checks.get(case["area"])
        if check is None:
            outcome.uncovered[case["area"]] += 1
            continue
        try:
            message = check(case)
        except Exception as error:  # noqa: BLE001 - any exception is the case's failure
            message = f"raised {type(error).__name__}: {error}"
        verdict: Verdict = "passed" if message is None else "later" if message.startswith(LATER) else "failed"
        outcome.results.append(Result(case["id"], case["area"], verdict, message or "", case["right_outcome"]))
    return outcome


def show(outcome: Outcome, out: TextIO) -> None:
    """Every failure, then a summary by area, then what is not covered."""
    for result in outcome.failures:
        right = json.dumps(result.right, ensure_ascii=False)
        print(f"{result.id} ({result.area})\n  came out: {result.message}\n  right is: {right}", file=out)
    by_area: dict[str, Counter[Verdict]] = {}
    for result in outcome.results:
        by_area.setdefault(result.area, Counter())[result.verdict] += 1
    for area, counts in sorted(by_area.items()):
        later = f", {counts['later']} not covered yet" if counts["later"] else ""
        print(f"{area:16} {counts['passed']} passed, {counts['failed']} failed{later}", file=out)
    for result in outcome.results:
        if result.verdict == "later":
            print(f"{result.id} ({result.area}): {result.message}", file=out)
    if outcome.uncovered:
        print(f"{LATER} {', '.join(f'{area} ({n})' for area, n in sorted(outcome.uncovered.items()))}", file=out)


def main(arguments: Sequence[str]) -> int:
    """Exit code: 0 when nothing failed, 1 when something did, 2 when the file or the arguments are bad."""
    import argparse

    parser = argparse.ArgumentParser(prog="python -m tests.cases", description=main.__doc__)
    parser.add_argument("file", type=Path, help="JSON lines with id, area, input and right_outcome")
    parser.add_argument("--area", action="append", help="only this area (may be given again)")
    given = parser.parse_args(arguments)
    try:
        cases = load_cases(given.file)
        if given.area:
            known = {case["area"] for case in cases}
            if strange := set(given.area) - known:
                raise BadFileError(
                    f"{given.file}: no area {', '.join(sorted(strange))}; there are {', '.join(sorted(known))}"
                )
            cases = [case for case in cases if case["area"] in given.area]
    except BadFileError as error:
        print(error, file=sys.stderr)
        return 2
    outcome = run_cases(cases, covered_areas())
    show(outcome, sys.stdout)
    return 1 if outcome.failures else 0
