"""The deal of the day: made ahead, sealed until a player starts it, one ranked attempt each.

Knows sessions and games; boards and pages are others' business.
"""
