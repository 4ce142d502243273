"""The committer on a real store: what goes together, and that everybody is told once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import pytest
from structlog.testing import capture_logs

from heartroom.store.committer import Committer
from heartroom.store.store import CONFLICT, GONE, STORED, Commit, Outcome, Store
from tests.conftest import Connect
from tests.support.games import begin
from tests.support.stores import PATIENCE_S, StoreProcess


class Watched(Store):
    """A store that remembers how many commits each of its round trips had."""

    def __init__(self, url: str, *, timeout_s: float = 20.0) -> None:
        super().__init__(url, timeout_s=timeout_s)
        self.batches: list[int] = []

    def begin(self, commits: Sequence[Commit], done: Callable[[list[Outcome]], None]) -> None:
        self.batches.append(len(commits))
        super().begin(commits, done)


class Told:
    """Callbacks, and what they were told."""

    def __init__(self) -> None:
        self.results: dict[object, list[tuple[int | None, int]]] = {}

    def of(self, name: object) -> Callable[[int | None, int], None]:
        self.results[name] = []
        return lambda result, at_ms: self.results[name].append((result, at_ms))

    def once(self) -> dict[object, int | None]:
        """The result of each; fails if any was not told, or told twice."""
        assert {len(told) for told in self.results.values()} == {1}
        return {name: told[0][0] for name, told in self.results.items()}


async def sessions(store: Store, count: int) -> list[tuple[str, int]]:
    made = []
    for _ in range(count):
        sid = await begin(store)
        opened = await store.open(sid)
        assert opened is not None
        made.append((sid, opened.record.epoch))
    return made


async def test_commits_of_one_turn_go_together_and_each_is_told_once(shared: StoreProcess) -> None:
    store = Watched(shared.url)
    made = await sessions(store, 10)
    committer, told = Committer(store), Told()
    for sid, epoch in made:
        committer.submit(Commit(sid, epoch, 0, b"x", 0), told.of(sid))
    await committer.drain()
    assert store.batches == [10]
    assert told.once() == {sid: STORED for sid, _ in made}
    assert len({at_ms for ((_, at_ms),) in told.results.values()}) == 1
    await store.aclose()


async def test_a_batch_has_a_largest_size_and_keeps_the_order(shared: StoreProcess) -> None:
    store = Watched(shared.url)
    made = await sessions(store, 7)
    order: list[str] = []
    committer = Committer(store, largest=3)

    def note(sid: str, result: int | None, _at_ms: int) -> None:
        order.append(f"{sid} {result}")

    for sid, epoch in made:
        committer.submit(Commit(sid, epoch, 0, b"x", 0), partial(note, sid))
    await committer.drain()
    assert store.batches == [3, 3, 1]
    assert order == [f"{sid} {STORED}" for sid, _ in made]
    await store.aclose()


async def test_what_comes_while_a_batch_is_under_way_goes_with_the_next(shared: StoreProcess) -> None:
    store = Watched(shared.url)
    (sid, epoch), *others = await sessions(store, 4)
    committer, told = Committer(store), Told()

    def again(result: int | None, at_ms: int) -> None:
        told.of("first")(result, at_ms)
        committer.submit(Commit(sid, epoch, 1, b"y", 0), told.of("second"))
        for other, its in others:
            committer.submit(Commit(other, its, 0, b"x", 0), told.of(other))

    committer.submit(Commit(sid, epoch, 0, b"x", 0), again)
    await committer.drain()
    assert store.batches == [1, 4]
    assert set(told.once().values()) == {STORED}
    await store.aclose()


async def test_those_who_act_again_at_once_end_up_in_one_batch(
    shared: StoreProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two halves take turns until they have shown that they do; then they go together."""
    monkeypatch.setattr(Committer, "GATHER_S", PATIENCE_S)  # as long as it takes
    monkeypatch.setattr(Committer, "FORGET_S", PATIENCE_S)
    store = Watched(shared.url)
    made = await sessions(store, 6)
    committer, told = Committer(store), Told()

    def act(number: int, version: int, done: Callable[[int | None, int], None]) -> None:
        committer.submit(Commit(*made[number], version, b"x", 0), done)

    def then_others(_result: int | None, _at_ms: int) -> None:
        for number in (3, 4, 5):
            act(number, 0, again if number == 5 else told.of((number, 0)))

    def again(_result: int | None, _at_ms: int) -> None:
        for number in (0, 1, 2):
            act(number, 1, all_of_them if number == 2 else told.of((number, 1)))

    loop = asyncio.get_running_loop()
    last: asyncio.Future[int | None] = loop.create_future()

    def all_of_them(_result: int | None, _at_ms: int) -> None:
        one_by_one(iter(range(6)))

    def one_by_one(numbers: Iterator[int]) -> None:
        """Each in a turn of the loop of its own."""
        number = next(numbers)
        version = 1 if number > 2 else 2
        if number < 5:
            act(number, version, told.of((number, 9)))
            loop.call_soon(one_by_one, numbers)
        else:
            act(number, version, lambda result, _: last.set_result(result))

    for number in (0, 1, 2):
        act(number, 0, then_others if number == 2 else told.of((number, 0)))
    assert await last == STORED
    assert store.batches == [3, 3, 3, 6]
    assert set(told.once().values()) == {STORED}
    await store.aclose()


async def test_each_is_told_its_own_result(store: Store) -> None:
    (good, its), (late, lates) = await sessions(store, 2)
    committer, told = Committer(store), Told()
    committer.submit(Commit("nobody-made-", 1, 0, b"x", 0), told.of("gone"))
    committer.submit(Commit(late, lates, 5, b"x", 0), told.of("late"))
    committer.submit(Commit(good, its, 0, b"x", 0), told.of("good"))
    await committer.drain()
    assert told.once() == {"gone": GONE, "late": CONFLICT, "good": STORED}


async def test_a_callback_that_fails_costs_the_others_nothing(store: Store) -> None:
    made = await sessions(store, 3)
    committer, told = Committer(store), Told()

    def failing(_result: int | None, _at_ms: int) -> None:
        raise ZeroDivisionError

    with capture_logs() as logs:
        for (sid, epoch), done in zip(made, (told.of(0), failing, told.of(2)), strict=True):
            committer.submit(Commit(sid, epoch, 0, b"x", 0), done)
        await committer.drain()
    assert told.once() == {0: STORED, 2: STORED}
    assert [line["log_level"] for line in logs] == ["error"]
    # and it still works
    committer.submit(Commit(made[0][0], made[0][1], 1, b"y", 0), told.of("later"))
    await committer.drain()
    assert told.once()["later"] == STORED


async def test_nobody_knows_what_became_of_commits_to_a_store_that_is_away(
    own: StoreProcess, connect: Connect
) -> None:
    store = connect(own)
    made = await sessions(store, 3)
    own.kill()
    committer, told = Committer(store, largest=2), Told()
    for sid, epoch in made:
        committer.submit(Commit(sid, epoch, 0, b"x", 0), told.of(sid))
    await committer.drain()
    assert [told.results[sid] for sid, _ in made] == [[(None, 0)]] * 3
    own.start()
    for sid, epoch in made:
        committer.submit(Commit(sid, epoch, 0, b"x", 0), told.of(f"{sid} again"))
    await committer.drain()
    assert [told.results[f"{sid} again"][0][0] for sid, _ in made] == [STORED] * 3


async def test_scripts_that_the_store_has_forgotten_cost_nobody_anything(
    own: StoreProcess, connect: Connect
) -> None:
    store = connect(own)
    ((sid, epoch),) = await sessions(store, 1)
    committer, told = Committer(store), Told()
    for version in range(4):
        if version % 2:
            await store.redis.script_flush()
        committer.submit(Commit(sid, epoch, version, b"x", 0), told.of(version))
        await committer.drain()
    assert told.once() == dict.fromkeys(range(4), STORED)


async def test_of_what_is_left_when_patience_ends_nobody_hears(own: StoreProcess, connect: Connect) -> None:
    store = connect(own)
    ((sid, epoch), (other, its)) = await sessions(store, 2)
    committer, told = Committer(store), Told()
    committer.submit(Commit(sid, epoch, 0, b"x", 0), told.of("before"))
    await committer.drain()
    own.freeze()
    committer.submit(Commit(sid, epoch, 1, b"x", 0), told.of("under way"))
    committer.submit(Commit(other, its, 0, b"x", 0), told.of("with it"))
    await committer.aclose(0.05)
    own.thaw()
    assert (await store.commit([Commit(other, its, 7, b"x", 0)]))[0][0] == CONFLICT, "it answers again"
    assert {name: len(heard) for name, heard in told.results.items()} == {
        "before": 1,
        "under way": 0,
        "with it": 0,
    }


async def test_drain_returns_at_once_when_there_is_nothing_to_do(store: Store) -> None:
    committer = Committer(store)
    await committer.drain()
    told = Told()
    committer.submit(Commit("nobody-made-", 1, 0, b"x", 0), told.of("x"))
    await asyncio.gather(committer.drain(), committer.drain())
    assert told.once() == {"x": GONE}


async def test_commits_wait_for_nobody_s_answer_in_the_same_turn(store: Store) -> None:
    """`submit` only notes the commit: nobody is told before the caller has gone on."""
    committer, told = Committer(store), Told()
    committer.submit(Commit("nobody-made-", 1, 0, b"x", 0), told.of("x"))
    assert told.results == {"x": []}
    await committer.drain()


async def test_a_store_that_fails_as_nobody_foresaw_leaves_no_commit_untold(shared: StoreProcess) -> None:
    class Broken(Store):
        async def commit(self, commits: Sequence[Commit]) -> list[Outcome]:
            raise ZeroDivisionError

    store = Broken(shared.url)
    committer, told = Committer(store), Told()
    with capture_logs() as logs:
        committer.submit(Commit("nobody-made-", 1, 0, b"x", 0), told.of("x"))
        await committer.drain()
    assert told.results == {"x": [(None, 0)]}
    assert [line["log_level"] for line in logs] == ["error"]
    await store.aclose()
