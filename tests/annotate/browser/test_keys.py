"""Keys in a real browser: dialogs, spans, practice, going back; and where the page stands when it opens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select
from tests.annotate.browser.conftest import Site, shot
from tests.annotate.support import study

from affectlab.annotate.store import tables as t

pytestmark = [pytest.mark.browser, pytest.mark.slow]

Serve = Callable[..., Site]


def stored(site: Site) -> list[dict[str, Any]]:
    """Bodies of all answers, oldest first."""
    with site.run.store.read() as conn:
        return [dict(body) for body in conn.execute(select(t.response.c.body).order_by(t.response.c.at)).scalars()]


def test_enter_in_the_leave_out_dialog_leaves_the_item_out(serve: Serve) -> None:
    site = serve(study())
    page = site.window("ann")
    page.keyboard.press("1")
    page.keyboard.press("2")  # all that is asked is answered: #submit would submit it
    page.keyboard.press("Escape")
    page.keyboard.press("s")
    page.wait_for_selector("#skip-dialog[open]")
    page.keyboard.press("Enter")  # no reason yet
    page.wait_for_selector("#skip-reason:visible")
    assert page.is_visible("#skip-dialog[open]")
    assert stored(site) == []
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector(".progress:has-text('0 done, 1 left out')")
    assert [(one["skipped"], one["values"]) for one in stored(site)] == [("broken", {})]
    page.keyboard.press("s")
    page.click("#skip-dialog button:has-text('Leave it out')")
    page.wait_for_selector("#skip-reason:visible")
    shot(page, "skip-without-reason", full=False)
    assert len(stored(site)) == 1
