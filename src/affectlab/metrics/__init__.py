"""Scores of predictions against gold, always over the declared label space."""
