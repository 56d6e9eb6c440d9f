"""One headless Chromium for the tests of a file, and the pages served from a thread."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from tests.annotate.support import Running, running

from affectlab.annotate.design import Design
from affectlab.annotate.store import people
from affectlab.annotate.store.engine import Store, create_tables, open_store
from affectlab.annotate.web.app import make_app
from affectlab.annotate.web.visit import COOKIE

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARTEFACTS = Path(os.environ.get("AFFECTLAB_ARTEFACTS", Path(__file__).resolve().parents[3] / "artefacts"))


@pytest.fixture(scope="module")  # as long as it is open, an event loop counts as running in this process
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("needs headless Chromium, which is not installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()


@dataclass
class Site:
    """A served project and windows onto it."""

    run: Running
    browser: Any
    server: uvicorn.Server | None = None
    thread: threading.Thread | None = None
    port: int = 0
    contexts: list[Any] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)

    def start(self) -> None:
        config = uvicorn.Config(
            make_app(self.run.store),
            port=self.port,
            log_level="critical",
            lifespan="off",
            timeout_graceful_shutdown=5,  # what is being answered is answered: cut off, it would leave files open
        )
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, daemon=True)
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)
        self.port = self.server.servers[0].sockets[0].getsockname()[1]

    def stop(self) -> None:
        assert self.server is not None
        assert self.thread is not None
        self.server.should_exit = True
        self.thread.join(timeout=20)

    def cookie(self, name: str) -> dict[str, str]:
        with self.run.store.write() as conn:
            token = people.open_session(conn, self.run.persons[name].id, self.run.store.now())
        return {"name": COOKIE, "value": token, "url": f"http://127.0.0.1:{self.port}"}

    def window(self, name: str, path: str = "/work", *, width: int = 1200, height: int = 850, **options: Any) -> Any:
        """A page for somebody who is signed in; what the browser complains about is noted."""
        context = self.browser.new_context(viewport={"width": width, "height": height}, **options)
        context.set_default_timeout(60_000)  # a busy machine is no failure
        self.contexts.append(context)
        if name:
            context.add_cookies([self.cookie(name)])
        page = context.new_page()
        page.on("pageerror", lambda error: self.troubles.append(str(error)))
        page.on("console", lambda line: self._note(line.text) if line.type == "error" else None)
        page.goto(f"http://127.0.0.1:{self.port}{path}")
        return page

    def _note(self, text: str) -> None:
        # Refused and failed requests are what many tests are about; they show in the page.
        if not text.startswith(("Failed to load resource", "Response Status Error Code", "htmx:")):
            self.troubles.append(text)


@pytest.fixture
def serve(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Site]]:
    """Serves a design with some texts; at the end the browser must have had nothing to complain about."""
    sites: list[tuple[Site, Store]] = []

    def serving(design: Design, items: int = 3, people: tuple[str, ...] = ("ann",)) -> Site:
        store = open_store(f"sqlite:///{tmp_path / f'{len(sites)}.sqlite'}")
        create_tables(store)
        run = running(store, design, items=items)
        for name in people:
            run.join(name, {"judge": "adjudicator", "boss": "admin"}.get(name, "annotator"))
        site = Site(run, browser)
        sites.append((site, store))
        site.start()
        return site

    yield serving
    for site, store in sites:
        for context in site.contexts:
            context.close()
        site.stop()
        store.close()
    assert [trouble for site, _ in sites for trouble in site.troubles] == []


def until(holds: Callable[[], bool], seconds: float = 60) -> None:
    """Waits for something to come true."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come true in time"
        time.sleep(0.02)


def shot(page: Any, name: str, *, full: bool = True) -> None:
    """A screenshot, for people to look at."""
    ARTEFACTS.mkdir(exist_ok=True)
    # Hiding the caret would need a style that the pages' policy forbids.
    page.screenshot(path=str(ARTEFACTS / f"{name}.png"), full_page=full, caret="initial")
