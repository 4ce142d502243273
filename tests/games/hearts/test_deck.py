from collections import Counter

from heartroom.cards import DECK, text
from heartroom.games.hearts import deck
from heartroom.games.hearts.deck import SEATS
from heartroom.games.hearts.knowledge import FULL_DECK

from .table import cards, hand


def written(mask: deck.Mask) -> str:
    return " ".join(map(text, deck.cards(mask)))


def test_a_hand_is_held_clubs_diamonds_spades_hearts_from_low_to_high() -> None:
    assert written(hand("A♥ 2♥ K♠ A♠ 10♦ A♦ A♣ 2♣ K♣")) == "2♣ K♣ A♣ 10♦ A♦ K♠ A♠ 2♥ A♥"
    assert written(0) == ""
    assert sorted(deck.cards(FULL_DECK)) == list(DECK)


def test_top_is_the_height_of_the_highest_card_of_a_suit() -> None:
    for suit, expected in enumerate((13, 1, 0, 11)):
        assert deck.top(hand("A♣ K♣ 2♦ Q♠ J♠"), suit) == expected


def test_26_points_are_dealt() -> None:
    assert deck.ALL_POINTS == 26
    assert [text(card) for card in DECK if deck.PENALTY[card] > 1] == ["Q♠"]


def test_the_deal_is_frozen() -> None:
    """These hands are those of stored games: they must never change."""
    seed = bytes(range(32))
    assert [written(mask) for mask in deck.deal(seed, 1)] == [
        "3♣ 9♣ 10♣ 3♦ 6♦ 9♦ 2♠ 3♠ J♠ Q♠ 2♥ 5♥ K♥",
        "5♣ 6♣ K♣ 2♦ 5♦ 7♦ 4♠ 5♠ 8♠ 9♠ 6♥ 8♥ 9♥",
        "2♣ 4♣ 7♣ 8♣ Q♣ 10♦ J♦ Q♦ K♦ A♦ 6♠ 7♥ Q♥",
        "J♣ A♣ 4♦ 8♦ 7♠ 10♠ K♠ A♠ 3♥ 4♥ 10♥ J♥ A♥",
    ]
    assert written(deck.deal(seed, 2)[0]) == "5♣ 6♣ 4♦ 5♦ 7♦ J♦ K♦ 2♠ 10♠ J♠ K♠ 6♥ K♥"


def test_every_hand_of_every_game_is_another_whole_deck() -> None:
    deals = {deck.deal(bytes(31) + bytes((seed,)), number) for seed in range(10) for number in range(1, 11)}
    assert len(deals) == 100
    for hands in deals:
        assert sum(hands) == FULL_DECK
        assert [mask.bit_count() for mask in hands] == [13] * 4


def test_the_deal_favours_no_seat_and_no_card() -> None:
    """4,000 deals: each card in each seat 1,000 times, give or take 27 (one standard deviation)."""
    times = Counter(
        (seat, card)
        for game in range(4000)
        for seat, mask in enumerate(deck.deal(game.to_bytes(32, "big"), 1))
        for card in deck.cards(mask)
    )
    assert all(870 < times[seat, card] < 1130 for seat in SEATS for card in DECK)
    chi2 = sum((times[seat, card] - 1000) ** 2 / 1000 for seat in SEATS for card in DECK)
    assert chi2 < 250  # 153 degrees of freedom, of 208 terms: about 208 × 3/4 ± 18


def test_cards_are_written_and_read() -> None:
    assert cards("2♣ QS") == (deck.TWO_OF_CLUBS, deck.QUEEN_OF_SPADES)
