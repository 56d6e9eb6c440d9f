"""A person who works through a project over HTTP, sending everything twice; a script on the standard library alone.

Usage: submitting.py PORT COOKIE CSRF OUT. Writes a line for each answer the server confirmed, then ``end``.
"""

from __future__ import annotations

import http.client
import re
import sys
import time
import urllib.parse
import uuid
from pathlib import Path


def call(port: int, method: str, path: str, cookie: str, body: str = "") -> tuple[int, str, str]:
    """Status, place to go on to, and text; asked again until a server answers."""
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        headers = {"Cookie": f"affectlab_session={cookie}", "Content-Type": "application/x-www-form-urlencoded"}
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            text = answer.read().decode()
        except (OSError, http.client.HTTPException):
            time.sleep(0.1)
            continue
        finally:
            connection.close()
        if answer.status == 503:  # the server says that nothing was saved
            time.sleep(0.1)
            continue
        return answer.status, answer.headers.get("location", ""), text


def main() -> None:
    port, cookie, csrf, out = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
    with Path(out).open("w", encoding="utf-8") as told:
        while True:
            status, path, text = call(port, "GET", "/work", cookie)
            if status == 200 and re.search("nothing left", text):
                told.write("end\n")
                return
            if status != 303:
                told.write(f"error GET /work {status}\n")
                return
            key = uuid.uuid4().hex
            fields = {"csrf": csrf, "submit_key": key, "design": "1", "s.mood": "glad", "s.strength": "3"}
            body = urllib.parse.urlencode(fields)
            for _ in range(2):
                status, _, _ = call(port, "POST", path, cookie, body)
                told.write(f"{'done' if status == 303 else f'error {status}'} {path}\n")
            told.flush()


main()
