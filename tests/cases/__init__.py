"""Inputs with right outcomes, run against the code by ``python -m tests.cases FILE``."""
