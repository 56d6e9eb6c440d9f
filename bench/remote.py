"""Requests a second against a local server that answers after a fixed delay. Run by hand: python bench/remote.py

The bound is concurrency / delay; at least 90 % of it is wanted. The server runs in a process of its own and shares the
machine, so the figure is a lower one.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from affectlab.models import Message, ModelSettings, Request, Response
from affectlab.models.remote import RemoteModel

SERVER = Path(__file__).resolve().parents[1] / "tests" / "support" / "openai_server.py"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--requests", type=int, default=3200)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--delay", type=float, default=0.2)
    args = parser.parse_args()
    server = subprocess.Popen(
        [sys.executable, str(SERVER), "--delay", str(args.delay)], stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )
    try:
        assert server.stdout is not None
        url = f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
        model = RemoteModel("fake-1", ModelSettings(base_url=url, concurrency=args.concurrency))
        scene = "Ada and Ben are told the same news, and take it in opposite ways. " * 12
        requests = [Request(f"s{n}", "joint", (Message("user", f"{n}: {scene}"),)) for n in range(args.requests)]
        list(model.respond(requests[: args.concurrency]))
        started, used = time.perf_counter(), time.process_time()
        answers = list(model.respond(requests))
        seconds, cpu = time.perf_counter() - started, time.process_time() - used
        model.close()
    finally:
        server.terminate()
        server.wait()
    answered = sum(isinstance(answer, Response) for _, answer in answers)
    rate, bound = answered / seconds, args.concurrency / args.delay
    print(
        f"{answered} of {args.requests} answered, {rate:.0f} requests/s, {rate / bound:.0%} of the bound {bound:.0f}/s"
    )
    print(f"{1000 * cpu / args.requests:.2f} ms CPU a request; load average {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
