"""The boards against a model, by a machine that plays, ties, renames, retries and dies.

It runs on a real store. A node that dies does so before its *n*-th command; what it left undone is done by a
retry, a sweep or the next to open the session. The model is a list of who has won in which time and moves.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any, NamedTuple, TypeVar

import pytest
import structlog
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from heartroom.leaderboards import results
from heartroom.leaderboards.results import Result
from heartroom.sessions.house import House
from heartroom.store.boards import row_text
from heartroom.store.store import Store
from tests.support.days import PAR, Calendar, Node, some_day, write
from tests.support.games import pid
from tests.support.mortal import Killed, Mortal
from tests.support.stores import StoreProcess

T = TypeVar("T")

NAMES = st.sampled_from(["", "Ada", "ada", "Bo", "Åse", "名"])
TENTHS = st.integers(1, 2)
"""Few different results, so that there are many ties."""
DETOURS = st.integers(0, 1)
LIFE = st.none() | st.integers(0, 16)
"""Commands before a node dies."""


class Won(NamedTuple):
    """What the model knows of a finished attempt."""

    player: str
    day: str
    sid: str
    tenths: int
    moves: int


class Machine(RuleBasedStateMachine):
    """See the module."""

    def __init__(self, process: StoreProcess) -> None:
        super().__init__()
        self._process = process
        self._runner = asyncio.Runner()
        self._logs = structlog.testing.capture_logs()
        self._logs.__enter__()
        self._stores: list[Store] = []
        self.names: dict[str, set[str]] = {}
        """By player: the name, or those that it may be after a rename that died."""
        self.won: list[Won] = []
        self.sure: set[str] = set()
        """Sessions whose follow-up has been seen to end, and must be on the boards."""
        self.running: list[tuple[str, str, str]] = []

    def run(self, doing: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(doing)

    def node(self, life: int | None = None) -> tuple[Node, Mortal]:
        store = Store(self._process.url)
        self._stores.append(store)
        return Node(House(store), self.calendar), Mortal(store, life)

    @initialize()
    def open(self) -> None:
        self.calendar = Calendar.on(some_day())
        self.first = self.calendar.day
        self.good = self.run(self._good())

    async def _good(self) -> Node:
        return self.node()[0]

    # -- what happens

    @precondition(lambda self: len(self.names) < 6)
    @rule(name=NAMES)
    def a_player_comes(self, name: str) -> None:
        player = pid()
        self.names[player] = {name}
        if name:
            self.run(self.good.house.rename(player, name))

    @precondition(lambda self: self.names)
    @rule(data=st.data())
    def starts(self, data: st.DataObject) -> None:
        player = data.draw(st.sampled_from(list(self.names)))
        day = self.calendar.day

        async def start() -> str:
            await self.good.deal()
            node, _ = self.node()  # no node listens here, so none may keep a room open
            return await node.daily.begin(player)

        sid = self.run(start())
        known = {(one, on): session for one, on, session in self.running}
        known |= {(one.player, one.day): one.sid for one in self.won}
        assert known.get((player, day), sid) == sid, "one attempt a day"
        if (player, day) not in known:
            self.running.append((player, day, sid))

    @precondition(lambda self: self.running)
    @rule(data=st.data(), tenths=TENTHS, detours=DETOURS, life=LIFE)
    def wins(self, data: st.DataObject, tenths: int, detours: int, life: int | None) -> None:
        attempt = data.draw(st.sampled_from(self.running))
        self.running.remove(attempt)
        player, day, sid = attempt
        self.run(write(self.good.house.store, sid, tenths * 100 + 99, detours))
        self.won.append(Won(player, day, sid, tenths, PAR + 2 * detours))
        self._follow(sid, life)

    @rule(results=st.lists(st.tuples(TENTHS, DETOURS), min_size=2, max_size=4), name=NAMES)
    def several_new_players_win(self, results: list[tuple[int, int]], name: str) -> None:
        async def win(player: str, tenths: int, detours: int) -> Won:
            if name:
                await self.good.house.rename(player, name)
            await self.good.deal()
            sid = await self.good.daily.begin(player)
            await write(self.good.house.store, sid, tenths * 100 + 99, detours)
            node, _ = self.node()
            await node.boards.follow(await node.house.open(sid))
            return Won(player, self.calendar.day, sid, tenths, PAR + 2 * detours)

        async def all_of_them() -> list[Won]:
            return await asyncio.gather(*(win(pid(), *result) for result in results))

        if len(self.names) < 20:
            for one in self.run(all_of_them()):
                self.names[one.player] = {name}
                self.won.append(one)
                self.sure.add(one.sid)

    @precondition(lambda self: self.won)
    @rule(data=st.data(), life=LIFE)
    def somebody_opens_it_again(self, data: st.DataObject, life: int | None) -> None:
        self._follow(data.draw(st.sampled_from(self.won)).sid, life)

    def _follow(self, sid: str, life: int | None) -> None:
        async def follow() -> None:
            node, _ = self.node(life)
            await node.boards.follow(await node.house.open(sid))

        with contextlib.suppress(Killed):
            self.run(follow())
            self.sure.add(sid)

    @precondition(lambda self: self.won)
    @rule(data=st.data())
    def several_nodes_do_it_at_once(self, data: st.DataObject) -> None:
        sids = data.draw(st.lists(st.sampled_from(self.won), min_size=1, max_size=3))

        async def follow(sid: str) -> None:
            node, _ = self.node()
            await node.boards.follow(await node.house.open(sid))

        async def all_of_them() -> None:
            await asyncio.gather(*(follow(one.sid) for one in sids for _ in range(2)))

        self.run(all_of_them())
        self.sure |= {one.sid for one in sids}

    @precondition(lambda self: self.names)
    @rule(data=st.data(), name=NAMES.filter(bool), life=LIFE)
    def takes_a_name(self, data: st.DataObject, name: str, life: int | None) -> None:
        player = data.draw(st.sampled_from(list(self.names)))

        async def rename() -> None:
            node, _ = self.node(life)
            await node.house.rename(player, name)

        try:
            self.run(rename())
            self.names[player] = {name}
        except Killed:
            self.names[player] = {*self.names[player], name}

    @rule(life=LIFE)
    def a_node_sweeps(self, life: int | None) -> None:
        async def sweep() -> None:
            node, _ = self.node(life)
            await node.boards.sweep()

        with contextlib.suppress(Killed):
            self.run(sweep())
            self._all_is_done()

    @rule()
    def a_day_passes(self) -> None:
        if self.calendar.now_ms < Calendar.on(self.first).now_ms + 3 * 86_400_000:
            self.calendar.next_day()

    def _all_is_done(self) -> None:
        self.sure |= {one.sid for one in self.won}
        for player in self.names:
            (kept,) = self.run(self.good.house.store.names([player]))
            assert kept in self.names[player]
            self.names[player] = {kept}

    # -- what always holds

    @invariant()
    def boards_are_as_the_model_has_them(self) -> None:
        for day in {one.day for one in self.won}:
            for by in results.BOARDS:
                self._check_board(day, by)

    def _check_board(self, day: str, by: str) -> None:
        page = self.run(self.good.boards.of_day(day).page(by, ""))
        expected = {one.player: one for one in self.won if one.day == day}
        there = {row.pid for row in page.best}
        assert there <= expected.keys(), "nobody who has not won"
        assert {one.player for one in expected.values() if one.sid in self.sure} <= there
        assert page.total == len(page.best) == len(there), "one row each"
        order = []
        for row in page.best:
            one = expected[row.pid]
            assert row.name in self.names[row.pid]
            result = results.unpack_result(row.facts)
            assert (result.time_ms // 100, result.moves, result.session) == (one.tenths, one.moves, one.sid)
            key = (one.tenths, one.moves) if by == "time" else (one.moves, one.tenths)
            order.append((key, row_text(row.pid, row.name).encode(), row.rank))
        assert order == sorted(order)
        keys = [key for key, _, _ in order]
        assert [rank for _, _, rank in order] == [1 + sum(other < key for other in keys) for key in keys]

    def _check_all_time(self) -> None:
        for player in self.names:
            mine = [one for one in self.won if one.player == player]
            summary = results.summary(
                Result(one.day, one.sid, one.tenths * 100, one.moves, PAR, 0) for one in mine
            )
            for by, score in zip(results.ALL_TIME, summary.scores, strict=True):
                row = self.run(self.good.boards.all_time.page(by, player)).row_of(player)
                if not mine or score is None:
                    assert row is None
                else:
                    assert row is not None
                    assert row.score == score
                    assert {row.name} == self.names[player]

    def teardown(self) -> None:
        try:
            if hasattr(self, "good"):
                self.run(self.good.boards.sweep())
                self._all_is_done()
                self.boards_are_as_the_model_has_them()
                self._check_all_time()
                assert self.run(self._due()) == []
        finally:
            self.run(self._close())
            self._runner.close()
            self._logs.__exit__(None, None, None)

    async def _due(self) -> list[tuple[str, str]]:
        return [due for due in await self.good.boards.people.due() if due[1] in self.names]

    async def _close(self) -> None:
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        for store in self._stores:
            await store.aclose()


@pytest.mark.timeout(600)
def test_boards_are_as_a_model_has_them(shared: StoreProcess) -> None:
    machine: Any = lambda: Machine(shared)  # noqa: E731
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=12,
            stateful_step_count=30,
            deadline=None,
            phases=[Phase.generate],  # players and sessions have ids by chance: a smaller example is another
            suppress_health_check=list(HealthCheck),
        ),
    )
