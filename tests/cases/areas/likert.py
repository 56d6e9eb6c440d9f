"""Cases of reading replies: likert."""

from tests.cases.replies import check

__all__ = ["check"]
