"""Intervals, paired tests, corrections for many tests, and power: pure functions on plain data."""
