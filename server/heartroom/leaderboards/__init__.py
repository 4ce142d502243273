"""Boards: who has won the deal of a day how fast and in how few moves, and who does best in the long run.

Every entry is proved from the log of its session. Knows the daily deal and the store, and no pages.
"""
