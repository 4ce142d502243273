"""The list of live games: what is on it, what is not, nodes that die; and privacy."""

from __future__ import annotations

import asyncio

import msgspec
import pytest
from structlog.testing import capture_logs

from heartroom.games.game import Refused
from heartroom.sessions.house import House
from heartroom.sessions.live import Live, Playing, merged
from heartroom.store import keys
from heartroom.store.store import Changed, Missed
from tests.conftest import Connect, Open
from tests.support.games import CODE, GAME, WINNING, begin, pid
from tests.support.guests import Guest, until
from tests.support.stores import StoreProcess


async def found(live: Live, sid: str) -> Playing | None:
    return next((one for one in await live.games() if one.session == sid), None)


async def begun(house: House, player: str) -> Guest:
    """A player who has taken the first action of a game."""
    guest = await Guest.join(house, await begin(house.store, player), player)
    await guest.act("draw")
    return guest


async def test_a_game_is_listed_from_its_first_action_to_its_last(house: House) -> None:
    live = Live(house)
    player = pid()
    await house.rename(player, "Ada")
    guest = await Guest.join(house, await begin(house.store, player), player)
    sid = guest.room.sid
    await live.look()
    assert await found(live, sid) is None
    await guest.act(*WINNING[0])
    await live.look()
    listed = await found(live, sid)
    assert listed is not None
    assert (listed.game, listed.code, listed.names, listed.bots) == (GAME.name, CODE, ("Ada",), (False,))
    assert (listed.players, listed.viewers, listed.scores, listed.progress) == (1, 0, (0,), 0)
    assert listed.since_ms == guest.room.started_ms
    for action in WINNING[1:]:
        await guest.act(*action)
    await live.look()
    assert await found(live, sid) is None


async def test_viewers_are_counted_on_all_nodes(shared: StoreProcess, opens: Open) -> None:
    one, other = opens(shared), opens(shared)
    here, there = Live(one), Live(other)
    player = await begun(one, pid())
    sid = player.room.sid
    watching = [await Guest.join(node, sid) for node in (one, other, other)]
    await here.look()
    await there.look()
    listed = await found(here, sid)
    assert listed is not None
    assert (listed.players, listed.viewers) == (1, 3)
    watching[1].leave()
    await there.look()
    listed = await found(here, sid)
    assert listed is not None
    assert listed.viewers == 2


async def test_the_table_says_how_many_look_on_from_all_nodes(shared: StoreProcess, opens: Open) -> None:
    one, other = opens(shared), opens(shared)
    here, there = Live(one), Live(other)
    player = await begun(one, pid())
    sid = player.room.sid
    watching = [await Guest.join(node, sid) for node in (one, other, other)]

    async def told(viewers: int) -> None:
        for live in (here, there, here):  # whoever comes last has heard all
            await live.look()
        for guest in (player, watching[0]):
            await guest.outlet.until(lambda: guest.table.viewers == viewers)  # noqa: B023

    await told(3)
    watching[1].leave()
    await told(2)
    watching[2].leave()
    await told(1)


async def test_viewers_on_a_node_that_died_are_not_counted_for_long(
    shared: StoreProcess, opens: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = opens(shared), opens(shared)
    here, there = Live(one), Live(other)
    player = await begun(one, pid())
    await Guest.join(other, player.room.sid)
    await there.look()
    await here.look()
    await player.outlet.until(lambda: player.table.viewers == 1)
    monkeypatch.setattr(Live, "OLD_MS", -1)  # as if the other had said nothing for that long
    for _ in range(Live.REPEAT):
        await here.look()
    await player.outlet.until(lambda: player.table.viewers == 0)


async def test_a_game_whose_player_has_gone_is_not_live(house: House) -> None:
    live = Live(house)
    player = await begun(house, pid())
    await Guest.join(house, player.room.sid)
    player.leave()
    await live.look()
    assert await found(live, player.room.sid) is None


async def test_the_most_watched_come_first_then_the_latest() -> None:
    def playing(session: str, viewers: int, since_ms: int, players: int = 1) -> Playing:
        return Playing(session, "g", None, "", ("",), (False,), (0,), 1, None, since_ms, players, viewers)

    said = [
        playing("a", 1, 5),
        playing("b", 0, 9),
        playing("c", 0, 10),
        playing("a", 1, 5, 0),
        playing("d", 9, 1, 0),
    ]
    assert [one.session for one in merged(said)] == ["a", "c", "b"]


async def test_a_node_that_says_nothing_more_is_not_believed_for_long(
    shared: StoreProcess, opens: Open, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = opens(shared)
    player = await begun(one, pid())
    live = Live(one)
    await live.look()
    assert await found(live, player.room.sid) is not None
    monkeypatch.setattr(Live, "OLD_MS", -1)  # as if that long had passed
    assert await found(Live(opens(shared)), player.room.sid) is None
    listed = await one.store.redis.hexists(keys.LIVE, one.store.node)
    assert not listed, "and is struck off"


@pytest.mark.parametrize("wrong", [b"", b"garbage", msgspec.msgpack.encode([["x"] * 12])])
async def test_what_no_node_has_said_is_passed_over_and_told_once(
    own: StoreProcess, opens: Open, wrong: bytes
) -> None:
    house = opens(own)
    player = await begun(house, pid())
    live = Live(house)
    with capture_logs() as said:
        await house.store.redis.hset(keys.LIVE, "x", b"%d%b" % (house.store.now_ms, wrong))
        for _ in range(2):
            await live.look()
            assert [one.session for one in await live.games()] == [player.room.sid]
    assert [line["event"] for line in said] == ["live games cannot be read"]


async def test_games_that_only_newer_nodes_have_are_left_out(own: StoreProcess, opens: Open) -> None:
    house = opens(own)
    live = Live(house)
    unknown, known = (
        Playing(sid, game, None, "", ("",), (False,), (0,), 1, None, 0, 1, 0)
        for sid, game in (("s", "patience"), ("t", "hearts"))
    )
    said = msgspec.msgpack.encode([unknown, known])
    with capture_logs() as logged:
        await house.store.redis.hset(keys.LIVE, "x", b"%d%b" % (house.store.now_ms, said))
        await live.look()
        assert [one.session for one in await live.games()] == ["t"]
    assert logged == []


async def test_something_else_at_their_keys_keeps_no_node_from_its_lease_or_its_list(
    own: StoreProcess, opens: Open
) -> None:
    house = opens(own)
    live = Live(house)
    player = await begun(house, pid())
    for key in (keys.NODES, keys.ABOUT, keys.LIVE):
        await house.store.redis.delete(key)
        await house.store.redis.set(key, "x")
    await live.look()
    assert await found(live, player.room.sid) is not None
    alive = await house.store.beat()
    assert house.store.node in alive


async def test_a_node_that_closes_takes_its_games_off(shared: StoreProcess, opens: Open) -> None:
    one, other = opens(shared), opens(shared)
    player = await begun(one, pid())
    live = Live(one)
    live.start()
    await until(lambda: _is_listed(Live(other), player.room.sid))
    await live.aclose()
    assert await found(Live(other), player.room.sid) is None


async def _is_listed(live: Live, sid: str) -> bool:
    return await found(live, sid) is not None


async def test_it_is_told_when_the_list_has_changed_and_only_then(
    shared: StoreProcess, opens: Open, connect: Connect
) -> None:
    house = opens(shared)
    live = Live(house)
    ear = connect(shared).news()
    assert await anext(ear) == Missed(None, True)
    await begun(house, pid())
    await live.look()
    for _ in range(Live.REPEAT * 2):
        await live.look()
    await begun(house, pid())
    await live.look()
    await house.store.tell_changed("that was all")
    told = []
    while (news := await anext(ear)) != Changed("that was all"):
        told.append(news)
    assert told.count(Changed("live")) == 2


# -- privacy


async def test_the_host_shows_out_who_only_watches(shared: StoreProcess, opens: Open) -> None:
    one, other = opens(shared), opens(shared)
    host = pid()
    player = await begun(one, host)
    sid = player.room.sid
    watching = await Guest.join(other, sid)
    await player.room.set_private(host, True)
    await watching.outlet.until(lambda: watching.outlet.errors == ["private"])
    assert (await other.open(sid)).viewers == {}
    version = watching.table.version
    await player.act("draw")
    assert watching.table.version == version, "nothing more is shown"
    for node in (one, other):
        with pytest.raises(Refused, match="private"):
            await node.enter(sid, pid())
        assert await node.enter(sid, host) is await node.open(sid)
    live = Live(one)
    await live.look()
    assert await found(live, sid) is None
    await player.room.set_private(host, False)
    assert await one.enter(sid, pid()) is player.room


async def test_nobody_else_may(house: House) -> None:
    player = await begun(house, pid())
    with pytest.raises(Refused, match="not_seated"):
        await player.room.set_private(pid(), True)
    assert not player.room.table.private


async def test_privacy_is_no_action_of_the_game(house: House) -> None:
    host = pid()
    guest = await Guest.join(house, await begin(house.store, host), host)
    before = list(guest.table.view)
    await guest.room.set_private(host, True)
    await guest.room.set_private(host, True)
    await guest.at(1)
    assert guest.table.view == before
    assert guest.room.started_ms is None, "time runs from the first action"
    await guest.act("draw")
    assert guest.room.started_ms is not None


async def test_a_private_game_that_is_over_may_be_looked_at(house: House) -> None:
    host = pid()
    guest = await begun(house, host)
    await guest.room.set_private(host, True)
    for action in WINNING[1:]:
        await guest.act(*action)
    assert await house.enter(guest.room.sid, pid()) is guest.room


async def test_many_games_are_listed_up_to_a_bound(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Live, "MOST", 3)
    await asyncio.gather(*(begun(house, pid()) for _ in range(5)))
    live = Live(house)
    await live.look()
    mine = {room.sid for room in house.rooms.values()}
    assert sum(one.session in mine for one in await live.games()) == 3


@pytest.mark.parametrize("public", [True, False])
async def test_only_a_table_that_was_made_public_is_listed(house: House, public: bool) -> None:
    live, player = Live(house), pid()
    sid = await house.create(player, "hearts", {}, public=public)
    guest = await Guest.join(house, sid, player)
    await guest.room.begin()
    await live.look()
    assert (await found(live, sid) is not None) is public
    assert (await Guest.join(house, sid)).table.seat is None, "with the link anybody may look on"
