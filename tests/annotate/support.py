"""A small study, and people who work on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from affectlab.annotate.design import Design
from affectlab.annotate.design_file import parse_design
from affectlab.annotate.store import claims, people, project, replies
from affectlab.annotate.store.engine import Store
from affectlab.annotate.store.people import Newcomer, Person
from affectlab.annotate.store.replies import Measured, Submit
from affectlab.annotate.units import Unit, make_unit
from affectlab.annotate.values import Reply
from affectlab.annotate.web.app import make_app
from affectlab.annotate.web.visit import COOKIE


def small_design(name: str, slots: str) -> str:
    """The TOML of a design that is nothing but its slots."""
    return f'''
name = "{name}"
title = "{name.capitalize()}"
skip_reasons = [{{ id = "unclear", names = "unclear" }}]
shown = [{{ field = "text", main = true }}]

[guidelines]
version = "1"
text = "Read."
{slots}'''


STUDY = """
name = "study"
title = { en = "A study", zh = "一项研究" }
skip_reasons = [{ id = "unclear", names = "unclear" }, { id = "broken", names = "broken" }]

[guidelines]
version = "7"
text = "Read first."

[[shown]]
field = "text"
main = true

[[slots]]
id = "mood"
kind = "choice"
title = "Which mood?"
options = [{ id = "glad", names = "Glad" }, { id = "sad", names = "Sad" }, { id = "calm", names = "Calm" }]

[[slots]]
id = "strength"
kind = "scale"
title = "How strong?"
low = 1
high = 5

[[slots]]
id = "why"
kind = "text"
title = "Why?"
required = false
resolve = "keep"
longest = 2000
"""


@dataclass
class Clock:
    """A clock that stands until it is moved."""

    time: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.time


def study(text: str = STUDY, **changes: Any) -> Design:
    """The small study, with other values for some of its fields."""
    design = parse_design(text, "study.toml", Path())
    return Design.model_validate(design.model_dump(mode="json") | changes)


def texts(design: Design, number: int) -> list[Unit]:
    return [make_unit(design, f"i{n}", {"text": f"Text number {n} of all."}) for n in range(number)]


@dataclass
class Running:
    """A project with people in it."""

    store: Store
    design: Design
    persons: dict[str, Person] = field(default_factory=dict)
    keys: int = 0

    def join(self, name: str, role: str = "annotator") -> Person:
        with self.store.write() as conn:
            found = people.add_person(conn, Newcomer(name, ""), role, self.store.now())
            self.persons[name] = next(one for one in people.people(conn) if one.id == found)
        return self.persons[name]

    def claim(self, name: str) -> str | None:
        claims.free_lapsed(self.store)
        with self.store.write() as conn:
            return claims.claim(conn, self.design, self.persons[name], self.store.now())

    def submit(self, name: str, item: str, values: dict[str, Any], *, key: str = "", skipped: str = "") -> int:
        self.keys += 1
        reply = Reply({} if skipped else values, skipped=skipped)
        submit = Submit(key or f"key-{self.keys}", Measured(2000, 3000))
        with self.store.write() as conn:
            who = item, self.persons[name].id
            return replies.submit(conn, self.design, who, reply, submit, self.store.now())

    def answer_all(self, name: str, values: dict[str, Any]) -> list[str]:
        """Claim and answer until there is nothing left; the items in order."""
        done = []
        while (item := self.claim(name)) is not None:
            self.submit(name, item, values)
            done.append(item)
        return done

    def client(self, name: str) -> TestClient:
        """A browser of somebody who is signed in; without a name, of nobody."""
        client = TestClient(make_app(self.store), base_url="http://localhost", follow_redirects=False)
        if name:
            with self.store.write() as conn:
                client.cookies.set(COOKIE, people.open_session(conn, self.persons[name].id, self.store.now()))
        return client

    def token(self, name: str) -> str:
        """What forms of this person send back."""
        with self.store.read() as conn:
            return people.signature(project.secret_of(conn), "form", self.persons[name].id)

    def form(self, name: str, **fields: Any) -> dict[str, Any]:
        """Fields of a form of the item page as it is opened now."""
        self.keys += 1
        named = {key.replace("__", "."): value for key, value in fields.items()}
        with self.store.read() as conn:
            opened = str(project.newest_version(conn))
        return {"csrf": self.token(name), "submit_key": f"window-{self.keys:016}", "design": opened, **named}


def running(store: Store, design: Design, items: int = 4, seed: int = 0) -> Running:
    """A project of the design with some texts."""
    with store.write() as conn:
        project.start_project(conn, design, seed, store.now())
        project.add_units(conn, design, texts(design, items), seed)
    return Running(store, design)
