"""Fifty people labelling at once: how long a page and a submit take at the 99th percentile. Loopback, SQLite.

    python bench/annotate.py [--clients 50] [--seconds 120] [--pause 5.0]

Each client opens its item, thinks for a moment (--pause, on average), and submits. The aim is a p99 below 500 ms on two
cores.
"""

from __future__ import annotations

import argparse
import http.client
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import uuid
from pathlib import Path

from affectlab.annotate.design_file import read_design
from affectlab.annotate.project import init_project
from affectlab.annotate.store import people, project
from affectlab.annotate.store.people import Newcomer
from affectlab.annotate.units import make_unit


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--pause", type=float, default=5.0)
    chosen = parser.parse_args()
    design = read_design("emoscene").model_copy(update={"consent": {}, "instructions": {}, "attention": ()})
    units = [
        make_unit(design, f"i{n}", {"text": f"Number {n}. " + "She waited at the gate and said nothing. " * 8})
        for n in range(4_000)
    ]
    with tempfile.TemporaryDirectory() as folder:
        found, _ = init_project(Path(folder) / "p", design, units)
        with found.opened() as store, store.write() as conn:
            secret = project.secret_of(conn)
            signed = []
            for number in range(chosen.clients):
                person = people.add_person(conn, Newcomer(f"person {number}", ""), "annotator", store.now())
                signed.append(
                    (people.open_session(conn, person, store.now()), people.signature(secret, "form", person))
                )
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        command = ["annotate", "serve", str(found.folder), "--port", str(port), "--backup-minutes", "0"]
        program = "from affectlab.cli.main import main; main()"
        server = subprocess.Popen([sys.executable, "-c", program, *command], stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            server.stdout.readline()
            measure(port, signed, chosen.seconds, chosen.pause, design.version)
        finally:
            os.kill(server.pid, signal.SIGTERM)
            server.wait()


def measure(port: int, signed: list[tuple[str, str]], seconds: float, pause: float, version: int) -> None:
    times: dict[str, list[float]] = {"page": [], "submit": []}
    wrong: list[int] = []
    end = time.monotonic() + seconds

    def call(kind: str, method: str, path: str, cookie: str, body: str = "") -> tuple[int, str]:
        start = time.perf_counter()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        headers = {"Cookie": f"affectlab_session={cookie}", "Content-Type": "application/x-www-form-urlencoded"}
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        if kind:
            times[kind].append(time.perf_counter() - start)
        if answer.status not in {200, 303}:
            wrong.append(answer.status)
        return answer.status, answer.headers.get("location", "")

    def work(cookie: str, csrf: str, draw: random.Random) -> None:
        time.sleep(draw.uniform(0, pause))  # people do not begin in the same instant
        while time.monotonic() < end:
            _, path = call("", "GET", "/work", cookie)
            if not path:
                return
            call("page", "GET", path, cookie)
            time.sleep(draw.expovariate(1 / pause) if pause else 0)
            fields = {"csrf": csrf, "submit_key": uuid.uuid4().hex, "design": str(version)}
            fields |= {"s.emotions": "joy", "i.emotions.joy": "2"}
            call("submit", "POST", path, cookie, urllib.parse.urlencode(fields))

    threads = [threading.Thread(target=work, args=(*one, random.Random(n))) for n, one in enumerate(signed)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    cores = f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    print(f"{len(signed)} clients, {seconds:.0f} s, pause {pause} s, {cores}")
    quantiles = {"median": 49, "p95": 94, "p99": 98}
    for kind, taken in times.items():
        cuts = statistics.quantiles(taken, n=100)
        shown = ", ".join(f"{name} {1e3 * cuts[at]:.0f} ms" for name, at in quantiles.items())
        print(f"{kind:>6}: n {len(taken)}, {shown}")
    print(f"answers that were no page: {len(wrong)}")


if __name__ == "__main__":
    main()
