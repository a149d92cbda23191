"""The number of the rules by which this code chooses, which each request names."""

RULES = 5
"""Raised by whoever changes what a request is given: ``tests/stories`` shows what changes by it."""
