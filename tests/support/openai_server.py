"""An OpenAI-compatible server for tests and benchmarks: real HTTP on loopback, answers as told.

A plan decides what each call gets, from the text of its last message and the number of this attempt at it.
``python tests/support/openai_server.py --delay 0.2`` serves ``echo`` in a process of its own and prints its port.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Reply:
    """What a call gets.

    Attributes:
        body: Sent as it is when bytes, as JSON otherwise.
        status: HTTP status.
        headers: Further headers.
        kind: Content type.
        delay: Seconds before the reply.
        cut: Close the connection in the middle of the body.
        trickle: Seconds between single bytes of the body; 0 sends it whole.
    """

    body: Any
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    kind: str = "application/json"
    delay: float = 0.0
    cut: bool = False
    trickle: float = 0.0


def completion(text: str | None, **message: Any) -> dict[str, Any]:
    """The body of an ordinary reply."""
    return {
        "id": "x",
        "object": "chat.completion",
        "model": "fake-1",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text} | message}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
    }


def error(message: str, **fields: Any) -> dict[str, Any]:
    """The body of an error."""
    return {"error": {"message": message} | fields}


def echo(text: str, attempt: int) -> Reply:
    """Answers what was said."""
    return Reply(completion(f"re: {text}"))


Plan = Callable[[str, int], Reply]


@dataclass
class OpenAIServer:
    """The server and what it saw.

    Attributes:
        plan: Decides replies.
        calls: Calls by text of the last message.
        bodies: Decoded bodies of all calls, in order.
        times: Arrival of each call, seconds of the loop's clock, by text.
        in_flight: Calls being answered now.
        most_in_flight: The most at one time.
        hung_up: Calls whose client went away before the reply.
    """

    plan: Plan = echo
    calls: Counter[str] = field(default_factory=Counter)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    times: dict[str, list[float]] = field(default_factory=dict)
    in_flight: int = 0
    most_in_flight: int = 0
    hung_up: int = 0
    port: int = 0
    keep: bool = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def start(self) -> asyncio.Server:
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0, backlog=1024)
        self.port = server.sockets[0].getsockname()[1]
        return server

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(
            int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")
        )
        body = json.loads(await reader.readexactly(length))
        text = body["messages"][-1]["content"]
        if isinstance(text, list):  # images come in parts, and the text after them
            text = "".join(part.get("text", "") for part in text)
        self.calls[text] += 1
        if self.keep:
            self.bodies.append(body)
            self.times.setdefault(text, []).append(asyncio.get_running_loop().time())
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            return await self._send(self.plan(text, self.calls[text]), reader, writer)
        finally:
            self.in_flight -= 1

    async def _send(self, reply: Reply, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        if reply.delay:
            await asyncio.sleep(reply.delay)
            if reader.at_eof():
                self.hung_up += 1
                return False
        data = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        lines = [f"HTTP/1.1 {reply.status} X", f"Content-Type: {reply.kind}", f"Content-Length: {len(data)}"]
        lines += [f"{name}: {value}" for name, value in reply.headers.items()]
        head = ("\r\n".join(lines) + "\r\n\r\n").encode()
        if reply.cut:
            writer.write(head + data[: len(data) // 2])
            await writer.drain()
            return False
        if reply.trickle:
            writer.write(head)
            for at in range(len(data)):
                writer.write(data[at : at + 1])
                await writer.drain()
                await asyncio.sleep(reply.trickle)
            return True
        writer.write(head + data)
        await writer.drain()
        return True


@contextmanager
def serving(plan: Plan = echo) -> Iterator[OpenAIServer]:
    """A server in a thread of its own, gone at the end."""
    fake = OpenAIServer(plan)
    ready, loop = threading.Event(), asyncio.new_event_loop()

    async def main() -> None:
        server = await fake.start()
        ready.set()
        async with server:
            await stop.wait()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()

    stop = asyncio.Event()
    thread = threading.Thread(target=loop.run_until_complete, args=(main(),), daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield fake
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
        loop.run_until_complete(asyncio.sleep(0.01))
        loop.close()


async def _serve(delay: float) -> None:
    fake = OpenAIServer(lambda text, attempt: Reply(completion("A: joy\nB: fear"), delay=delay), keep=False)
    server = await fake.start()
    print(fake.port, flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--delay", type=float, default=0.0)
    asyncio.run(_serve(parser.parse_args().delay))
