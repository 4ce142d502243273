"""Lines to all nodes of a cluster: many calls of one script at once, each where its slot is served."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from redis.exceptions import AskError, MovedError, NoScriptError, RedisError, ResponseError

from heartroom.store.cluster import HOPS, NOT_NOW, PAUSE_S, Table, address_of
from heartroom.store.line import Line, Replicas
from heartroom.store.urls import Address
from heartroom.store.wire import Done


class Call(NamedTuple):
    """One call of the script, on keys of one slot."""

    slot: int
    names: Sequence[str]
    args: Sequence[Any]


class Answer(NamedTuple):
    """What became of a call."""

    value: Any
    """What the script returned; `None` if nobody knows."""
    moving: bool = False
    """Whether it was executed where its slot is being moved to."""


UNKNOWN: Final = Answer(None)


class Lines:
    """One line to each node. A call goes again where the answer says that it was not executed."""

    def __init__(self, table: Table, source: str, replicas: Replicas) -> None:
        """`source`: the script. `replicas`: of each shard."""
        self._table: Final = table
        self._source: Final = source
        self._replicas: Final = replicas
        self._lines: dict[Address, Line] = {}

    def begin(self, calls: Sequence[Call], answers: list[Any], done: Done) -> bool:
        """See `Line.begin`: can be done where all slots are known to be served by one node. What is answered
        with an error may have to be called elsewhere, by `call_all`."""
        (address, *others) = {self._table.known(call.slot) for call in calls}
        line = self._lines.get(address) if address is not None and not others else None
        if line is None or self._table.stale:
            return False
        return line.begin([call[1:] for call in calls], answers, done)

    async def call_all(self, calls: Sequence[Call]) -> list[Answer]:
        """What became of each call. A node that does not answer costs its own calls their answers and no
        others. Raises nothing."""
        answers = [UNKNOWN] * len(calls)
        try:
            async with asyncio.timeout(self._table.timeout_s):
                await self._call_all(calls, answers)
        except (RedisError, OSError, TimeoutError):
            self._table.doubt()
        return answers

    async def _call_all(self, calls: Sequence[Call], answers: list[Answer]) -> None:
        left: dict[int, Address | None] = dict.fromkeys(range(len(calls)))
        """What is to be called, and where if that is not its slot's node."""
        for hops in itertools.count():
            if not left:
                break
            batches: dict[tuple[Address, bool], list[int]] = {}
            for place, moving in left.items():
                address = moving or await self._table.primary(calls[place].slot)
                batches.setdefault((address, moving is not None), []).append(place)
            left = {}
            doing = [self._at(*where, places, calls, answers, left) for where, places in batches.items()]
            wait = any([await doing[0]] if len(doing) == 1 else await asyncio.gather(*doing))
            if wait or (left and hops >= HOPS):
                await asyncio.sleep(PAUSE_S)

    async def _at(
        self,
        address: Address,
        moving: bool,
        places: list[int],
        calls: Sequence[Call],
        answers: list[Answer],
        left: dict[int, Address | None],
    ) -> bool:
        """Calls at one node. Notes the answers, and in `left` what is to be called again; says whether with
        that it is better to wait."""
        line = self._lines.get(address)
        if line is None:
            client = self._table.client(address)
            line = Line(client, self._source, self._table.timeout_s, self._replicas)
            self._lines[address] = line
        found: list[Any] = []
        wait = False
        try:
            await line.call_all([calls[place][1:] for place in places], found, asking=moving)
        except (RedisError, OSError, TimeoutError):
            self._table.doubt()
        finally:
            for place, answer in zip(places, found, strict=False):
                if isinstance(answer, MovedError):
                    self._table.moved(int(answer.slot_id), address_of(answer, address))
                    left[place] = None
                elif isinstance(answer, AskError):
                    left[place] = address_of(answer, address)
                elif isinstance(answer, NOT_NOW):
                    self._table.doubt()
                    left[place] = None
                    wait = True
                elif isinstance(answer, NoScriptError):
                    left[place] = None
                elif not isinstance(answer, ResponseError):
                    answers[place] = Answer(answer, moving)
        return wait
