"""Redis and what is kept in it: keys, scripts, the committer, the embedded server.

Knows how a game is stored, not what it means: the entries of a log are bytes here.
"""
