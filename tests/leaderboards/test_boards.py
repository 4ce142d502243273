"""The boards in the store: ranks, names, pages, against a plain list."""

from __future__ import annotations

import secrets
from typing import Any, NamedTuple

import pytest

from heartroom.store import keys
from heartroom.store.boards import Boards, Page, row_text
from heartroom.store.store import Store
from tests.support.games import pid

BY = ("time", "moves")


class Entry(NamedTuple):
    """What a plain list knows of a player's entry."""

    pid: str
    name: str
    time: int
    moves: int

    def score(self, by: str) -> int:
        return self.time if by == "time" else self.moves


def in_order(entries: list[Entry], by: str) -> list[tuple[int, str, str]]:
    """(rank, player, name) of all entries, as they are to be listed."""
    ordered = sorted(entries, key=lambda entry: (entry.score(by), row_text(entry.pid, entry.name).encode()))
    return [
        (1 + sum(other.score(by) < entry.score(by) for other in entries), entry.pid, entry.name)
        for entry in ordered
    ]


def shown(page: Page) -> list[tuple[int, str, str]]:
    return [(row.rank, row.pid, row.name) for row in page.best]


@pytest.fixture
def boards(store: Store) -> Boards:
    return Boards(store, secrets.token_hex(8), BY)


async def enter(boards: Boards, *entries: Entry) -> None:
    for entry in entries:
        assert await boards.enter(entry.pid, entry.name, 1, b"facts of " + entry.pid.encode(), entry[2:])


async def test_an_empty_board(boards: Boards) -> None:
    page = await boards.page("time", pid())
    assert page == Page(0, [], [])
    assert page.row_of(pid()) is None
    assert await boards.total() == 0


async def test_equals_share_a_rank_and_are_listed_by_name(boards: Boards) -> None:
    entries = [
        Entry(pid(), "Bo", 50, 1),
        Entry(pid(), "Ida", 60, 1),
        Entry(pid(), "åse", 60, 1),
        Entry(pid(), "Ada", 60, 2),
        Entry(pid(), "ada", 60, 2),
        Entry(pid(), "Zoe", 70, 0),
    ]
    await enter(boards, *reversed(entries))
    page = await boards.page("time", "")
    assert [(row.rank, row.name) for row in page.best] == [
        (1, "Bo"),
        (2, "Ada"),
        (2, "ada"),
        (2, "Ida"),
        (2, "åse"),
        (6, "Zoe"),
    ]
    assert [row.rank for row in (await boards.page("moves", "")).best] == [1, 2, 2, 2, 5, 5]
    assert page.best[0].facts == b"facts of " + entries[0].pid.encode()


async def test_players_of_one_name_have_rows_of_their_own(boards: Boards) -> None:
    one, other = Entry(pid(), "Ada", 1, 1), Entry(pid(), "Ada", 1, 1)
    await enter(boards, one, other)
    page = await boards.page("time", one.pid)
    assert {row.pid for row in page.best} == {one.pid, other.pid}
    assert await boards.rename(other.pid, "Eve")
    page = await boards.page("time", one.pid)
    assert {(row.pid, row.name) for row in page.best} == {(one.pid, "Ada"), (other.pid, "Eve")}


@pytest.mark.parametrize("place", [0, 3, 5, 49, 149, 195, 199])
async def test_what_is_around_a_player(boards: Boards, place: int) -> None:
    entries = [Entry(pid(), f"p{number % 7}", number // 3, 0) for number in range(200)]
    await enter(boards, *entries)
    whole = in_order(entries, "time")
    me = whole[place][1]
    page = await boards.page("time", me)
    assert page.total == 200
    assert shown(page) == whole[:100]
    assert [(row.rank, row.pid, row.name) for row in page.around] == whole[max(0, place - 5) : place + 6]
    row = page.row_of(me)
    assert row is not None
    assert row.rank == whole[place][0]


async def test_no_rows_are_sent_that_nobody_asked_for(boards: Boards) -> None:
    entries = [Entry(pid(), "", number, 0) for number in range(10)]
    await enter(boards, *entries)
    page = await boards.page("time", entries[4].pid, best=0, around=0)
    assert page.best == []
    assert [(row.rank, row.pid) for row in page.around] == [(5, entries[4].pid)]


async def test_the_first_entry_stays(boards: Boards) -> None:
    first = Entry(pid(), "Ada", 90, 90)
    await enter(boards, first)
    assert not await boards.enter(first.pid, "Eve", 1, b"better", (1, 1))
    page = await boards.page("time", first.pid)
    assert shown(page) == [(1, first.pid, "Ada")]
    assert page.best[0].score == 90
    assert await boards.facts(first.pid) == b"facts of " + first.pid.encode()


async def test_a_newer_version_takes_the_place_of_an_older_one(boards: Boards) -> None:
    me = pid()
    assert await boards.enter(me, "Ada", 2, b"two", (-2, 7))
    assert not await boards.enter(me, "Ada", 1, b"one", (-1, 5))
    assert await boards.enter(me, "Ada", 3, b"three", (-3, None))
    assert (await boards.page("time", me)).best[0].score == -3
    assert (await boards.page("moves", me)).total == 0, "no score, no row"
    assert await boards.facts(me) == b"three"


async def test_a_rename_keeps_the_scores_and_moves_the_row_among_equals(boards: Boards) -> None:
    ada, bo = Entry(pid(), "Ada", 5, 6), Entry(pid(), "Bo", 5, 6)
    await enter(boards, ada, bo)
    assert await boards.rename(ada.pid, "Cy")
    assert not await boards.rename(ada.pid, "Cy"), "nothing new"
    assert not await boards.rename(pid(), "Eve"), "not on the board"
    for by in BY:
        assert [(row.rank, row.name, row.score) for row in (await boards.page(by, "")).best] == [
            (1, "Bo", 5 if by == "time" else 6),
            (1, "Cy", 5 if by == "time" else 6),
        ]
    assert await boards.total() == 2


async def test_a_removed_player_leaves_nothing(boards: Boards) -> None:
    ada, bo = Entry(pid(), "Ada", 5, 6), Entry(pid(), "Bo", 5, 6)
    await enter(boards, ada, bo)
    assert await boards.remove(ada.pid)
    assert not await boards.remove(ada.pid)
    for by in BY:
        assert shown(await boards.page(by, ada.pid)) == [(1, bo.pid, "Bo")]
    assert await boards.facts(ada.pid) is None
    assert await boards.total() == 1


async def test_some_players_among_themselves(boards: Boards) -> None:
    entries = [Entry(pid(), f"p{number}", number // 2, -number) for number in range(20)]
    await enter(boards, *entries)
    friends = [entries[3], entries[2], entries[11], entries[19]]
    found = await boards.of("time", [*(friend.pid for friend in friends), pid()])
    assert [(row.rank, row.pid, row.name) for row in found] == in_order(friends, "time")
    assert [row.facts for row in found] == [b"facts of " + row.pid.encode() for row in found]
    assert await boards.of("time", []) == []
    assert await boards.of("time", [pid()]) == []


async def test_what_is_nobody_s_row_is_not_shown_and_can_be_taken_off(boards: Boards, store: Store) -> None:
    ada, bo = Entry(pid(), "Ada", 5, 6), Entry(pid(), "Bo", 7, 6)
    await enter(boards, ada, bo)
    key, good = keys.board(boards.slot, "time"), await boards.page("time", bo.pid)
    strays: dict[Any, float] = {
        f"ghost\nGhost\n{pid()}": 6,
        f"ada\nAdda\n{ada.pid}": 1,
        "x": 2.0,
        b"\xff\n\xff\n\xff": 3,
        "y\nY": 4,
    }
    await store.redis.zadd(key, strays)
    await store.redis.zadd(key, {"endless": "-inf"})
    page = await boards.page("time", bo.pid, around=9)
    assert [row.pid for row in page.best] == [row.pid for row in page.around] == [ada.pid, bo.pid]
    assert page.strays == 12
    assert await boards.prune() == 6
    assert await boards.page("time", bo.pid) == good
    assert await boards.prune() == 0


async def test_what_is_left_of_an_entry_keeps_nobody_from_the_board(boards: Boards, store: Store) -> None:
    ada = Entry(pid(), "Ada", 5, 6)
    for there in (keys.rows(boards.slot), keys.facts(boards.slot)):
        await enter(boards, ada)
        await store.redis.hdel(there, ada.pid)
        assert await boards.torn() == [ada.pid.encode()]
        assert await boards.remove(ada.pid)
        await boards.prune()
        assert not await boards.remove(ada.pid)
        assert (await boards.torn(), await boards.players()) == ([], [])
        assert (await boards.page("time", ada.pid)).total == 0


NAMES = [
    "",
    "Ada",
    "ada",
    "Åse",
    "ÅSE",
    "אבא",
    "名前",
    "🂱",
    "a\u0301",
    "ß",
    "SS",
    "I",
    "ı",
    "~",
    "Ada Lovelace",
    "Ada B",
]


async def test_names_of_all_kinds_come_back_as_they_were_and_in_one_order(boards: Boards) -> None:
    entries = [Entry(pid(), name, 1, 1) for name in NAMES]
    await enter(boards, *entries)
    assert shown(await boards.page("time", "")) == in_order(entries, "time")
