"""Tests of affectlab."""
