from __future__ import annotations

import pytest

from affectlab.errors import UserError
from affectlab.labels import Label, LabelSpace, Mapping

MAPPING = Mapping("m", "one", "two", {"a": "x", "b": "x"}, ("c",), {"a": "<why>"})


def space(name: str, *ids: str) -> LabelSpace:
    return LabelSpace(name, name, "1", "made up", tuple(Label(i, {"en": i}) for i in ids))


def test_apply() -> None:
    assert MAPPING.apply("a") == "x"
    assert MAPPING.apply("c") is None
    with pytest.raises(UserError, match="'m' knows no label 'd' of 'one'"):
        MAPPING.apply("d")


def test_apply_set_is_sorted_without_repeats_and_without_dropped_ones() -> None:
    assert MAPPING.apply_set(["c", "b", "a"]) == ("x",)
    assert MAPPING.apply_set(["c"]) == ()


def test_check() -> None:
    MAPPING.check(space("one", "a", "b", "c"), space("two", "x"))
    with pytest.raises(UserError) as caught:
        Mapping("m", "one", "two", {"a": "y", "c": "x"}, ("c", "e"), {"f": "?"}).check(
            space("one", "a", "b", "c"), space("two", "x")
        )
    for problem in (
        "'c' is both mapped and dropped",
        "'e' is not a label of 'one'",
        "'b' of 'one' is not covered",
        "'y' is not a label of 'two'",
        "a reason is given for 'f'",
    ):
        assert problem in str(caught.value)


def test_prints_well() -> None:
    assert repr(MAPPING) == "Mapping('m': 2 mapped, 1 dropped)"
    assert "&lt;why&gt;" in MAPPING._repr_html_()
    assert "(dropped)" in MAPPING._repr_html_()
