"""Helpers of the tests: parts that several of them need."""
