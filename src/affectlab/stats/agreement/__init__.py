"""Agreement among annotators: coefficients, their intervals by unit, and what is undefined and why.

>>> from affectlab.stats.agreement import krippendorff_alpha, ratings
>>> data = ratings([("u1", "A", "joy"), ("u1", "B", "joy"), ("u2", "A", "fear"), ("u2", "B", "joy")])
>>> print(krippendorff_alpha(data))
alpha_nominal 0, n=4, clusters=2
"""

from affectlab.stats.agreement.alpha import LEVELS, Level, krippendorff_alpha
from affectlab.stats.agreement.chance import (
    against_rest,
    fleiss_by_category,
    fleiss_kappa,
    gwet_ac1,
    majority_agreement,
    percent_agreement,
)
from affectlab.stats.agreement.figure import REASONS
from affectlab.stats.agreement.icc import FORMS, Form, icc
from affectlab.stats.agreement.kappa import (
    Confusion,
    PairwiseKappa,
    cohen_kappa,
    confusion,
    pair_kappa,
    pairwise_kappa,
)
from affectlab.stats.agreement.ratings import Ratings, Value, ratings, ratings_of_matrix
from affectlab.stats.agreement.upstream import Conditional, given_upstream
from affectlab.stats.agreement.weights import Weights

__all__ = [
    "FORMS",
    "LEVELS",
    "REASONS",
    "Conditional",
    "Confusion",
    "Form",
    "Level",
    "PairwiseKappa",
    "Ratings",
    "Value",
    "Weights",
    "against_rest",
    "cohen_kappa",
    "confusion",
    "fleiss_by_category",
    "fleiss_kappa",
    "given_upstream",
    "gwet_ac1",
    "icc",
    "krippendorff_alpha",
    "majority_agreement",
    "pair_kappa",
    "pairwise_kappa",
    "percent_agreement",
    "ratings",
    "ratings_of_matrix",
]
