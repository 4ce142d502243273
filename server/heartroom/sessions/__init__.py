"""Live sessions: one game each, its players and viewers, on this node.

Knows the games only through `games.game`, the store only through `store`, and sockets not at all.
"""
