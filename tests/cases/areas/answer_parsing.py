"""Cases of reading replies: answer parsing."""

from tests.cases.replies import check

__all__ = ["check"]
