"""Cases of reading replies: refusal."""

from tests.cases.replies import check

__all__ = ["check"]
