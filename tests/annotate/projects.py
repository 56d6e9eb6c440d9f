"""Projects in folders, and people who answer in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from affectlab.annotate.project import Project, find_project, init_project
from affectlab.annotate.store.replies import current
from tests.annotate.support import Running, study, texts

GLAD: dict[str, Any] = {"mood": "glad", "strength": 3}


def made(folder: Path, database: str = "", items: int = 3) -> Project:
    design = study()
    init_project(folder, design, texts(design, items), database=database)
    return find_project(folder)


def answer(project: Project, name: str) -> str:
    """One person answers one item; returns its id."""
    with project.opened() as store:
        run = Running(store, study())
        run.join(name)
        item = run.claim(name)
        assert item is not None
        run.submit(name, item, GLAD, key=f"key-{name}")
    return item


def answers(project: Project) -> set[str]:
    with project.opened() as store, store.read() as conn:
        return {one.person for one in current(conn)}
