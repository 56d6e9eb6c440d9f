"""The benchmark that docs/adding-a-benchmark.md builds, as tests load it."""

from __future__ import annotations

import sys
from functools import lru_cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

PATH = Path(__file__).resolve().parents[2] / "docs" / "examples" / "mood.py"


@lru_cache(maxsize=1)
def example() -> Any:
    """The module."""
    spec = spec_from_file_location("mood", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["mood"] = module
    spec.loader.exec_module(module)
    return module
