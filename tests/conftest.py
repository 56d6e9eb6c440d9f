"""What all tests share."""

from __future__ import annotations

from hypothesis import settings

# A busy machine is no failure: hypothesis may not fail a test for taking longer than usual.
settings.register_profile("affectlab", deadline=None)
settings.load_profile("affectlab")
