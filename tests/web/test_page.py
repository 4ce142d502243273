"""The page that the client lives in."""

from __future__ import annotations

from heartroom.games.game import games
from heartroom.web import app


def test_says_what_games_there_are() -> None:
    page = app.with_games(b'<meta name="games" content="" />')
    assert page == b'<meta name="games" content="%s" />' % " ".join(games()).encode()
