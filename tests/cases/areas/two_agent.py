"""Cases of reading replies: two agent."""

from tests.cases.replies import check

__all__ = ["check"]
