"""Lines to real stores, on a wire of ours and through redis-py: what is answered is answered to who asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from redis import Redis as Blocking
from redis import exceptions
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError, ResponseError

from heartroom.store.line import Behind, Line, Replicas
from heartroom.store.wire import Wire
from tests.support.stores import PATIENCE_S, StoreProcess, eventually

ECHO = """
if ARGV[1] == 'fail' then
  return redis.error_reply('EXPECTED it')
end
if ARGV[1] == 'long' then
  return string.rep('x', 3000000)
end
redis.call('RPUSH', KEYS[1], ARGV[1])
return {ARGV[1], redis.call('LLEN', KEYS[1])}
"""


@pytest.fixture(params=["wire", "plain"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How what is asked goes to the store."""
    if request.param == "plain":
        monkeypatch.setattr(Wire, "on", lambda _connection: None)
    return str(request.param)


@pytest_asyncio.fixture
async def redis(own: StoreProcess) -> AsyncIterator[Redis]:
    """A client of the test's own store."""
    async with Redis(unix_socket_path=own.socket, retry=Retry(NoBackoff(), 0)) as client:
        yield client


@pytest.fixture
def line(redis: Redis) -> Line:
    """A line to that store."""
    return Line(redis, ECHO, PATIENCE_S, Replicas())


async def told(line: Line, word: str) -> Any:
    return await line.call(["list"], [word])


def cut(own: StoreProcess) -> None:
    """The server closes the connections of everybody but who says so."""
    with Blocking(unix_socket_path=own.socket) as client:
        client.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")


async def test_a_line_is_a_wire_unless_redis_py_is_not_as_we_know_it(line: Line, way: str) -> None:
    assert await told(line, "a") == [b"a", 1]
    assert (line._wire is not None) == (way == "wire")


async def test_calls_are_answered_in_their_order_and_errors_are_answers(line: Line) -> None:
    answers: list[Any] = ["before"]
    await line.call_all([(["list"], [word]) for word in ("a", "fail", "b")], answers)
    before, first, error, second = answers
    assert (before, first, second) == ("before", [b"a", 1], [b"b", 2])
    assert isinstance(error, ResponseError)
    with pytest.raises(ResponseError, match="EXPECTED"):
        await told(line, "fail")
    assert await told(line, "c") == [b"c", 3]


async def test_who_asks_at_the_same_time_is_answered_each_their_own(line: Line) -> None:
    words = [f"{number}" for number in range(50)]
    answers = await asyncio.gather(*(told(line, word) for word in words))
    assert [answer[0].decode() for answer in answers] == words
    assert sorted(answer[1] for answer in answers) == list(range(1, 51))


class Begun:
    """Calls that were begun, and what was told of them."""

    def __init__(self, line: Line, *words: str) -> None:
        self.answers: list[Any] = []
        self.told: asyncio.Future[RedisError | None] = asyncio.get_running_loop().create_future()
        self.begun = line.begin([(["list"], [word]) for word in words], self.answers, self.told.set_result)


async def test_calls_can_be_begun_where_a_wire_is_free_and_are_told_as_others_are_answered(
    line: Line, way: str
) -> None:
    assert not Begun(line, "too early").begun, "nobody has connected yet"
    assert await told(line, "a") == [b"a", 1]
    first = Begun(line, "b", "fail", "long")
    assert first.begun == (way == "wire")
    if not first.begun:
        return
    assert not Begun(line, "c").begun, "one at a time"
    asking = asyncio.ensure_future(told(line, "d"))
    assert await first.told is None
    before, error, long = first.answers
    assert before == [b"b", 2]
    assert isinstance(error, ResponseError)
    assert len(long) == 3_000_000
    assert await asking == [b"d", 3], "who asked meanwhile has waited"
    second = Begun(line, "e")
    assert await second.told is None
    assert second.answers == [[b"e", 4]]


@pytest.mark.parametrize("way", ["wire"], indirect=True)
async def test_who_has_begun_is_told_when_the_line_is_cut(line: Line, own: StoreProcess) -> None:
    assert await told(line, "a") == [b"a", 1]
    own.freeze()
    begun = Begun(line, "b")
    assert begun.begun
    own.kill()
    assert isinstance(await begun.told, exceptions.ConnectionError)
    assert begun.answers == []
    assert not Begun(line, "c").begun
    own.start()
    assert (await told(line, "c"))[0] == b"c"
    assert await Begun(line, "d").told is None


@pytest.mark.parametrize("way", ["wire"], indirect=True)
async def test_a_line_that_has_just_been_closed_here_is_not_written_to(line: Line) -> None:
    assert await told(line, "a") == [b"a", 1]
    wire: Any = line._wire
    wire._transport.abort()
    assert not Begun(line, "b").begun
    assert await told(line, "c") == [b"c", 2], "it has connected anew"


@pytest.mark.parametrize("way", ["wire"], indirect=True)
async def test_what_takes_too_long_is_told_and_is_no_answer_to_the_next(
    line: Line, own: StoreProcess
) -> None:
    assert await told(line, "a") == [b"a", 1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line, "_timeout_s", 0.1)
        assert await Begun(line, "b").told is None  # its timer will look at the next
        own.freeze()
        late = Begun(line, "late")
        assert isinstance(await late.told, exceptions.TimeoutError)
    own.thaw()
    assert not Begun(line, "c").begun, "it was closed"
    for word in ("c", "d"):
        assert (await told(line, word))[0] == word.encode()


async def test_an_answer_in_many_pieces_is_one(line: Line) -> None:
    assert len(await told(line, "long")) == 3_000_000
    assert await told(line, "a") == [b"a", 1]


async def test_a_script_that_the_store_has_forgotten_is_sent_again(line: Line, redis: Redis) -> None:
    assert await told(line, "a") == [b"a", 1]
    await redis.script_flush()
    answers: list[Any] = []
    await line.call_all([(["list"], ["b"]), (["list"], ["c"])], answers)
    assert answers == [[b"b", 2], [b"c", 3]]


async def test_a_line_that_was_cut_in_between_connects_anew(line: Line, own: StoreProcess) -> None:
    for number in range(1, 4):
        assert await told(line, "a") == [b"a", number]
        cut(own)

        connection: Any = line._connection
        async with asyncio.timeout(PATIENCE_S):
            while not connection._reader.at_eof():  # noqa: ASYNC110 (the loop must read the end)
                await asyncio.sleep(0)


async def test_a_line_that_is_cut_while_it_waits_fails_and_connects_anew_when_the_store_is_back(
    line: Line, own: StoreProcess, way: str
) -> None:
    assert await told(line, "a") == [b"a", 1]
    own.freeze()
    asking = asyncio.ensure_future(told(line, "b"))
    await asyncio.sleep(0)
    own.kill()
    with pytest.raises((RedisError, OSError)):
        await asking
    for _ in range(2):  # the store is away
        with pytest.raises((RedisError, OSError)):
            await told(line, "lost")
    own.start()
    assert (await told(line, "c"))[0] == b"c"
    assert (line._wire is not None) == (way == "wire"), "as it was before"


async def test_what_is_answered_too_late_is_no_answer_to_the_next(line: Line, own: StoreProcess) -> None:
    assert await told(line, "a") == [b"a", 1]
    own.freeze()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line, "_timeout_s", 0.1)
        with pytest.raises(TimeoutError):
            await told(line, "late")
    own.thaw()
    for word in ("b", "c"):
        assert (await told(line, word))[0] == word.encode()


async def test_who_stops_waiting_leaves_the_next_their_own_answer(line: Line, own: StoreProcess) -> None:
    assert await told(line, "a") == [b"a", 1]
    own.freeze()
    asking = asyncio.ensure_future(told(line, "given up"))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    own.thaw()
    assert (await told(line, "b"))[0] == b"b"


async def test_an_answer_to_who_has_just_stopped_waiting_is_no_fault(line: Line, way: str) -> None:
    assert await told(line, "a") == [b"a", 1]
    asking = asyncio.ensure_future(told(line, "given up"))
    await asyncio.sleep(0)
    asking.cancel()
    wire = line._wire
    assert (wire is not None) == (way == "wire")
    if wire is not None:
        assert not wire.idle
        wire.data_received(b"*2\r\n$8\r\ngiven up\r\n:2\r\n")
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert (await told(line, "b"))[0] == b"b"


async def test_without_the_replicas_that_must_have_it_it_is_behind_and_errors_are_errors(
    redis: Redis,
) -> None:
    line = Line(redis, ECHO, PATIENCE_S, Replicas(1, 10))
    with pytest.raises(Behind):
        await told(line, "a")
    answers: list[Any] = []
    await line.call_all([(["list"], ["b"]), (["list"], ["fail"])], answers)
    assert answers[0] is None
    assert isinstance(answers[1], ResponseError)
    assert await redis.lrange("list", 0, -1) == [b"a", b"b"]


async def test_a_client_with_a_line_can_be_closed_and_the_server_sees_it_go(own: StoreProcess) -> None:
    client = Redis(unix_socket_path=own.socket)
    await told(Line(client, ECHO, PATIENCE_S, Replicas()), "a")
    async with asyncio.timeout(PATIENCE_S):
        await client.aclose()
    with Blocking(unix_socket_path=own.socket) as other:
        eventually(lambda: len(other.client_list()) == 1, "nobody else is connected")
