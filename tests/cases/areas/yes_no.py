"""Cases of reading replies: yes no."""

from tests.cases.replies import check

__all__ = ["check"]
