"""Cases of reading replies: language."""

from tests.cases.replies import check

__all__ = ["check"]
