"""Cases of reading replies: multi label."""

from tests.cases.replies import check

__all__ = ["check"]
