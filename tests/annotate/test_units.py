"""Items as annotators get them: ids that can stand in an address."""

from __future__ import annotations

import pytest

from affectlab.annotate.units import make_unit
from affectlab.errors import UserError
from tests.annotate.support import study


@pytest.mark.parametrize("item", ["..", ".", "", " ", ". .", "a\nb", "a\x00b", "a\x9fb", "a\ud800", "x" * 191])
def test_ids_that_no_address_can_hold_are_refused(item: str) -> None:
    with pytest.raises(UserError, match="item id"):
        make_unit(study(), item, {"text": "Text."})


@pytest.mark.parametrize("item", ["a/../b", "..x", "%2e%2e", "a b", "=1+1", "悲伤", "x" * 190])
def test_all_others_are_taken(item: str) -> None:
    assert make_unit(study(), item, {"text": "Text."}).id == item
