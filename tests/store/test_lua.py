"""The contract of each script in lua/, as its head states it, against each kind of server."""

from __future__ import annotations

import re
import secrets
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from redis.asyncio import Redis
from redis.asyncio.client import PubSub

from heartroom.store import keys
from heartroom.store.store import LUA
from tests.support.stores import StoreProcess

EPOCH = "7"
STORED, CONFLICT, GONE = 0, 1, 2


class Bench:
    """A Redis and the scripts, called as they are written down."""

    def __init__(self, redis: Redis) -> None:
        self.redis = redis

    async def run(self, script: str, sid: str | list[str], *args: Any) -> Any:
        names = [sid] if isinstance(sid, str) else sid
        both = [key for name in names for key in (keys.session(name), keys.log(name))]
        if script == "close":
            both = both[:1]
        return await self.redis.eval((LUA / f"{script}.lua").read_text(), len(both), *both, *args)

    async def session(self, *entries: bytes, nodes: str = "") -> str:
        """A stored session, as little of it as the scripts look at."""
        sid = secrets.token_urlsafe(9)
        await self.redis.hset(keys.session(sid), mapping={"epoch": EPOCH, "nodes": nodes, "game": "g"})
        if entries:
            await self.redis.rpush(keys.log(sid), *entries)
        return sid

    async def log(self, sid: str) -> list[bytes]:
        found: Any = await self.redis.lrange(keys.log(sid), 0, -1)
        return list(found)

    async def nodes(self, sid: str) -> str:
        found: Any = await self.redis.hget(keys.session(sid), "nodes")
        return str(found.decode())

    async def now_ms(self) -> int:
        seconds, micros = await self.redis.time()
        return seconds * 1000 + micros // 1000

    async def listen(self, node: str) -> Ear:
        ear = Ear(self.redis, node)
        await ear.begin()
        return ear


class Ear:
    """A node that listens."""

    def __init__(self, redis: Redis, node: str) -> None:
        self._redis = redis
        self._node = node
        self._pubsub: PubSub = redis.pubsub()

    async def begin(self) -> None:
        await self._pubsub.subscribe(keys.node(self._node))
        await self._pubsub.get_message(timeout=None)

    async def heard(self) -> list[bytes]:
        """All that was said so far: what stands before a last word of our own."""
        await self._redis.publish(keys.node(self._node), "that was all")
        said: list[bytes] = []
        while (message := await self._pubsub.get_message(timeout=None))["data"] != b"that was all":
            said.append(message["data"])
        return said

    async def stop(self) -> None:
        await self._pubsub.aclose()  # type: ignore[no-untyped-call]


@pytest_asyncio.fixture
async def bench(shared: StoreProcess) -> AsyncIterator[Bench]:
    redis = Redis.from_url(shared.url, protocol=2)
    yield Bench(redis)
    await redis.aclose()


@pytest.fixture
def node() -> str:
    """A node's id that no other test uses."""
    return secrets.token_hex(4)


def fresh_node() -> str:
    return secrets.token_hex(4)


# -- commit


async def test_commit_appends_the_entry_after_the_time_of_the_store(bench: Bench, node: str) -> None:
    sid = await bench.session()
    before = await bench.now_ms()
    now, result = await bench.run("commit", sid, node, "", EPOCH, 0, 0, b"draw", 0)
    after = await bench.now_ms()
    assert result == STORED
    assert before <= now <= after
    assert await bench.log(sid) == [f"{now}draw".encode()]


async def test_commit_takes_any_bytes_as_an_entry(bench: Bench, node: str) -> None:
    body = bytes(range(256)) + b" {}\r\n%s"
    sid = await bench.session()
    await bench.run("commit", sid, node, "", EPOCH, 0, 0, body, 0)
    assert (await bench.log(sid))[0][13:] == body


async def test_commit_follows_the_version_it_was_meant_for(bench: Bench, node: str) -> None:
    sid = await bench.session(b"1", b"2")
    assert (await bench.run("commit", sid, node, "", EPOCH, 2, 0, b"3", 0))[1:] == [STORED]
    assert len(await bench.log(sid)) == 3


@pytest.mark.parametrize("version", [0, 1, 3, 2**40])
async def test_commit_refuses_another_version_and_changes_nothing(
    bench: Bench, node: str, version: int
) -> None:
    sid = await bench.session(b"1", b"2")
    assert (await bench.run("commit", sid, node, "", EPOCH, version, 0, b"x", 99))[1:] == [CONFLICT]
    assert await bench.log(sid) == [b"1", b"2"]
    assert await bench.redis.ttl(keys.session(sid)) == -1


@pytest.mark.parametrize("epoch", ["8", "", "07", "7.0"])
async def test_commit_refuses_another_epoch_and_changes_nothing(bench: Bench, node: str, epoch: str) -> None:
    sid = await bench.session()
    assert (await bench.run("commit", sid, node, "", epoch, 0, 0, b"x", 0))[1:] == [CONFLICT]
    assert await bench.log(sid) == []


async def test_commit_follows_the_entry_that_it_was_meant_for(bench: Bench, node: str) -> None:
    sid = await bench.session(b"1000000000001a", b"1000000000002b")
    for before in (1000000000001, 1000000000003, 1):
        assert (await bench.run("commit", sid, node, "", EPOCH, 2, before, b"x", 9))[1:] == [CONFLICT]
    for version in (1, 3):
        assert (await bench.run("commit", sid, node, "", EPOCH, version, 1000000000002, b"x", 9))[1:] == [
            CONFLICT
        ]
    assert len(await bench.log(sid)) == 2
    now, result = await bench.run("commit", sid, node, "", EPOCH, 2, 1000000000002, b"x", 9)
    assert result == STORED
    assert (await bench.run("commit", sid, node, "", EPOCH, 3, now, b"y", 9))[1:] == [STORED]
    assert [entry[13:] for entry in await bench.log(sid)] == [b"a", b"b", b"x", b"y"]


async def test_commit_tells_entries_of_one_millisecond_apart_by_the_length(bench: Bench, node: str) -> None:
    entries = [b"1000000000001a", b"1000000000001b", b"1000000000001c"]
    sid = await bench.session(*entries)
    for version in (1, 2, 4):
        assert (await bench.run("commit", sid, node, "", EPOCH, version, 1000000000001, b"x", 9))[1:] == [
            CONFLICT
        ]
    assert await bench.log(sid) == entries
    assert await bench.redis.ttl(keys.session(sid)) == -1
    assert (await bench.run("commit", sid, node, "", EPOCH, 3, 1000000000001, b"x", 9))[1:] == [STORED]


async def test_commit_after_an_entry_of_a_log_that_is_gone_makes_none(bench: Bench, node: str) -> None:
    sid = await bench.session()
    assert (await bench.run("commit", sid, node, "", EPOCH, 1, 1000000000001, b"x", 9))[1:] == [CONFLICT]
    assert not await bench.redis.exists(keys.log(sid))


async def test_commit_to_a_session_that_is_gone_leaves_no_log_behind(bench: Bench, node: str) -> None:
    sid = secrets.token_urlsafe(9)
    assert (await bench.run("commit", sid, node, "", EPOCH, 0, 0, b"x", 99))[1:] == [GONE]
    assert not await bench.redis.exists(keys.session(sid), keys.log(sid))


async def test_commit_judges_each_of_a_batch_by_itself(bench: Bench, node: str) -> None:
    good, late, broken, last = [await bench.session(b"1") for _ in range(4)]
    gone = secrets.token_urlsafe(9)
    now, *results = await bench.run(
        "commit",
        [good, late, gone, broken, last],
        node,
        "",
        *(EPOCH, 1, 0, b"good", 0),
        *(EPOCH, 0, 0, b"late", 0),
        *(EPOCH, 1, 0, b"gone", 0),
        *("8", 1, 0, b"broken", 0),
        *(EPOCH, 1, 0, b"last", 0),
    )
    assert results == [STORED, CONFLICT, GONE, CONFLICT, STORED]
    assert await bench.log(good) == [b"1", f"{now}good".encode()]
    assert await bench.log(last) == [b"1", f"{now}last".encode()]
    assert await bench.log(late) == await bench.log(broken) == [b"1"]


async def test_commit_of_two_entries_to_one_session_at_one_version_stores_the_first(
    bench: Bench, node: str
) -> None:
    sid = await bench.session()
    _, *results = await bench.run(
        "commit", [sid, sid], node, "", *(EPOCH, 0, 0, b"first", 0), *(EPOCH, 0, 0, b"second", 0)
    )
    assert results == [STORED, CONFLICT]
    assert [entry[13:] for entry in await bench.log(sid)] == [b"first"]


async def test_commit_sets_how_long_a_session_and_its_log_live(bench: Bench, node: str) -> None:
    sid = await bench.session()
    await bench.run("commit", sid, node, "", EPOCH, 0, 0, b"x", 5000)
    for key in (keys.session(sid), keys.log(sid)):
        assert 4900 < await bench.redis.ttl(key) <= 5000


async def test_commit_leaves_a_session_s_life_as_it_is_if_told_0(bench: Bench, node: str) -> None:
    sid = await bench.session(b"1")
    await bench.redis.expire(keys.session(sid), 5000)
    await bench.redis.expire(keys.log(sid), 5000)
    await bench.run("commit", sid, node, "", EPOCH, 1, 0, b"x", 0)
    for key in (keys.session(sid), keys.log(sid)):
        assert 4900 < await bench.redis.ttl(key) <= 5000


async def test_commit_tells_every_other_node_and_not_its_own(bench: Bench) -> None:
    own, *others = (fresh_node() for _ in range(3))
    sid = await bench.session(b"1", nodes=",".join((others[0], own, others[1])))
    ears = [await bench.listen(name) for name in (own, *others)]
    now, _ = await bench.run("commit", sid, own, "", EPOCH, 1, 0, b"a b c", 0)
    news = f"{sid} {own} {EPOCH} 2 0 {now}a b c".encode()
    assert [await ear.heard() for ear in ears] == [[], [news], [news]]
    for ear in ears:
        await ear.stop()


async def test_commit_that_is_refused_tells_nobody(bench: Bench) -> None:
    own, other = fresh_node(), fresh_node()
    sid = await bench.session(b"1", nodes=f"{own},{other}")
    ear = await bench.listen(other)
    await bench.run("commit", sid, own, "", EPOCH, 0, 0, b"x", 0)
    await bench.run("commit", sid, own, "", "8", 1, 0, b"x", 0)
    assert await ear.heard() == []
    await ear.stop()


async def test_commit_strikes_off_a_node_that_hears_nothing(bench: Bench) -> None:
    own, there, dead = (fresh_node() for _ in range(3))
    sid = await bench.session(nodes=f"{dead},{own},{there}")
    ear = await bench.listen(there)
    await bench.run("commit", sid, own, "", EPOCH, 0, 0, b"x", 0)
    assert await bench.nodes(sid) == f"{own},{there}"
    assert len(await ear.heard()) == 1
    await ear.stop()


async def test_commit_strikes_off_the_last_of_the_others(bench: Bench) -> None:
    sid = await bench.session(nodes=fresh_node())
    await bench.run("commit", sid, fresh_node(), "", EPOCH, 0, 0, b"x", 0)
    assert await bench.nodes(sid) == ""


async def test_commit_keeps_its_own_node_though_nobody_listens_there(bench: Bench, node: str) -> None:
    for nodes in (node, f"{node},{fresh_node()}"):
        sid = await bench.session(nodes=nodes)
        await bench.run("commit", sid, node, "", EPOCH, 0, 0, b"x", 0)
        assert await bench.nodes(sid) == node


# -- open


async def test_open_finds_no_session_and_makes_none(bench: Bench, node: str) -> None:
    sid = secrets.token_urlsafe(9)
    assert await bench.run("open", sid, node, 0, 100, 0) is None
    assert not await bench.redis.exists(keys.session(sid), keys.log(sid))


async def test_open_gives_the_time_the_hash_and_the_log(bench: Bench, node: str) -> None:
    sid = await bench.session(b"1", b"2", b"3")
    before = await bench.now_ms()
    now, flat, length, entries, follows = await bench.run("open", sid, node, 0, 100, 0)
    assert before <= now <= await bench.now_ms()
    assert dict(zip(flat[::2], flat[1::2], strict=True)) == {
        b"epoch": EPOCH.encode(),
        b"nodes": node.encode(),
        b"game": b"g",
    }
    assert (length, follows) == (3, 1)
    assert entries == [b"1", b"2", b"3"]


@pytest.mark.parametrize(("version", "entries"), [(1, [b"2", b"3"]), (3, []), (4, []), (2**40, [])])
async def test_open_gives_what_came_after_a_version(
    bench: Bench, node: str, version: int, entries: list[bytes]
) -> None:
    sid = await bench.session(b"1", b"2", b"3")
    assert (await bench.run("open", sid, node, version, 100, 0))[2:] == [3, entries, int(version <= 3)]


@pytest.mark.parametrize(
    ("version", "stored", "follows"),
    [(0, 7, 1), (1, 1000000000001, 1), (2, 1000000000002, 1), (2, 1000000000001, 0), (3, 1000000000003, 0)],
)
async def test_open_says_whether_the_log_is_the_one_that_the_node_knows(
    bench: Bench, node: str, version: int, stored: int, follows: int
) -> None:
    sid = await bench.session(b"1000000000001a", b"1000000000002b")
    assert (await bench.run("open", sid, node, version, 100, stored))[4] == follows


async def test_open_notes_each_node_once(bench: Bench) -> None:
    sid = await bench.session()
    for node in ("ab", "abc", "b", "ab", "abc", "b"):
        await bench.run("open", sid, node, 0, 100, 0)
    assert await bench.nodes(sid) == "ab,abc,b"


async def test_open_prolongs_a_life_and_never_shortens_it(bench: Bench, node: str) -> None:
    sid = await bench.session(b"1")
    for life in (5000, 9000, 100):
        if life == 5000:
            await bench.redis.expire(keys.session(sid), 10)
            await bench.redis.expire(keys.log(sid), 10)
        await bench.run("open", sid, node, 0, life, 0)
        for key in (keys.session(sid), keys.log(sid)):
            least = 4900 if life == 5000 else 8900
            assert least < await bench.redis.ttl(key) <= least + 100


# -- close


async def test_close_takes_that_node_alone_from_the_list(bench: Bench) -> None:
    sid = await bench.session(nodes="abc,ab,b")
    assert await bench.run("close", sid, "ab") == 1
    assert await bench.nodes(sid) == "abc,b"


async def test_close_of_what_is_not_open_changes_nothing(bench: Bench) -> None:
    sid = await bench.session(nodes="abc")
    assert await bench.run("close", sid, "ab") == 0
    assert await bench.nodes(sid) == "abc"
    gone = secrets.token_urlsafe(9)
    assert await bench.run("close", gone, "ab") == 0
    assert not await bench.redis.exists(keys.session(gone))


async def test_a_closed_session_is_heard_of_no_more(bench: Bench) -> None:
    own, other = fresh_node(), fresh_node()
    sid = await bench.session(nodes=other)
    ear = await bench.listen(other)
    await bench.run("close", sid, other)
    await bench.run("commit", sid, own, "", EPOCH, 0, 0, b"x", 0)
    assert await ear.heard() == []
    await ear.stop()


# -- renew


async def test_renew_takes_a_new_epoch_where_entries_are_missing(bench: Bench) -> None:
    sid = await bench.session(b"1", b"2")
    assert await bench.run("renew", sid, EPOCH, "8", 3, 0) == b"8"
    assert await bench.redis.hget(keys.session(sid), "epoch") == b"8"


@pytest.mark.parametrize("length", [0, 1, 2])
async def test_renew_keeps_the_epoch_where_none_is_missing(bench: Bench, length: int) -> None:
    sid = await bench.session(b"1", b"2")
    assert await bench.run("renew", sid, EPOCH, "8", length, 0) == EPOCH.encode()
    assert await bench.redis.hget(keys.session(sid), "epoch") == EPOCH.encode()


async def test_renew_by_the_second_node_keeps_the_first_one_s_epoch(bench: Bench) -> None:
    sid = await bench.session(b"1", b"2")
    await bench.run("renew", sid, EPOCH, "8", 3, 0)
    assert await bench.run("renew", sid, EPOCH, "9", 3, 0) == b"8"
    assert await bench.redis.hget(keys.session(sid), "epoch") == b"8"


async def test_renew_of_no_session_makes_none(bench: Bench) -> None:
    sid = secrets.token_urlsafe(9)
    assert await bench.run("renew", sid, EPOCH, "8", 3, 0) is None
    assert not await bench.redis.exists(keys.session(sid))


async def test_renew_takes_a_new_epoch_where_another_entry_stands(bench: Bench) -> None:
    sid = await bench.session(b"1000000000001a", b"1000000000002b")
    assert await bench.run("renew", sid, EPOCH, "8", 2, 1000000000002) == EPOCH.encode()
    assert await bench.run("renew", sid, EPOCH, "8", 1, 1000000000001) == EPOCH.encode()
    assert await bench.run("renew", sid, EPOCH, "8", 2, 1000000000001) == b"8"


# -- beat


async def beat(
    bench: Bench, key: str, node: str, how: str, lease_ms: int = 60_000, about: str = "1 0.1.0"
) -> tuple[int, set[str]]:
    source = (LUA / "beat.lua").read_text()
    held, *nodes = await bench.redis.eval(source, 2, key, f"{key}:about", node, lease_ms, how, about)
    return held, {name.decode() for name in nodes}


async def test_beat_tells_whose_leases_hold(bench: Bench) -> None:
    key = fresh_node()
    assert await beat(bench, key, "a", "come") == (0, {"a"})
    assert await beat(bench, key, "b", "come") == (0, {"a", "b"})
    assert await beat(bench, key, "a", "stay") == (1, {"a", "b"})
    assert await beat(bench, key, "b", "go") == (1, {"a"})
    assert await beat(bench, key, "a", "stay") == (1, {"a"})


async def test_beat_strikes_off_a_node_that_says_nothing_and_does_not_let_it_back(bench: Bench) -> None:
    key = fresh_node()
    await beat(bench, key, "a", "come")
    await beat(bench, key, "b", "come")
    await bench.redis.hset(key, "a", await bench.now_ms() - 10_001)
    assert await beat(bench, key, "b", "stay", 10_000) == (1, {"b"})
    assert await beat(bench, key, "a", "stay", 10_000) == (0, {"b"})
    assert await beat(bench, key, "c", "come", 10_000) == (0, {"b", "c"})


async def test_beat_keeps_out_who_comes_with_another_format_while_one_lives(bench: Bench) -> None:
    key = fresh_node()
    old, new = "9 0.1.0", "10 0.2.0"
    assert await beat(bench, key, "a", "look", about=old) == (0, set())
    assert await beat(bench, key, "a", "come", about=old) == (0, {"a"})
    for how in ("look", "come"):
        assert await beat(bench, key, "b", how, about=new) == (-1, {"a 9 0.1.0"})
    assert await beat(bench, key, "c", "come", about="9 0.1.1") == (0, {"a", "c"})
    await bench.redis.hset(key, "a", await bench.now_ms() - 10_001)
    assert await beat(bench, key, "b", "come", 10_000, new) == (-1, {"c 9 0.1.1"})
    assert await bench.redis.hgetall(f"{key}:about") == {b"c": b"9 0.1.1"}
    await beat(bench, key, "c", "go", about="9 0.1.1")
    assert await beat(bench, key, "b", "come", 10_000, new) == (0, {"b"})
    assert await bench.redis.hgetall(f"{key}:about") == {b"b": b"10 0.2.0"}
    assert await beat(bench, key, "b", "stay", 10_000, new) == (1, {"b"})


async def test_beat_lets_in_who_comes_beside_a_node_that_does_not_say_its_format(bench: Bench) -> None:
    key = fresh_node()
    await bench.redis.hset(key, "a", await bench.now_ms())
    assert await beat(bench, key, "b", "come") == (0, {"a", "b"})
    await bench.redis.hdel(key, "b")  # as an earlier version's script does
    assert await beat(bench, key, "c", "come", about="2 0.2.0") == (0, {"a", "c"})


async def test_beat_takes_away_what_is_no_lease_and_no_format(bench: Bench) -> None:
    key = fresh_node()
    now = await bench.now_ms()
    wrong: dict[Any, str | int] = {
        "w": "garbage",
        "x": "",
        "y": "nan",
        "z": "9" * 400,
        b"\xff b": now,
    }
    await bench.redis.hset(key, mapping=wrong | {"a": now})
    await bench.redis.hset(f"{key}:about", mapping={"a": b"\xffgarbage", "w": "9 0.1.0"})
    assert await beat(bench, key, "b", "come") == (0, {"a", "b"})
    assert set(await bench.redis.hkeys(key)) == {b"a", b"b"}
    await bench.redis.set(key, "x")
    await bench.redis.set(f"{key}:about", "x")
    assert await beat(bench, key, "b", "come") == (0, {"b"})
    assert await beat(bench, key, "b", "stay") == (1, {"b"})


# -- live


async def test_live_takes_away_what_nobody_has_said(bench: Bench) -> None:
    key = fresh_node()
    source = (LUA / "live.lua").read_text()
    await bench.redis.hset(key, mapping={"a": "garbage", "b": ""})
    assert await bench.redis.eval(source, 1, key, 1000, "c", "said") == [b"said"]
    assert await bench.redis.hkeys(key) == [b"c"]
    await bench.redis.set(key, "x")
    assert await bench.redis.eval(source, 1, key, 1000, "c", "said") == [b"said"]
    await bench.redis.set(key, "x")
    assert await bench.redis.eval(source, 1, key, 1000, "", "") == []


# -- hold


async def test_hold_is_had_by_one_for_a_while(bench: Bench) -> None:
    key = fresh_node()
    source = (LUA / "hold.lua").read_text()

    async def hold(who: str, how: str, ms: int = 60_000) -> int:
        done: int = await bench.redis.eval(source, 1, key, who, ms, how)
        return done

    assert await hold("a", "keep") == 0
    assert await hold("a", "take") == 1
    assert [await hold("b", how) for how in ("take", "keep", "leave")] == [0, 0, 0]
    assert await hold("a", "keep", 90_000) == 1
    assert 60_000 < await bench.redis.pttl(key) <= 90_000
    assert await hold("a", "leave") == 1
    assert await hold("b", "take") == 1


# -- create


async def test_create_stores_a_session_once(bench: Bench) -> None:
    sid = secrets.token_urlsafe(9)
    source = (LUA / "create.lua").read_text()
    key = keys.session(sid)
    assert await bench.redis.eval(source, 1, key, 100, "game", "g", "owner", "a") == 1
    assert await bench.redis.eval(source, 1, key, 200, "game", "h", "owner", "b", "x", "y") == 0
    assert await bench.redis.hgetall(key) == {b"game": b"g", b"owner": b"a"}
    assert 0 < await bench.redis.ttl(key) <= 100


# -- probe


async def test_probe_writes_what_does_not_stay(bench: Bench) -> None:
    key, log = keys.probe(7), keys.probe_log(7)
    source = (LUA / "probe.lua").read_text()
    assert await bench.redis.eval(source, 2, key, log, 5, keys.node("probe-x"), "") > 0
    assert await bench.redis.exists(log) == 0
    assert 0 < await bench.redis.ttl(key) <= 5


def test_probe_does_all_that_other_scripts_do() -> None:
    done = {
        script.stem: re.findall(r"\bcall\('(\w+)'", script.read_text())
        for script in sorted(LUA.glob("*.lua"))
    }
    tried = done.pop("probe")
    for name, commands in done.items():
        assert set(commands) <= set(tried), name
    # after another one that writes, a server without memory lets it pass
    writing = [command for command in tried if command not in ("TIME", "HMGET")]
    assert writing[0] == "RPUSH"
