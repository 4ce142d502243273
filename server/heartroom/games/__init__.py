"""The rules of each game, pure: see `game.py`."""
