"""Serving: the address people get."""

from __future__ import annotations

import pytest

from affectlab.annotate.serve import address_of
from affectlab.errors import UserError


@pytest.mark.parametrize(
    ("host", "public", "address"),
    [
        ("127.0.0.1", "", "http://127.0.0.1:8765"),
        ("::1", "", "http://[::1]:8765"),
        ("label.local", "", "http://label.local:8765"),
        ("0.0.0.0", "https://label.example.org/", "https://label.example.org"),
    ],
)
def test_links_hold_the_address_that_people_use(host: str, public: str, address: str) -> None:
    assert address_of(host, 8765, public) == address


@pytest.mark.parametrize("host", ["0.0.0.0", "::", ""])
def test_where_it_listens_everywhere_one_must_say_where_it_is(host: str) -> None:
    with pytest.raises(UserError, match="--public http://ADDRESS:8765"):
        address_of(host, 8765)
