"""Cases of reading replies: thinking."""

from tests.cases.replies import check

__all__ = ["check"]
