"""Finite data, and what was noted of a stream."""
