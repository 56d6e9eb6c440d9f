from __future__ import annotations

from math import nan

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from affectlab.stats.multiple import Correction, adjust

# The fifteen p-values of Benjamini and Hochberg (1995), section 4.
BH_1995 = [
    *(0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459),
    *(0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.000),
]


def test_the_paper_rejects_four() -> None:
    # p_(i) * 15 / i, made monotone from above; R, statsmodels and scipy agree
    found = adjust(BH_1995)
    expected = [0.0015, 0.003, 0.0095, 0.035625, 0.0603, 0.0638571, 0.0638571, 0.0645, 0.0765]
    expected += [0.486, 0.581182, 0.714875, 0.753231, 0.813214, 1]
    assert found.values == pytest.approx(expected, rel=2e-6)
    assert sum(q is not None and q <= 0.05 for q in found.values) == 4
    assert (found.tested, found.untested, found.correction) == (15, 0, "bh")


def test_other_corrections_of_the_same_family() -> None:
    by = adjust(BH_1995, "by").values
    assert by[:5] == pytest.approx([0.00497734, 0.00995469, 0.0315232, 0.118212, 0.200089], rel=5e-6)
    # Holm: p_(i) * (15 - i + 1), made monotone from below
    holm = adjust(BH_1995, "holm").values
    assert holm[:9] == pytest.approx([0.0015, 0.0056, 0.0247, 0.1140, 0.2211, 0.2780, 0.2780, 0.2780, 0.3213])
    assert holm[9:] == (1.0,) * 6


def test_order_is_kept() -> None:
    assert adjust([0.01, 0.04, 0.03, 0.005, 0.5]).values == pytest.approx([0.025, 0.05, 0.05, 0.025, 0.5])
    # ranks 1, 3, 2: .01 * 4, then min(.03 * 4 / 2, .04 * 4 / 3) = .0533
    assert adjust([0.01, 0.04, 0.03, 0.2]).values == pytest.approx([0.04, 0.0533333, 0.0533333, 0.2], rel=1e-6)


@pytest.mark.parametrize("missing", [None, nan])
def test_missing_tests_stay_missing_and_do_not_enlarge_the_family(missing: float | None) -> None:
    found = adjust([0.01, missing, 0.03, 0.04])
    assert found.values[1] is None
    assert [q for q in found.values if q is not None] == pytest.approx([0.03, 0.04, 0.04])  # R
    assert (found.tested, found.untested) == (3, 1)


@pytest.mark.parametrize("correction", ["bh", "by", "holm"])
def test_empty_family(correction: Correction) -> None:
    assert adjust([], correction).values == ()
    assert adjust([None], correction).values == (None,)


@pytest.mark.parametrize("p", [-0.01, 1.01])
def test_what_is_no_p_value_is_refused(p: float) -> None:
    with pytest.raises(ValueError, match="p-values"):
        adjust([0.5, p])


@pytest.mark.parametrize(("correction", "theirs"), [("bh", "fdr_bh"), ("by", "fdr_by"), ("holm", "holm")])
def test_agrees_with_statsmodels(correction: Correction, theirs: str) -> None:
    rng = np.random.default_rng(5)
    for size in (1, 2, 17):
        p = rng.beta(0.5, 2, size).round(2)  # rounding makes ties
        assert adjust(p.tolist(), correction).values == pytest.approx(multipletests(p, method=theirs)[1])
