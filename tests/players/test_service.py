"""Players' data on real stores: counted once, found by a code, compared among friends, deleted for good."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from typing import Any

import pytest
import structlog

from heartroom.admin.broken import room_of
from heartroom.games.game import Refused, games
from heartroom.players.service import Players
from heartroom.sessions.house import House
from heartroom.sessions.log import Deed, pack
from heartroom.sessions.room import Room
from heartroom.sessions.table import HOUSE
from heartroom.store import keys
from heartroom.store.people import People
from heartroom.store.store import STORED, Commit
from tests.conftest import Connect
from tests.support.days import PAR, Node, play, winning, write
from tests.support.games import GAME, pid
from tests.support.guests import until
from tests.support.mortal import Killed, Mortal
from tests.support.stores import BINARIES, StoreProcess


async def refused(asking: Any) -> str:
    with pytest.raises(Refused) as refusal:
        await asking
    return refusal.value.code


def traces(node: Node, player: str) -> set[str]:
    """What is left of a player who was forgotten: for an hour, that there was one; until it could no longer
    count, that this id has had its attempt of a day, of which there is no second one."""
    return {keys.gone(player), keys.starts(node.day)}


async def everything_about(node: Node, player: str) -> list[str]:
    """Every key of the store whose name or value has the player in it."""
    redis: Any = node.house.store.redis
    names = [key async for key in redis.scan_iter(count=1000)]
    async with redis.pipeline(transaction=False) as pipe:
        for key in names:
            pipe.type(key)
        kinds = await pipe.execute()
        for key, kind in zip(names, kinds, strict=True):
            {
                b"none": pipe.exists,  # gone since it was listed
                b"string": pipe.get,
                b"hash": pipe.hgetall,
                b"set": pipe.smembers,
                b"zset": lambda key: pipe.zrange(key, 0, -1),
                b"list": lambda key: pipe.lrange(key, 0, -1),
            }[kind](key)
        values = await pipe.execute()
    about = zip(names, values, strict=True)
    return sorted(key.decode() for key, value in about if player.encode() in key or player in str(value))


# -- statistics


async def test_a_game_is_counted_once_however_often_it_is_opened(node: Node, players: Players) -> None:
    player = pid()
    room = await node.won(player, detours=2)
    for _ in range(3):
        await players.count(room)
    assert await players.statistics(player) == {
        GAME.name: {
            "games": 1,
            "wins": 1,
            "elapsed_ms": room.elapsed_ms,
            "best_ms": room.elapsed_ms,
            "moves": PAR + 4,
            "undos": 2,
        }
    }


async def test_numbers_add_up_and_the_best_stays(node: Node, players: Players) -> None:
    player = pid()
    elapsed = []
    for detours in (1, 0, 3):
        sid = await node.house.create(player, GAME.name, {"code": "HH1-N-AAAAAAM"})
        room = await node.house.open(sid)
        await play(room, node.house, winning(detours))
        await players.count(room)
        elapsed.append(room.elapsed_ms)
    counted = (await players.statistics(player))[GAME.name]
    assert counted["games"] == counted["wins"] == 3
    assert counted["undos"] == 4
    assert (counted["elapsed_ms"], counted["best_ms"]) == (sum(elapsed), min(elapsed))
    assert await players.statistics(pid()) == {}


async def test_a_game_that_is_not_over_is_not_counted(node: Node, players: Players) -> None:
    player = pid()
    room = await node.begun(player)
    await play(room, node.house, winning()[:-1])
    await players.count(room)
    assert await players.statistics(player) == {}


async def a_hand_of_hearts(node: Node, people: list[str]) -> Any:
    """A game of one hand, played by the weakest bots; the last of `people` has left."""
    hearts = games()["hearts"]
    sid = await node.house.create(people[0], "hearts", {"target": 1})
    room = await node.house.open(sid)
    for player in people[1:]:
        await room.take_seat(player)
    await room.begin()
    await room.give_up_seat(people[-1])
    while not room.is_over:
        seat = hearts.to_act(room.state)[0]
        view = hearts.view(room.state, hearts.perspective(seat))
        action = hearts.choose(hearts.levels[0], view, seat, "seed")
        body = pack(Deed(seat, room.version + 1, action))
        ((result, _),) = await node.house.store.commit([Commit(room.sid, room.epoch, room.version, body, 0)])
        assert result == STORED
        opened = await node.house.store.open(room.sid, room.version)
        assert opened is not None
        room.missed(room.version, opened.entries)
    return room


async def test_hands_and_points_for_those_who_played_to_the_end(node: Node, players: Players) -> None:
    people = [pid() for _ in range(3)]
    room = await a_hand_of_hearts(node, people)
    await players.count(room)
    totals = room.state.totals
    for seat, player in enumerate(people[:2]):
        counted = (await players.statistics(player))["hearts"]
        assert counted["games"] == 1
        assert counted["wins"] == int(totals[seat] == min(totals))
        assert (counted["hands"], counted["points"]) == (len(room.state.sheet), totals[seat])
        assert ("best_ms" in counted) == bool(counted["wins"])
    assert await players.statistics(people[2]) == {}, "left before the end"


# -- groups


async def test_friends_join_by_the_group_s_id(node: Node, players: Players) -> None:
    one, other = pid(), pid()
    gid = await players.found_group(one, "  Friends ")
    assert await players.invitation(gid) == ("Friends", 1)
    assert await refused(players.group(other, gid)) == "no_group"
    for _ in range(2):
        await players.join_group(other, gid)
    assert (await players.group(other, gid)).members == [one, other]
    assert await players.people.groups(other) == [(gid, "Friends", 2)]
    await players.leave_group(one, gid)
    assert await refused(players.group(one, gid)) == "no_group"
    await players.leave_group(other, gid)
    assert await refused(players.invitation(gid)) == "no_group"
    assert await refused(players.join_group(one, gid)) == "no_group"
    assert await players.people.groups(one) == []


async def test_groups_have_bounds(players: Players, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Players, "MOST_MEMBERS", 3)
    monkeypatch.setattr(Players, "MOST_GROUPS", 2)
    player = pid()
    gid = await players.found_group(player, "One")
    answers = await asyncio.gather(
        *(players.join_group(pid(), gid) for _ in range(6)), return_exceptions=True
    )
    assert sum(answer is None for answer in answers) == 2
    assert {str(answer) for answer in answers if answer is not None} == {"group_full"}
    await players.found_group(player, "Two")
    assert await refused(players.found_group(player, "Three")) == "group_full"
    assert await refused(players.found_group(pid(), "a\u202eb")) == "bad_name"


async def test_a_group_s_board(node: Node, players: Players) -> None:
    friends = [pid() for _ in range(3)]
    gid = await players.found_group(friends[0], "Friends")
    for detours, player in enumerate(friends):
        await players.join_group(player, gid)
        await node.won(player, detours)
    for _ in range(2):
        await node.won(pid(), detours=0)
    members = (await players.group(friends[0], gid)).members
    rows = await node.boards.of_day(node.day).of("moves", members)
    assert [(row.rank, row.pid) for row in rows] == [(rank, player) for rank, player in enumerate(friends, 1)]


# -- the recovery code


async def test_a_code_leads_to_its_player(players: Players) -> None:
    player = pid()
    code = await players.recovery_code(player)
    for typed in (code, code.lower().replace("-", " ")):
        assert await players.recover(typed, "192.0.2.1") == player
    assert await players.people.has_recovery(player)


async def test_a_new_code_ends_the_one_before(players: Players) -> None:
    player = pid()
    first, second = await players.recovery_code(player), await players.recovery_code(player)
    assert await refused(players.recover(first, "192.0.2.2")) == "bad_recovery"
    assert await players.recover(second, "192.0.2.2") == player


async def test_the_store_does_not_know_a_code(node: Node, players: Players) -> None:
    player = pid()
    code = await players.recovery_code(player)
    redis: Any = node.house.store.redis
    kept = await redis.hgetall(keys.player(player))
    assert code.replace("-", "").encode() not in b"".join(kept.values())
    assert code.encode() not in b"".join(kept.values())


@pytest.mark.parametrize("address", ["192.0.2.7", "2001:db8:1:1::", "", "fe80::1%eth0", "somewhere"])
async def test_attempts_from_one_address_are_limited(
    players: Players, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setattr(Players, "ATTEMPTS", (3, 3_600_000))
    code = await players.recovery_code(player := pid())
    said = [await refused(players.recover("AAAAA-BBBBB-CCCCC-DDDDD", address)) for _ in range(3)]
    assert said == ["bad_recovery"] * 3
    assert await refused(players.recover(code, address)) == "too_fast"
    assert await players.recover(code, f"elsewhere than {address}") == player


async def test_addresses_of_one_network_of_ipv6_count_as_one(
    players: Players, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Players, "ATTEMPTS", (2, 3_600_000))
    said = [await refused(players.recover("nonsense", f"2001:db8:0:2::{host}")) for host in (1, 2, 3)]
    assert said == ["bad_recovery", "bad_recovery", "too_fast"]


async def test_a_bucket_fills_again(node: Node) -> None:
    people = People(node.house.store)
    whose = pid()
    assert await people.take("test", [(whose, 1, 1)])
    async with asyncio.timeout(30):
        while not await people.take("test", [(whose, 1, 1)]):
            pass
    full = pid()
    assert await people.take("test", [(full, 1, 3_600_000), (pid(), 5, 1)])
    other = pid()
    assert not await people.take("test", [(other, 1, 3_600_000), (full, 1, 3_600_000)])
    assert await people.take("test", [(other, 1, 3_600_000)]), "nothing was taken where something was missing"


# -- all of it, none of it


async def test_all_that_is_kept(node: Node, players: Players) -> None:
    player = pid()
    await node.house.rename(player, "Ada")
    room = await node.won(player)
    await players.count(room)
    unfinished = await node.house.create(player, GAME.name, {})
    gid = await players.found_group(player, "Friends")
    await players.recovery_code(player)
    kept = await players.export(player)
    assert kept["name"] == "Ada"
    assert kept["recovery"] is True
    assert [(result["date"], result["session"]) for result in kept["daily"]] == [(node.day, room.sid)]
    assert kept["statistics"][GAME.name]["games"] == 1
    assert {"session": unfinished, "game": GAME.name} in kept["playing"]
    assert kept["finished"] == [{"session": room.sid, "game": GAME.name, "at_ms": room.ended_ms}]
    assert kept["groups"] == [{"id": gid, "name": "Friends", "members": 1}]


async def someone_with_a_history(node: Node, players: Players, player: str) -> tuple[str, str, str]:
    """Somebody who has done all there is to do. Returns a finished session, an unfinished one, a table."""
    await node.house.rename(player, "Ada")
    room = await node.won(player)
    await players.count(room)
    await node.house.store.unlist(room.sid, GAME.name, [player])
    unfinished = await node.house.create(player, GAME.name, {})
    table = await node.house.create(player, "hearts", {})
    opened = await node.house.open(table)
    await opened.take_seat(pid())
    await opened.begin()
    await players.join_group(player, await players.found_group(pid(), "Friends"))
    await players.recovery_code(player)
    return room.sid, unfinished, table


async def test_nothing_is_left_of_a_deleted_player(node: Node, players: Players) -> None:
    player = pid()
    finished, unfinished, table = await someone_with_a_history(node, players, player)
    await players.forget(player)
    assert set(await everything_about(node, player)) == traces(node, player)
    assert await node.daily.begin(player) == finished
    assert await node.boards.result(node.day, player) is None
    assert await refused(node.house.open(unfinished)) == "no_session"
    room = await node.house.open(table)
    assert room.table.seat_of(player) is None
    node.house.rooms.clear()
    again = await node.house.open(finished)
    assert again.is_over
    assert player not in again.players
    await players.count(again)
    assert (await node.house.open(table)).version == room.version, "its log can still be read"


async def test_a_deletion_that_died_half_way_is_done_by_the_next_sweep(
    shared: StoreProcess, connect: Connect, node: Node, players: Players, request: pytest.FixtureRequest
) -> None:
    died = 0
    # With each kind of store every other point: all of them take long, and a point is one with either.
    first = 1 + sorted(BINARIES).index(request.node.callspec.params["shared"]) % 2
    with structlog.testing.capture_logs():
        for point in range(first, 80, 2):
            node.calendar.next_day()
            player = pid()
            await someone_with_a_history(node, players, player)
            dying = Node(House(connect(shared)), node.calendar)  # and never closed
            life = Mortal(dying.house.store, point)
            with contextlib.suppress(Killed):
                await Players(dying.house, dying.boards).forget(player)
            await node.boards.sweep()
            node.house.rooms.clear()
            assert set(await everything_about(node, player)) <= traces(node, player)
            assert ("forget", player) not in await players.people.due()
            if not life.dead:
                break
            died += 1
    assert 5 < died < 39


async def test_a_deletion_while_a_result_is_entered_leaves_nothing_on_the_boards(
    shared: StoreProcess, connect: Connect, node: Node, players: Players
) -> None:
    """Before each single command of who enters it in turn."""
    points = 0
    for point in range(100):
        node.calendar.next_day()
        player = pid()
        await node.deal()
        sid = await node.daily.begin(player)
        await write(node.house.store, sid, 60_000)
        opened = await node.house.store.peek(sid)
        assert opened is not None
        other = Node(House(connect(shared)), node.calendar)  # and never closed
        room = room_of(other.house.store, sid, opened)
        life = Mortal(other.house.store, point, partial(players.forget, player))
        await other.boards.follow(room)
        if life.left is not None:  # it was over before
            break

        # The other node has found the game finished, too.
        async def nothing_left(player: str = player) -> bool:
            node.house.rooms.clear()
            return set(await everything_about(node, player)) <= {*traces(node, player), keys.runs(node.day)}

        await until(nothing_left)
        points += 1
    assert 8 < points < 99


async def test_an_attempt_given_up_by_deletion_is_no_second_one(node: Node, players: Players) -> None:
    player = pid()
    await node.begun(player)
    await players.forget(player)
    assert await refused(node.daily.begin(player)) == "game_over"


async def test_somebody_deleted_leaves_others_their_game(node: Node, players: Players) -> None:
    people = [pid(), pid(), pid()]
    room = await a_hand_of_hearts(node, people)
    await players.count(room)
    before = [deed for _, deed in room.log if deed.seat != HOUSE]
    await players.forget(people[0])
    node.house.rooms.clear()
    again = await node.house.open(room.sid)
    assert [deed for _, deed in again.log if deed.seat != HOUSE] == before
    assert people[0] not in again.players
    assert people[1] in again.players
    assert (await players.statistics(people[1]))["hearts"]["games"] == 1


async def test_a_game_stays_in_its_player_s_list_until_it_is_counted(
    shared: StoreProcess, connect: Connect, node: Node, players: Players
) -> None:
    """A node that dies between the last move and the statistics leaves a game that is opened again."""
    player = pid()
    sid = await node.house.create(player, GAME.name, {"code": "HH1-N-AAAAAAM"})
    await write(node.house.store, sid, 60_000, ranked=False)
    dying = House(connect(shared))  # and never closed
    died = asyncio.Event()

    async def die(_room: Room) -> None:
        Mortal(dying.store, 0)
        died.set()

    dying.when_over.append(die)
    Players(dying, Node(dying, node.calendar).boards)
    with structlog.testing.capture_logs():
        await dying.open(sid)
        await died.wait()
    assert await players.statistics(player) == {}
    assert not await is_off_the_list(node, player, sid)
    await node.house.open(sid)
    await until(lambda: is_off_the_list(node, player, sid))
    assert (await players.statistics(player))[GAME.name]["games"] == 1


async def is_off_the_list(node: Node, player: str, sid: str) -> bool:
    return sid not in [session for session, _ in (await node.house.store.player(player))[1]]
