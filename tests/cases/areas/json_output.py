"""Cases of reading replies: json output."""

from tests.cases.replies import check

__all__ = ["check"]
