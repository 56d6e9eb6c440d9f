"""Kill -9 a run at random moments and go on with the same command.

``python -m tests.support.kill FOLDER TRIALS SEED SLOW COMMAND…`` runs COMMAND (the arguments of ``affectlab run``
without ``--out``) uninterrupted once, then TRIALS times with a SIGKILL at a random moment followed by the same command
to its end. Children are forked from a process that has imported everything, so a trial costs what the run costs.
Prints one JSON line: how each trial ended.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import sys
import time
from pathlib import Path


def child(command: list[str], slow: float, log: Path) -> int:
    pid = os.fork()
    if pid:
        return pid
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(output, 1)
    os.dup2(output, 2)
    from affectlab.cli import main as cli
    from affectlab.models.scripted import ScriptedModel

    if slow:
        quick = ScriptedModel.respond

        def respond(self, requests):  # type: ignore[no-untyped-def]
            for answer in quick(self, requests):
                time.sleep(slow)
                yield answer

        ScriptedModel.respond = respond  # type: ignore[method-assign]
    sys.argv = ["affectlab", *command]
    try:
        cli.main()
    except SystemExit as ended:
        os._exit(int(ended.code or 0))
    os._exit(99)


def here(command: list[str]) -> None:
    """Run once in this process, so that every child starts with all imports done."""
    from affectlab.cli import main as cli

    sys.argv = ["affectlab", *command]
    with contextlib.redirect_stdout(sys.stderr):
        try:
            cli.main()
        except SystemExit as ended:
            if ended.code:
                sys.exit(f"the uninterrupted run ended with {ended.code}")


def keys(folder: Path) -> list[tuple[object, ...]]:
    rows = [json.loads(line) for line in (folder / "responses.jsonl").read_bytes().splitlines()]
    return sorted((row["item"], row["variant"], row["step"], row["condition"], row["repeat"]) for row in rows)


def results(folder: Path) -> tuple[bytes, bytes]:
    return (folder / "predictions.jsonl").read_bytes(), (folder / "scores.json").read_bytes()


def main() -> None:
    base, trials, seed, slow, *command = sys.argv[1:]
    folder = Path(base)
    if not command[command.index("--model") + 1].startswith("scripted:"):
        import torch

        torch.set_num_threads(1)  # a pool of threads would not survive the forks
    whole = folder / "whole"
    here(["run", *command, "--out", str(whole)])
    began = time.monotonic()
    _, status = os.waitpid(
        child(["run", *command, "--out", str(folder / "timed")], float(slow), folder / "timed.log"), 0
    )
    took = time.monotonic() - began
    if status:
        sys.exit(f"the uninterrupted run ended with {status}")
    draw = random.Random(int(seed))
    told = []
    for trial in range(int(trials)):
        out, log = folder / f"trial{trial}", folder / f"again{trial}.log"
        again = ["run", *command, "--out", str(out)]
        victim = child(again, float(slow), folder / f"killed{trial}.log")
        time.sleep(draw.uniform(0.0, took))
        os.kill(victim, signal.SIGKILL)
        _, status = os.waitpid(victim, 0)
        kept = len((out / "responses.jsonl").read_bytes().splitlines()) if (out / "responses.jsonl").exists() else 0
        _, ended = os.waitpid(child(again, 0.0, log), 0)
        told.append(
            {
                "killed": os.WIFSIGNALED(status),
                "kept": kept,
                "ended": os.waitstatus_to_exitcode(ended),
                "same_requests": keys(out) == keys(whole),
                "same_bytes": results(out) == results(whole),
                "said": log.read_text()[-300:] if ended else "",
            }
        )
    print(json.dumps({"requests": len(keys(whole)), "distinct": len(set(keys(whole))), "trials": told}))


if __name__ == "__main__":
    main()
