"""How long affectlab takes to start: its import and its help, beside other tools when they are installed.

    python bench/startup.py [--runs 15]

Each figure is the median (and the fastest) wall time of fresh processes, after one run that is not counted,
so that files are in the page cache and byte code is compiled. Targets on an idle core: 0.15 s for the import
(net of the interpreter's own start) and 0.4 s for the help.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

PEERS = (("inspect", "--help"), ("lm_eval", "--help"), ("lighteval", "--help"))


def seconds(command: Sequence[str], runs: int) -> list[float]:
    """Wall time of each of ``runs`` runs of a command, after one that is not counted."""
    times = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        times.append(time.perf_counter() - start)
    return times[1:]


def beside_python(name: str) -> str | None:
    """Path of a console script: next to this interpreter, else on the PATH."""
    here = Path(sys.executable).with_name(name)
    return str(here) if here.exists() else shutil.which(name)


def main() -> None:
    parser = argparse.ArgumentParser(description="Start-up times.")
    parser.add_argument("--runs", type=int, default=15, help="counted runs of each command")
    runs = parser.parse_args().runs

    bare = statistics.median(seconds([sys.executable, "-c", "pass"], runs))
    imported = seconds([sys.executable, "-c", "import affectlab"], runs)
    rows = [
        ("python -c pass", bare, "", ""),
        (
            "python -c 'import affectlab'",
            statistics.median(imported),
            f"{min(imported):.3f}",
            f"{statistics.median(imported) - bare:.3f} net, target 0.150",
        ),
    ]
    for name, *arguments in (("affectlab", "--help"), *PEERS):
        script = beside_python(name)
        if script is None:
            print(f"{name} is not installed: not measured")
            continue
        times = seconds([script, *arguments], runs)
        note = "target 0.400" if name == "affectlab" else ""
        rows.append((" ".join((name, *arguments)), statistics.median(times), f"{min(times):.3f}", note))

    print(f"{'command':32} {'median s':>9} {'min s':>7}")
    for command, median, fastest, note in rows:
        print(f"{command:32} {median:9.3f} {fastest:>7} {note}")


if __name__ == "__main__":
    main()
