"""Houses on real stores: sessions opened and closed, nodes that share them, stores that fail and lose."""

from __future__ import annotations

import asyncio
import contextlib
import gc
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from heartroom import client as wire
from heartroom import metrics, turns
from heartroom.games import heart_to_heart
from heartroom.games.game import Action, Refused, games, rules
from heartroom.games.heart_to_heart import HeartToHeart
from heartroom.sessions.house import House
from heartroom.sessions.live import Live
from heartroom.sessions.log import Deed, pack, unpack
from heartroom.sessions.room import Room
from heartroom.sessions.viewer import Viewer
from heartroom.store import keys
from heartroom.store.store import STORED, Away, Commit, Missed, News, Opened, Store
from tests.conftest import Connect, Open
from tests.support.games import CODE, GAME, WINNING, begin, pid
from tests.support.guests import Guest, Outlet, until
from tests.support.stores import PATIENCE_S, StoreProcess

SHORT_S = 1.5
"""How long a node waits for a store that is known not to answer."""

EXAMPLES = settings(
    max_examples=20,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


async def game(house: House) -> Guest:
    player = pid()
    return await Guest.join(house, await begin(house.store, player), player)


async def logged(store: Store, sid: str) -> list[Deed]:
    opened = await store.open(sid)
    assert opened is not None
    return [unpack(entry.body) for entry in opened.entries]


def listed(store: Store, player: str, sid: str) -> Callable[[], Awaitable[bool]]:
    async def ask() -> bool:
        return (sid, GAME.name) in (await store.player(player))[1]

    return ask


def unlisted(store: Store, player: str, sid: str) -> Callable[[], Awaitable[bool]]:
    async def ask() -> bool:
        return not await listed(store, player, sid)()

    return ask


# -- sessions


async def test_a_session_is_made_and_is_its_player_s(house: House) -> None:
    player = pid()
    sid = await house.create(player, GAME.name, {"code": CODE})
    guest = await Guest.join(house, sid, player)
    assert guest.table.seat == 0
    assert guest.table.view[GAME.fields.index("code")] == CODE
    assert await listed(house.store, player, sid)()
    assert (await Guest.join(house, sid)).table.seat is None


async def test_two_random_deals_are_not_the_same(house: House) -> None:
    codes = set()
    for _ in range(5):
        room = await house.open(await house.create(pid(), GAME.name, {}))
        codes.add(room.setup.options["code"])
    assert len(codes) == 5


@pytest.mark.parametrize(
    ("name", "options", "code"),
    [
        ("chess", {}, "unknown_game"),
        ("", {}, "unknown_game"),
        (GAME.name, {"colour": "red"}, "bad_options"),
        (GAME.name, {"code": CODE, "colour": "red"}, "bad_options"),
        (GAME.name, {"code": "HH1-N-AAAAAA"}, "bad_code"),
        (GAME.name, {"code": "HH1-N-AAAAAA1!"}, "bad_code"),
        (GAME.name, {"code": None}, "bad_code"),
        (GAME.name, {"code": 12}, "bad_code"),
    ],
)
async def test_a_session_that_cannot_be_is_refused(
    house: House, name: str, options: dict[str, Any], code: str
) -> None:
    player = pid()
    with pytest.raises(Refused, match=f"^{code}$"):
        await house.create(player, name, options)
    assert await house.store.player(player) == ("", [])


@pytest.mark.parametrize(
    "sid",
    [
        "",
        "x",
        "AAAAAAAAAAAA",
        "AAAAAAAAAAA}",
        "../../../../",
        "A" * 13,
        "AAAAAAAAAAA\n",
        "ÅÅÅÅÅÅÅÅÅÅÅÅ",
        "{}" * 6,
    ],
)
async def test_there_is_no_session_of_another_name(house: House, sid: str) -> None:
    with pytest.raises(Refused, match=r"^no_session$"):
        await house.open(sid)
    assert house.rooms == {}


async def test_a_session_that_is_opened_many_times_at_once_has_one_room(house: House) -> None:
    sid = await begin(house.store)
    rooms = await asyncio.gather(*(house.open(sid) for _ in range(10)))
    assert len({id(room) for room in rooms}) == 1
    assert list(house.rooms) == [sid]


async def test_an_opener_who_gives_up_does_not_cost_the_others_the_room(house: House) -> None:
    sid = await begin(house.store)
    first = asyncio.ensure_future(house.open(sid))
    second = asyncio.ensure_future(house.open(sid))
    await asyncio.sleep(0)
    first.cancel()
    assert (await second).sid == sid


async def test_an_opening_that_fails_after_its_opener_has_gone_is_nobody_s_error(
    own: StoreProcess, opens: Open
) -> None:
    house = opens(own, timeout_s=SHORT_S)
    sid = await begin(house.store)
    await house.open(await begin(house.store))  # the lease is taken
    complaints: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    own.freeze()
    opener = asyncio.ensure_future(house.open(sid))
    await asyncio.sleep(0)
    opening = house._opening[sid]
    opener.cancel()
    await asyncio.wait([opener, opening])
    own.thaw()
    del opener, opening
    gc.collect()
    assert complaints == []


async def test_rules_that_a_log_did_not_begin_with_do_not_play_it(house: House) -> None:
    for field, value in (("rules", 99), ("game", "chess")):
        sid = await begin(house.store)
        await house.store.redis.hset(keys.session(sid), field, value)
        with pytest.raises(Refused, match=r"^unknown_game$"):
            await house.open(sid)


async def test_a_game_goes_on_by_the_rules_that_it_began_with(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after an upgrade to a release whose rules have another number."""

    class Newer(HeartToHeart):
        rules_version = 2

        def parse_action(self, raw: object) -> Action:
            raise AssertionError("not the rules that it began with")

    guest = await game(house)
    assert await guest.act("draw") == 1
    guest.leave()
    house.rooms.pop(guest.room.sid)
    monkeypatch.setattr(heart_to_heart, "GAME", Newer())
    monkeypatch.setattr(heart_to_heart, "EARLIER", (GAME,), raising=False)
    for known in (rules, games):
        known.cache_clear()
    try:
        back = await Guest.join(house, guest.room.sid, guest.player)
        assert back.table.version == 1
        assert await back.act("draw") == 2
        assert (back.room.game, games()[GAME.name].rules_version) == (GAME, 2)
    finally:
        monkeypatch.undo()
        for known in (rules, games):
            known.cache_clear()


async def test_an_empty_room_is_closed_and_opens_again_as_it_was(shared: StoreProcess, opens: Open) -> None:
    house = quick_to_close(opens(shared, linger_s=0.0))
    guest = await game(house)
    sid = guest.room.sid
    await guest.act("draw")
    held = guest.leave()
    await until(closed(house, sid))
    assert await house.store.redis.hget(keys.session(sid), "nodes") == b""
    back = await Guest.join(house, sid, guest.player, holding=held)
    assert back.room is not guest.room
    assert back.outlet.kinds()[0] in (wire.RESUMED, wire.SNAPSHOT)
    assert await back.act("draw") == 2
    assert back.table.view == back.fresh()


async def test_a_room_with_a_viewer_stays(shared: StoreProcess, opens: Open) -> None:
    house = quick_to_close(opens(shared, linger_s=0.0))
    stays, goes = await game(house), await game(house)
    goes.leave()
    await until(closed(house, goes.room.sid))
    assert stays.room.sid in house.rooms
    assert await stays.act("draw") == 1


async def test_a_room_given_up_while_somebody_is_on_the_way_in_is_opened_anew(house: House) -> None:
    guest = await game(house)
    sid = guest.room.sid
    guest.leave()
    given_up = guest.room

    async def slow(room: Room, _pid: str) -> None:
        if room is given_up:
            house.rooms.pop(sid, None)
            room.closed()

    house.guards.append(slow)
    late = await Guest.join(house, sid, guest.viewer.pid)
    assert late.room is house.rooms[sid]
    assert late.room is not given_up
    assert await late.act("draw") == 1


def quick_to_close(house: House) -> House:
    house.SWEEP_S = 0.01  # type: ignore[misc]
    # it is between two looks already, the first of which is still slow
    house._spawn(house._sweep())
    return house


def closed(house: House, sid: str) -> Callable[[], Awaitable[bool]]:
    async def ask() -> bool:
        return sid not in house.rooms and sid not in house._closing

    return ask


async def test_a_house_that_closes_leaves_all_sessions(shared: StoreProcess, connect: Connect) -> None:
    store = connect(shared)
    house = House(store)
    house.start()
    guest = await game(house)
    guest.send("draw")
    await house.aclose()
    assert await store.redis.hget(keys.session(guest.room.sid), "nodes") == b""
    assert guest.table.version == 1, "what was under way is finished"


async def test_a_house_closes_though_its_store_does_not_answer(own: StoreProcess, connect: Connect) -> None:
    """However many rooms are open, the store is asked once more and no more."""
    store = connect(own, SHORT_S)
    house = House(store)
    house.start()
    for _ in range(200):
        await game(house)
    own.freeze()
    async with asyncio.timeout(30):
        await house.aclose()


async def test_a_name_is_cleaned_or_refused(house: House) -> None:
    player = pid()
    assert await house.rename(player, "  Åse   Li ") == "Åse Li"
    for bad in ("", "   ", "x" * 21, "a\u202eb", "\x00"):
        with pytest.raises(Refused, match=r"^bad_name$"):
            await house.rename(player, bad)
    assert await house.store.names([player]) == ["Åse Li"]


# -- finished games


async def play(guest: Guest, actions: Sequence[tuple[Any, ...]] = WINNING) -> None:
    for action in actions:
        guest.send(*action)
    await guest.at(len(actions))


async def test_a_finished_game_is_no_more_among_its_player_s(house: House) -> None:
    guest = await game(house)
    assert await listed(house.store, guest.player, guest.room.sid)()
    await play(guest)
    await until(unlisted(house.store, guest.player, guest.room.sid))


async def test_a_finished_game_is_unlisted_by_who_opens_it_if_the_node_died_before(
    shared: StoreProcess, opens: Open
) -> None:
    there = opens(shared)
    player = pid()
    sid = await begin(there.store, player)
    opened = await there.store.open(sid)
    assert opened is not None
    for version, action in enumerate(WINNING):  # stored by a node that then does nothing more
        body = pack(Deed(0, version + 1, action))
        ((result, _),) = await there.store.commit([Commit(sid, opened.record.epoch, version, body, 0)])
        assert result == STORED
    assert await listed(there.store, player, sid)()
    room = await opens(shared).open(sid)
    assert room.is_over
    await until(unlisted(there.store, player, sid))


# -- several nodes


async def test_a_house_closes_in_time_while_its_store_hangs(own: StoreProcess, opens: Open) -> None:
    house = opens(own, 100 * PATIENCE_S)  # so long it would wait for an answer
    live = Live(house)
    guest, other = await game(house), await game(house)
    await live.look()
    own.freeze()
    try:
        refs = [guest.send("draw"), other.send("draw")]
        async with asyncio.timeout(PATIENCE_S):
            await live.aclose()
            await house.aclose()
    finally:
        own.thaw()
    assert not {*refs} & {*guest.outlet.answers, *other.outlet.answers}


async def test_a_house_with_more_sessions_than_it_can_close_in_time_has_left_all_the_same(
    shared: StoreProcess, opens: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = opens(shared), opens(shared)
    await game(here)
    assert here.store.node in await there.store.beat()

    async def for_ever(sid: str) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(here.store, "close", for_ever)
    await here.aclose()
    assert here.store.node not in await there.store.beat()


async def test_a_long_log_is_read_in_turns_and_what_is_done_meanwhile_is_not_missed(
    shared: StoreProcess, opens: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = opens(shared), opens(shared)
    guest = await game(there)
    for _ in range(20):
        await guest.act("draw")
    monkeypatch.setattr(House, "TOGETHER", 6)
    turn, taken = turns.turn, 0

    async def meanwhile() -> None:
        nonlocal taken
        taken += 1
        assert guest.room.sid not in here.rooms
        if taken == 1:
            assert await guest.act("draw") == 21

            async def heard() -> bool:
                return guest.room.sid in here._early

            await until(heard)
        await turn()

    monkeypatch.setattr(turns, "turn", meanwhile)
    room = await here.open(guest.room.sid)
    assert taken == 3
    assert (room.version, room.state) == (21, guest.room.state)
    assert room.log == guest.room.log


async def untold(house: House, sid: str) -> Guest:
    """A spectator of a session on `house`, whom nobody tells of what is done there."""
    looking = await Guest.join(house, sid)
    await house.store.strike(sid, house.store.node)
    return looking


async def say(house: House, sid: str, message: bytes) -> None:
    """Somebody says something where the house hears of a session."""
    if house.store.table is None:
        await house.store.redis.publish(keys.EVERYBODY, message)
    else:
        await house.store.redis.spublish(keys.channel(sid), message)


@pytest.mark.parametrize(
    "message",
    [
        b"x y",
        b"",
        b"\xff\xff",
        b"AAAAAAAAAAAA ffffffff 1 one 0 1700000000000{}",
        b"\x94\xa3sid",
        b"\x94\xa3sid\xa4node\xa1x\xc3",
        b"\x92\x01\x02",
        b"\x91\xc0",
    ],
)
async def test_a_message_that_cannot_be_read_leaves_no_node_deaf(
    shared: StoreProcess, opens: Open, message: bytes
) -> None:
    here, there = opens(shared), opens(shared)
    guest = await game(here)
    looking = await Guest.join(there, guest.room.sid)
    assert await guest.act("draw") == 1
    await looking.at(1)
    before = metrics.UNREADABLE._value.get()
    with capture_logs() as said:
        await say(there, guest.room.sid, message)
        await guest.act("draw")
        await looking.at(2)

        async def counted() -> bool:
            return bool(metrics.UNREADABLE._value.get() >= before + 1)

        await until(counted)
    assert [line["event"] for line in said if line["log_level"] == "error"] in (
        ["unreadable message"],
        ["unreadable message"] * 2,  # each node heard it
    )


async def test_what_cannot_be_read_may_have_been_news_and_is_read_from_the_log(
    shared: StoreProcess, opens: Open
) -> None:
    here, there = opens(shared), opens(shared)
    guest = await game(here)
    looking = await untold(there, guest.room.sid)
    for version in range(1, 4):  # also while it is read what an earlier one may have said
        assert await guest.act("draw") == version
        await say(there, guest.room.sid, b"x y")
        await looking.at(version)


async def test_however_many_messages_cannot_be_read_the_log_speaks_of_them_once_and_rooms_read_on_together(
    shared: StoreProcess, opens: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = opens(shared), opens(shared)
    guest = await game(here)
    looking = await Guest.join(there, guest.room.sid)
    missed = 0
    notices = there._missed

    def noticed(what: Missed) -> None:
        nonlocal missed
        missed += 1
        notices(what)

    monkeypatch.setattr(House, "DOUBT_S", PATIENCE_S)
    monkeypatch.setattr(there, "_missed", noticed)
    heard = 0
    reads = there.store._said

    def read(message: bytes) -> Any:
        nonlocal heard
        heard += 1
        return reads(message)

    monkeypatch.setattr(there.store, "_said", read)
    with capture_logs() as said:
        for _ in range(200):
            await say(there, guest.room.sid, b"x y")
        assert await guest.act("draw") == 1
        await looking.at(1)
        assert heard >= 201
    assert missed == 1
    assert 1 <= len([line for line in said if line["event"] == "unreadable message"]) <= 2


async def test_a_node_whose_hearing_fails_unforeseen_hears_again_and_reads_what_it_missed(
    shared: StoreProcess, opens: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = opens(shared), opens(shared)
    guest = await game(here)
    looking = await Guest.join(there, guest.room.sid)
    hears, failed = there._hear, False

    def hear(room: Room, news: News) -> None:
        nonlocal failed
        if not failed:
            failed = True
            raise LookupError("of all things")
        hears(room, news)

    monkeypatch.setattr(House, "RETRY_S", (0.01, 0.05))
    monkeypatch.setattr(there, "_hear", hear)
    with capture_logs() as said:
        assert await guest.act("draw") == 1
        await looking.at(1)
        assert failed
        assert await guest.act("draw") == 2
        await looking.at(2)
    assert [line["event"] for line in said if line["log_level"] == "error"] == ["task failed"]


async def test_a_game_that_the_house_ends_is_over_in_the_log_of_a_node_that_has_it_open(
    shared: StoreProcess, opens: Open
) -> None:
    here, admin = opens(shared), opens(shared)
    guest = await game(here)
    room = await admin.open(guest.room.sid)
    with capture_logs() as said:
        await guest.act("draw")
        await room.end()
        await guest.outlet.until(lambda: "ended" in guest.outlet.errors)
    over = [line for line in said if line["event"] == "game over"]
    assert [(line["sid"], line["outcome"], line["actions"]) for line in over] == [
        (guest.room.sid, "ended", 2)
    ] * 2  # each of the two houses
    with capture_logs() as said:  # but not of one that opens it later
        await opens(shared).open(guest.room.sid)
    assert not [line for line in said if line["event"] == "game over"]


async def test_actions_on_two_nodes_interleave_without_gaps(shared: StoreProcess, opens: Open) -> None:
    here, there = opens(shared), opens(shared)
    player = pid()
    sid = await begin(here.store, player)
    guests = [await Guest.join(house, sid, player) for house in (here, there, here, there)]

    # each waits for its own answer, and for nobody else's
    async def go_on(guest: Guest) -> list[int]:
        versions = []
        for _ in range(10):
            version = await guest.act("draw")
            if version == "stock_empty":
                version = await guest.act("recycle")
            if isinstance(version, int):
                versions.append(version)
        return versions

    stored = [version for versions in await asyncio.gather(*map(go_on, guests)) for version in versions]
    assert sorted(stored) == list(range(1, len(stored) + 1))
    assert len(stored) >= 30
    for guest in guests:
        await guest.at(len(stored))
        assert guest.table.view == guests[0].table.view == guest.fresh()
    assert len(await logged(here.store, sid)) == len(stored)


async def test_of_two_actions_meant_for_one_version_on_two_nodes_one_is_stale(
    shared: StoreProcess, opens: Open
) -> None:
    here, there = opens(shared), opens(shared)
    player = pid()
    sid = await begin(here.store, player)
    guests = [await Guest.join(house, sid, player) for house in (here, there)]
    for base in range(20):
        action = "draw" if base % 2 == 0 else "undo"
        answers = await asyncio.gather(*(guest.act(action, base=base) for guest in guests))
        assert sorted(answers, key=str) == [base + 1, "stale"]
    assert len(await logged(here.store, sid)) == 20


async def test_an_action_sent_to_one_node_and_again_to_another_is_done_once(
    shared: StoreProcess, opens: Open
) -> None:
    here, there = opens(shared), opens(shared)
    player = pid()
    sid = await begin(here.store, player)
    guests = [await Guest.join(house, sid, player) for house in (here, there)]
    for ref in range(1, 21):
        first, second = (guest.send("draw", base=ref - 1, ref=ref) for guest in guests)
        assert first == second
        assert [await guest.answer(ref) for guest in guests] == [ref, ref]
    assert [deed.ref for deed in await logged(here.store, sid)] == list(range(1, 21))


async def test_viewers_on_all_nodes_see_names_and_games(shared: StoreProcess, opens: Open) -> None:
    here, there = opens(shared), opens(shared)
    guest = await game(here)
    stranger = await Guest.join(there, guest.room.sid)
    await guest.act("draw")
    await stranger.at(1)
    # the other node listens: it has just heard something
    await here.rename(guest.player, "Åse")
    for each in (guest, stranger):
        await each.outlet.until(lambda each=each: each.table.names == ["Åse"])  # type: ignore[misc]


async def test_who_changes_nodes_resumes_with_what_was_missed(shared: StoreProcess, opens: Open) -> None:
    here, there = opens(shared), opens(shared)
    guest = await game(here)
    stranger = await Guest.join(there, guest.room.sid)
    await guest.act("draw")
    held = guest.leave()
    await stranger.at(1)
    back = await Guest.join(there, guest.room.sid, guest.player, holding=held)
    assert await back.act("draw", base=1) == 2
    assert back.outlet.kinds()[0] == wire.RESUMED


class Deaf(Room):
    __slots__ = ()

    def hear(self, news: News) -> None:
        pass


async def deaf(house: House, sid: str) -> Guest:
    """A spectator on a node that hears nothing of what others do there."""
    guest = await Guest.join(house, sid)
    guest.room.__class__ = Deaf
    return guest


async def test_who_has_seen_more_than_a_node_has_heard_of_is_not_put_back_there(
    shared: StoreProcess, opens: Open
) -> None:
    here, there = opens(shared), opens(shared)
    guest = await game(here)
    behind = await deaf(there, guest.room.sid)
    refs = [guest.send("draw") for _ in range(3)]
    assert await guest.answer(refs[-1]) == 3
    assert behind.room.version == 0
    moved = await Guest.join(there, guest.room.sid, guest.player, holding=guest.leave())
    assert moved.outlet.kinds()[0] == wire.RESUMED
    assert moved.table.version == behind.table.version == 3
    # what was done elsewhere is known here, so that the next action can build on it
    assert await moved.act("draw", base=-refs[-1]) == 4


async def test_who_claims_to_have_seen_what_there_is_not_gets_a_snapshot(house: House) -> None:
    guest = await game(house)
    await guest.act("draw")
    held = guest.leave()
    for epoch, version in ((held.epoch, 1_000_000), (held.epoch + 1, 1)):
        room = await house.enter(guest.room.sid, guest.player, epoch, version)
        room.attach(guest.viewer, epoch, version)
        assert guest.outlet.messages[-2][0] == wire.SNAPSHOT
        assert guest.table.version == 1
        guest.leave()


async def test_who_has_seen_more_learns_that_the_store_is_away_and_comes_in_when_it_is_back(
    own: StoreProcess, opens: Open
) -> None:
    here, there = opens(own), opens(own, timeout_s=SHORT_S)
    guest = await game(here)
    behind = await deaf(there, guest.room.sid)
    assert await guest.act("draw") == 1
    held = guest.leave()
    own.freeze()
    with pytest.raises(Away):
        await there.enter(guest.room.sid, guest.player, held.epoch, held.version)
    assert behind.outlet.store == [False]
    own.thaw()
    moved = await Guest.join(there, guest.room.sid, guest.player, holding=held)
    assert moved.table.version == 1
    await behind.outlet.until(lambda: behind.outlet.store == [False, True])


async def test_a_node_that_was_struck_off_before_it_listened_reads_on(
    shared: StoreProcess, opens: Open, connect: Connect
) -> None:
    """A node opens a session before it has begun to listen, and another one commits meanwhile."""
    there = opens(shared)
    guest = await game(there)

    class Early(Store):
        opened_s: asyncio.Event
        goes_on: asyncio.Event

        async def open(self, sid: str, version: int = 0, stored_ms: int = 0) -> Opened | None:
            found = await super().open(sid, version, stored_ms)
            if not self.opened_s.is_set():
                self.opened_s.set()
                await self.goes_on.wait()
            return found

    store = Early(shared.url, timeout_s=20.0)
    store.opened_s, store.goes_on = asyncio.Event(), asyncio.Event()
    here = House(store)
    joining = asyncio.ensure_future(Guest.join(here, guest.room.sid))
    await store.opened_s.wait()
    await guest.act("draw")  # nobody listens there: the node is struck off
    here.start()

    async def listening() -> bool:
        (subscribed,) = await store.redis.pubsub_numsub(keys.node(store.node))
        return bool(subscribed[1])

    await until(listening)
    await heard_of_everything(here, there)
    store.goes_on.set()
    stranger = await joining
    await stranger.at(1)
    await guest.act("draw")
    await stranger.at(2)
    await here.aclose()
    await store.aclose()


async def heard_of_everything(here: House, there: House) -> None:
    """Returns when `here` has heard what was said before: a name of somebody at a table comes through."""
    player = pid()
    sid = await begin(there.store, player)
    stranger = await Guest.join(here, sid)
    await there.rename(player, "done")
    await stranger.outlet.until(lambda: stranger.table.names == ["done"])
    stranger.leave()


async def test_a_name_that_changed_while_a_node_did_not_listen_is_shown_there_when_it_listens_again(
    own: StoreProcess, opens: Open
) -> None:
    here, there = opens(own), opens(own)
    guest = await game(here)
    stranger = await Guest.join(there, guest.room.sid)
    await guest.act("draw")
    await stranger.at(1)
    await cut_off(here.store, there)
    await here.rename(guest.player, "Åse")
    await stranger.outlet.until(lambda: stranger.table.names == ["Åse"])


async def cut_off(store: Store, house: House) -> None:
    """Ends the connection on which `house` listens."""
    for connection in await store.redis.client_list(_type="pubsub"):
        await store.redis.client_kill_filter(_id=connection["id"])


async def test_what_was_stored_while_a_node_was_cut_off_is_shown_there(
    own: StoreProcess, opens: Open
) -> None:
    here, there = opens(own), opens(own)
    guest = await game(here)
    stranger = await Guest.join(there, guest.room.sid)
    for version in range(1, 11):
        await cut_off(here.store, there)
        assert await guest.act("draw") == version
    await stranger.at(10)
    assert stranger.table.view == guest.table.view


# -- any order of things

STEPS = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.sampled_from(["act", "act", "act", "based", "again", "leave", "come", "clog", "drain", "wait"]),
        st.integers(0, 9),
    ),
    max_size=40,
)


def some_action(number: int, version: int) -> tuple[Any, ...]:
    """Moves that are often legal, and some that never are."""
    if number == 0:
        return ("undo",)
    if number == 1:
        return ("pair", 24, 25)
    if number == 2:
        return ("recycle",)
    if number < 6:
        return ("draw",)
    return WINNING[min(version, len(WINNING) - 1)]


@EXAMPLES
@given(STEPS)
@example([(0, "act", 3), (2, "clog", 0), (0, "act", 3), (1, "act", 3), (2, "leave", 0), (2, "come", 0)])
async def test_after_any_sequence_of_diffs_a_client_sees_what_a_fresh_snapshot_shows(
    shared: StoreProcess, opens: Open, steps: list[tuple[int, str, int]]
) -> None:
    """Four viewers on two nodes act, leave, come back with what they hold, do not read, send again."""
    async with contextlib.AsyncExitStack() as stack:
        houses = []
        for _ in range(2):
            store = Store(shared.url, timeout_s=20.0)
            stack.push_async_callback(store.aclose)
            house = House(store)
            house.start()
            stack.push_async_callback(house.aclose)
            houses.append(house)
        player = pid()
        sid = await begin(houses[0].store, player)
        who = [player, player, pid(), player]
        guests = [await Guest.join(houses[i % 2], sid, who[i]) for i in range(4)]
        away: dict[int, Any] = {}
        sent: list[tuple[Guest, int]] = []
        for index, step, number in steps:
            guest = guests[index]
            if step == "come" and index in away:
                # over the other node, with what it held
                guests[index] = await Guest.join(houses[number % 2], sid, who[index], holding=away.pop(index))
            elif index in away:
                continue
            elif step in ("act", "based"):
                base = guest.table.version if step == "based" else None
                action = some_action(number, guest.table.version)
                sent.append((guest, guest.send(*action, base=base)))
            elif step == "again" and sent:
                _, ref = sent[number % len(sent)]
                if who[index] == player:
                    sent.append((guest, guest.send("draw", ref=ref)))
            elif step == "leave":
                away[index] = guest.leave()
            elif step == "clog":
                guest.clog()
            elif step == "drain":
                guest.drain()
            elif step == "wait":
                await asyncio.sleep(0)
        for guest in guests:
            guest.drain()
        for index, table in away.items():
            guests[index] = await Guest.join(houses[0], sid, who[index], holding=table)
        for house in houses:
            await until(lambda house=house: nothing_under_way(house, sid))  # type: ignore[misc]
        deeds = await logged(houses[0].store, sid)
        assert len({deed.ref for deed in deeds}) == len(deeds), "an action was done twice"
        for guest in guests:
            await guest.at(len(deeds))
            assert guest.table.view == guest.fresh()
            assert guest.table.view == guests[0].table.view
        acknowledged = {
            (guest.player, ref, answer)
            for guest, _ in sent
            for ref, answer in guest.outlet.answers.items()
            if isinstance(answer, int)
        }
        for _, ref, version in acknowledged:
            assert deeds[version - 1].ref == ref


async def nothing_under_way(house: House, sid: str) -> bool:
    room = house.rooms[sid]
    return not room._busy and not room._queue


@EXAMPLES
@given(st.permutations(range(26)), st.integers(0, 10), st.integers(0, 3))
async def test_no_frame_depends_on_cards_that_its_viewer_may_not_see(
    shared: StoreProcess, order: list[int], turned: int, refused: int
) -> None:
    """The cards of the stock that were not turned are shuffled: everybody gets the same frames."""
    deal = GAME.deal({"code": CODE}, bytes(32)).deal
    hidden = [25 + place for place in order if place >= turned]
    other = (*deal[: 25 + turned], *(deal[place] for place in hidden), *deal[51:])
    assert sorted(other) == sorted(deal)
    async with contextlib.AsyncExitStack() as stack:
        store = Store(shared.url, timeout_s=20.0)
        stack.push_async_callback(store.aclose)
        house = House(store)
        house.start()
        stack.push_async_callback(house.aclose)
        seen = [await frames(house, each, turned, refused) for each in (deal, other)]
    assert seen[0] == seen[1]


async def frames(house: House, deal: tuple[int, ...], turned: int, refused: int) -> list[Any]:
    """All that a player and a spectator are sent while so many cards are turned, without what is chance."""
    player = pid()
    sid = await begin(house.store, player, deal=deal)
    guests = [await Guest.join(house, sid, player), await Guest.join(house, sid)]
    ref = 0
    for _ in range(turned):
        ref += 1
        assert await guests[0].act("draw", ref=ref) == ref
    for action in [("recycle",), ("pair", 24, 25), ("pair", 25, 25)][:refused]:
        ref += 1
        assert isinstance(await guests[0].act(*action, ref=ref), str)
    guests.append(await Guest.join(house, sid))
    await guests[1].at(turned)
    found = []
    for guest in guests:
        for message in guest.outlet.messages:
            if message[0] == wire.SNAPSHOT:
                message = [wire.SNAPSHOT, None, message[2], None, *message[4:7], message[7][1]]
            elif message[0] == wire.CLOCK:
                message = [wire.CLOCK, None, message[2]]
            if message[0] != wire.TABLE:  # these come when they come
                found.append(message)
    return found


# -- a store that goes away, and one that loses things


async def in_doubt(
    own: StoreProcess, opens: Open, harm: Callable[[], None], heal: Callable[[], None]
) -> None:
    """Many sessions have an action under way when the store is harmed; it is healed when all know it."""
    house = opens(own, SHORT_S)
    guests = [await game(house) for _ in range(20)]
    strangers = [await Guest.join(house, guest.room.sid) for guest in guests]
    for round_ in range(2):
        refs = [guest.send("draw", base=2 * round_) for guest in guests]
        harm()
        late = [guest.send("draw", base=2 * round_ + 1) for guest in guests]
        for each in (*guests, *strangers):
            await each.outlet.until(lambda each=each: each.outlet.store[-1:] == [False])  # type: ignore[misc]
        heal()
        for guest, ref, after in zip(guests, refs, late, strict=True):
            assert await guest.answer(ref) == 2 * round_ + 1
            assert await guest.answer(after) == 2 * round_ + 2
        for each in (*guests, *strangers):
            await each.outlet.until(lambda each=each: each.outlet.store[-1:] == [True])  # type: ignore[misc]
            await each.at(2 * round_ + 2)
            assert each.outlet.store == [False, True] * (round_ + 1)
    for guest in guests:
        deeds = await logged(house.store, guest.room.sid)
        assert [deed.ref for deed in deeds] == guest.outlet.answered
        assert len(deeds) == 4


async def test_an_action_under_way_when_the_store_stops_answering_is_done_once(
    own: StoreProcess, opens: Open
) -> None:
    await in_doubt(own, opens, own.freeze, own.thaw)


async def test_an_action_under_way_when_the_store_is_killed_is_done_once(
    own: StoreProcess, opens: Open
) -> None:
    await in_doubt(own, opens, own.kill, own.start)


async def test_an_acknowledged_action_survives_the_store_s_death(own: StoreProcess, opens: Open) -> None:
    house = opens(own)
    guest = await game(house)
    for version in range(1, 21):
        assert await guest.act("draw") == version
        if version % 5 == 0:
            own.kill()
            own.start()
            assert len(await logged_when_there(house.store, guest.room.sid)) == version
    assert guest.table.view == guest.fresh()


async def logged_when_there(store: Store, sid: str) -> list[Deed]:
    found: list[Deed] = []

    async def there() -> bool:
        nonlocal found
        found = await logged(store, sid)
        return True

    async def patiently() -> bool:
        with contextlib.suppress(wire.Lost, Exception):
            return await there()
        return False

    await until(patiently)
    return found


async def test_what_other_nodes_stored_while_the_store_was_away_for_us_is_seen(
    own: StoreProcess, opens: Open
) -> None:
    here, there = opens(own, SHORT_S), opens(own, SHORT_S)
    guest = await game(here)
    stranger = await Guest.join(there, guest.room.sid)
    own.freeze()
    ref = guest.send("draw")
    await guest.outlet.until(lambda: guest.outlet.store == [False])
    own.thaw()
    assert await guest.answer(ref) == 1
    await stranger.at(1)


async def test_who_comes_while_the_store_is_away_learns_it(own: StoreProcess, opens: Open) -> None:
    house = opens(own, SHORT_S)
    guest = await game(house)
    own.freeze()
    guest.send("draw")
    await guest.outlet.until(lambda: guest.outlet.store == [False])
    other = await Guest.join(house, guest.room.sid)
    assert other.outlet.store == [False]
    own.thaw()
    await other.at(1)
    await other.outlet.until(lambda: other.outlet.store == [False, True])


async def test_who_is_in_a_session_that_cannot_be_read_on_is_told(house: House) -> None:
    guest = await game(house)
    looking = await Guest.join(house, guest.room.sid)
    await house.store.redis.rpush(keys.log(guest.room.sid), "garbage")
    with capture_logs() as logs:
        assert await guest.act("draw") == "unreadable"
        for each in (guest, looking):
            await each.outlet.until(lambda each=each: each.outlet.errors == ["unreadable"])  # type: ignore[misc]
        with pytest.raises(Refused, match=r"^unreadable$"):
            await house.open(guest.room.sid)
    assert [line["event"] for line in logs] == ["session cannot be read"]


async def test_a_table_that_cannot_be_read_is_no_obstacle_to_who_wants_any(
    shared: StoreProcess, opens: Open
) -> None:
    here, there = opens(shared), opens(shared)

    def waits(sid: str) -> Callable[[], Awaitable[bool]]:
        async def ask() -> bool:
            return sid in await here.store.waiting("hearts")

        return ask

    broken = await here.quick(pid(), "hearts")
    await until(waits(broken))
    await here.store.redis.rpush(keys.log(broken), "garbage")
    made = await there.quick(pid(), "hearts")
    assert made != broken
    await until(waits(made))
    assert not await waits(broken)()
    assert await there.quick(pid(), "hearts") == made


async def test_a_session_that_expired_is_no_session(house: House) -> None:
    guest = await game(house)
    stranger = await Guest.join(house, guest.room.sid)
    await guest.act("draw")
    await house.store.redis.delete(keys.session(guest.room.sid), keys.log(guest.room.sid))
    refs = [guest.send("draw"), guest.send("draw")]
    assert [await guest.answer(ref) for ref in refs] == ["no_session", "no_session"]
    for each in (guest, stranger):
        assert each.outlet.errors[:1] == ["no_session"]
    assert await guest.act("draw") == "no_session"
    with pytest.raises(Refused, match=r"^no_session$"):
        await house.open(guest.room.sid)


async def lose(store: Store, sid: str, count: int) -> None:
    """Takes the last entries of a log away, as a failover to a replica that was behind does."""
    await store.redis.rpop(keys.log(sid), count)


@pytest.mark.parametrize("base", [None, 5])
async def test_a_log_that_lost_entries_gets_a_new_epoch_and_everybody_a_snapshot(
    shared: StoreProcess, opens: Open, base: int | None
) -> None:
    here, there = opens(shared), opens(shared)
    guest = await game(here)
    stranger = await Guest.join(there, guest.room.sid)
    for _ in range(5):
        await guest.act("draw")
    await stranger.at(5)
    epoch = guest.table.epoch
    await lose(here.store, guest.room.sid, 2)
    answer = await guest.act("draw", base=base)
    assert answer == (4 if base is None else "stale")
    assert guest.table.epoch != epoch
    if base is not None:
        assert guest.table.version == 3
        assert await guest.act("draw", base=3) == 4
    await stranger.at(4)
    assert stranger.table.epoch == guest.table.epoch
    assert stranger.table.view == guest.table.view == guest.fresh()
    # an action that was lost may be sent again with its id
    lost = guest.outlet.answered[4]
    guest.outlet.answers.clear()
    assert await guest.act("draw", ref=lost) == 5


async def test_who_holds_what_was_lost_gets_a_snapshot(house: House) -> None:
    guest = await game(house)
    stranger = await Guest.join(house, guest.room.sid)
    for _ in range(5):
        await guest.act("draw")
    await stranger.at(5)
    held = stranger.leave()
    await lose(house.store, guest.room.sid, 2)
    assert await guest.act("draw") == 4
    assert await guest.act("draw") == 5
    back = await Guest.join(house, guest.room.sid, holding=held)
    assert back.outlet.kinds()[0] == wire.SNAPSHOT
    assert back.table.view == guest.table.view


async def refill(store: Store, sid: str, count: int) -> None:
    """Takes the last entries of a log away, and another node, which never saw them, stores as many others."""
    await lose(store, sid, count)
    opened = await store.open(sid)
    assert opened is not None
    stored_ms = opened.entries[-1].at_ms
    for version in range(opened.version, opened.version + count):
        # a failover takes longer than a millisecond
        await until(lambda after=stored_ms: later(store, after))  # type: ignore[misc]
        commit = Commit(sid, opened.record.epoch, version, pack(Deed(0, version + 1, ("draw",))), 0)
        ((result, stored_ms),) = await store.commit([commit])
        assert result == STORED


async def later(store: Store, than_ms: int) -> bool:
    return await store.time_ms() > than_ms


async def test_a_log_that_lost_entries_and_was_refilled_to_its_old_length_is_not_taken_for_the_old_one(
    shared: StoreProcess, opens: Open, connect: Connect
) -> None:
    here, there = opens(shared), opens(shared)
    guest = await game(here)
    stranger = await Guest.join(there, guest.room.sid)
    for _ in range(5):
        await guest.act("draw")
    await stranger.at(5)
    epoch = guest.table.epoch
    lost = guest.outlet.answered[3]
    async with quiet(here, there, guest.room.sid):
        await refill(connect(shared), guest.room.sid, 2)
    assert await guest.act("draw") == 6
    guest.outlet.answers.clear()
    assert await guest.act("draw", ref=lost) == 7, "what was lost may be done again"
    assert guest.table.epoch != epoch
    await stranger.at(7)
    assert stranger.table.epoch == guest.table.epoch
    assert stranger.table.view == guest.table.view == guest.fresh()


@contextlib.asynccontextmanager
async def quiet(here: House, there: House, sid: str) -> AsyncIterator[None]:
    """Neither node hears of what is stored meanwhile: a failover costs them their connections."""
    for house in (here, there):
        await house.store.close(sid)
    yield
    for house in (here, there):
        await house.store.open(sid)


async def test_news_of_a_refilled_log_does_not_follow_what_was_lost(
    shared: StoreProcess, opens: Open, connect: Connect
) -> None:
    """All that this node hears is the next version, of a log that is no more the one it knows."""
    house, store = opens(shared), connect(shared)
    guest = await game(house)
    for _ in range(5):
        await guest.act("draw")
    epoch = guest.table.epoch
    async with quiet(house, house, guest.room.sid):
        await refill(store, guest.room.sid, 2)
    ((result, _),) = await store.commit([Commit(guest.room.sid, epoch, 5, pack(Deed(0, 99, ("draw",))), 0)])
    assert result == STORED
    await guest.outlet.until(lambda: guest.table.epoch != epoch)
    assert guest.table.version == 6
    assert guest.table.view == guest.fresh()
    assert await guest.act("draw") == 7


async def test_news_of_a_version_that_is_known_otherwise_is_no_repetition(
    shared: StoreProcess, opens: Open, connect: Connect
) -> None:
    house, store = opens(shared), connect(shared)
    guest = await game(house)
    for _ in range(5):
        await guest.act("draw")
    epoch = guest.table.epoch
    await refill(store, guest.room.sid, 1)
    await guest.outlet.until(lambda: guest.table.epoch != epoch)
    assert guest.table.version == 5
    assert guest.table.view == guest.fresh()


async def test_a_node_that_looks_again_at_a_refilled_log_sees_it(
    shared: StoreProcess, opens: Open, connect: Connect
) -> None:
    house = opens(shared)
    guest = await game(house)
    for _ in range(5):
        await guest.act("draw")
    epoch = guest.table.epoch
    async with quiet(house, house, guest.room.sid):
        await refill(connect(shared), guest.room.sid, 1)
    guest.room.look_again()
    await guest.outlet.until(lambda: guest.table.epoch != epoch)
    assert guest.table.version == 5


async def test_news_that_outruns_the_log_is_no_loss(
    shared: StoreProcess, opens: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the log is read other nodes go on: what is heard meanwhile is newer than what was read."""
    # A node whose lease ends hears nothing until it has read on, which it cannot here.
    monkeypatch.setattr(Store, "LEASE_MS", 600_000)

    class Slow(Store):
        late: asyncio.Event | None = None

        async def open(self, sid: str, version: int = 0, stored_ms: int = 0) -> Opened | None:
            found = await super().open(sid, version, stored_ms)
            if self.late is not None:
                await self.late.wait()
            return found

    there = opens(shared)
    guest = await game(there)
    store = Slow(shared.url, timeout_s=20.0)
    here = House(store)
    here.start()
    stranger = await Guest.join(here, guest.room.sid)
    await guest.act("draw")
    await stranger.at(1)
    epoch = stranger.table.epoch
    store.late = asyncio.Event()
    stranger.room.look_again()
    await guest.act("draw")
    await stranger.at(2)
    store.late.set()
    await until(lambda: nothing_under_way(here, guest.room.sid))
    await guest.act("draw")
    await stranger.at(3)
    assert stranger.table.epoch == epoch
    await here.aclose()
    await store.aclose()


async def test_what_follows_a_game_s_end_is_done_when_the_store_is_back(house: House) -> None:
    """It was left undone until somebody opened the session again."""
    told: list[str] = []

    async def follow(room: Room) -> None:
        told.append(room.sid)
        if len(told) < 3:
            raise Away

    house.when_over.append(follow)
    player = pid()
    guest = await Guest.join(house, await begin(house.store, player), player)
    for action in WINNING:
        await guest.act(*action)
    await until(unlisted(house.store, player, guest.room.sid))
    assert told == [guest.room.sid] * 3


# -- who is told that the store is away


def idle(house: House) -> Outlet:
    """Somebody who is connected and looks at no session."""
    outlet = Outlet()
    house.lobby.add(Viewer(outlet, pid()))
    return outlet


async def all_are_told(
    own: StoreProcess, opens: Open, harm: Callable[[], None], heal: Callable[[], None]
) -> None:
    """Nothing is under way anywhere when the store is harmed."""
    here, there = opens(own), opens(own)
    guest = await game(here)
    watcher = await Guest.join(there, guest.room.sid)
    outlets = [guest.outlet, watcher.outlet, idle(here), idle(there)]
    for round_ in range(2):
        harm()
        for outlet in outlets:
            await outlet.until(lambda outlet=outlet: outlet.store[-1:] == [False])  # type: ignore[misc]
        assert not await here.ready(PATIENCE_S)
        heal()
        for outlet in outlets:
            await outlet.until(lambda outlet=outlet: outlet.store[-1:] == [True])  # type: ignore[misc]
            assert outlet.store == [False, True] * (round_ + 1)
        assert await here.ready(PATIENCE_S)
    assert await guest.act("draw") == 1
    await watcher.at(1)


async def test_all_are_told_of_a_store_that_was_killed_though_nobody_wanted_anything_of_it(
    own: StoreProcess, opens: Open
) -> None:
    await all_are_told(own, opens, own.kill, own.start)


async def test_all_are_told_of_a_store_that_stands_still_though_nobody_wanted_anything_of_it(
    own: StoreProcess, opens: Open
) -> None:
    await all_are_told(own, opens, own.freeze, own.thaw)


async def test_who_acts_learns_that_the_store_stands_still_before_it_is_given_up(
    own: StoreProcess, opens: Open
) -> None:
    house = opens(own, timeout_s=10 * PATIENCE_S)  # so long an answer to the action is waited for
    guest = await game(house)
    own.freeze()
    ref = guest.send("draw")
    await guest.outlet.until(lambda: guest.outlet.store == [False])
    own.thaw()
    assert await guest.answer(ref) == 1
    await guest.outlet.until(lambda: guest.outlet.store == [False, True])


async def test_who_comes_to_a_room_while_the_store_is_away_learns_it_though_nothing_is_under_way(
    own: StoreProcess, opens: Open
) -> None:
    house = opens(own)
    guest = await game(house)
    own.freeze()
    await guest.outlet.until(lambda: guest.outlet.store == [False])
    other = await Guest.join(house, guest.room.sid)
    assert other.outlet.store == [False]
    own.thaw()
    await other.outlet.until(lambda: other.outlet.store == [False, True])


async def test_a_room_that_is_unsettled_stays_told_when_the_store_is_back(house: House) -> None:
    guest, other = await game(house), await game(house)
    failures: dict[Any, Exception] = {None: ConnectionError("of this test")}

    async def found() -> dict[Any, Exception]:
        return failures

    house.store.failures = found  # type: ignore[method-assign]
    for each in (guest, other):
        await each.outlet.until(lambda each=each: each.outlet.store == [False])  # type: ignore[misc]
    guest.room.unsettled(Away("the log was not read"))
    failures.clear()
    await other.outlet.until(lambda: other.outlet.store == [False, True])
    assert guest.outlet.store == [False]
    guest.room.settled()
    assert guest.outlet.store == [False, True]


async def test_a_viewer_that_reads_nothing_is_told_all_the_same_and_no_banner_stays(
    own: StoreProcess, opens: Open
) -> None:
    house = opens(own)
    guest = await game(house)
    guest.clog()
    await Guest.join(house, guest.room.sid)
    own.kill()
    await guest.outlet.until(lambda: guest.outlet.store == [False])
    own.start()
    await guest.outlet.until(lambda: guest.outlet.store == [False, True])
    guest.drain()
