"""One module per area of cases, each with ``check(case) -> str | None``."""
