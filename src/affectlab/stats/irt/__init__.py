"""Bayesian item response models: how hard each item is, how well it tells respondents apart, where each respondent is.

Binary items: the two-parameter logistic model. Ordered items: Samejima's graded response model. Both are fitted by NUTS
(``fit``) for figures and by a variational approximation (``screen``) for screening and resampling only, whose intervals
are too narrow to report. Needs the extra ``affectlab[irt]``.

Reference: Birnbaum (1968), in Lord and Novick, Statistical Theories of Mental Test Scores; Samejima (1969),
Psychometrika monograph 17; the decisions paper (arXiv 2604.06562), appendix "Data and Unit of Benchmark Analysis".
"""

from __future__ import annotations

from affectlab.stats.irt.checks import ItemCheck, check_items
from affectlab.stats.irt.fitting import Fit, Gate, Sampler, fit, screen
from affectlab.stats.irt.responses import Responses
from affectlab.stats.irt.select import Selected, select_items
from affectlab.stats.irt.stability import SeedStability, respondent_stability, seed_stability

__all__ = [
    "Fit",
    "Gate",
    "ItemCheck",
    "Responses",
    "Sampler",
    "SeedStability",
    "Selected",
    "check_items",
    "fit",
    "respondent_stability",
    "screen",
    "seed_stability",
    "select_items",
]
