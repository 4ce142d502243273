from __future__ import annotations

import pytest

from heartroom import cards


def test_cards_are_numbered_suit_by_suit() -> None:
    numbers = [cards.card(rank, suit) for suit in cards.SUITS for rank in cards.RANKS]
    assert numbers == list(cards.DECK) == list(range(52))
    assert [cards.rank(card) for card in cards.DECK] == list(cards.RANKS) * 4
    assert [cards.suit(card) for card in cards.DECK] == [suit for suit in range(4) for _ in range(13)]


def test_cards_read_as_people_write_them() -> None:
    assert cards.text(cards.card(10, cards.HEARTS)) == "10♥"
    assert cards.text(cards.card(cards.QUEEN, cards.SPADES)) == "Q♠"
    assert cards.text(cards.card(2, cards.CLUBS)) == "2♣"
    assert cards.text(cards.card(cards.JACK, cards.DIAMONDS)) == "J♦"
    assert "".join(cards.rank_text(rank) for rank in cards.RANKS) == "A2345678910JQK"


def test_texts_round_trip() -> None:
    for card in cards.DECK:
        assert cards.parse(cards.text(card)) == card
    assert cards.parse(" th ") == cards.parse("10h") == cards.parse("10♥")
    assert cards.parse("qS") == cards.card(cards.QUEEN, cards.SPADES)


@pytest.mark.parametrize("text", ["", "♥", "10", "1♥", "11♥", "Q", "QX", "♥Q", "QSS", "0♥"])
def test_other_texts_are_no_card(text: str) -> None:
    with pytest.raises(ValueError, match="card"):
        cards.parse(text)


def test_there_are_no_other_cards() -> None:
    for rank, suit in ((0, 0), (14, 0), (1, -1), (1, 4)):
        with pytest.raises(ValueError, match="no card"):
            cards.card(rank, suit)
    for card in (-1, 52):
        with pytest.raises(ValueError, match="no card"):
            cards.text(card)
    with pytest.raises(ValueError, match="no rank"):
        cards.rank_text(0)
