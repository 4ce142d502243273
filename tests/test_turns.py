"""What takes long is done in turns with all else."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from heartroom import turns


async def test_all_of_many_are_made_a_few_in_each_turn() -> None:
    made: list[int] = []
    seen: list[int] = []

    def making() -> Iterator[int]:
        for number in range(10):
            made.append(number)
            yield number

    async def somebody_else() -> None:
        while len(made) < 10:
            seen.append(len(made))
            await asyncio.sleep(0)

    other = asyncio.ensure_future(somebody_else())
    assert await turns.collect(making(), 3) == list(range(10))
    await other
    assert {3, 6, 9} <= set(seen)


async def test_few_are_made_at_once() -> None:
    loop = asyncio.get_running_loop()
    seen: list[bool] = []
    loop.call_soon(seen.append, True)
    assert await turns.collect(range(2), 3) == [0, 1]
    assert not seen


async def test_of_several_who_take_long_one_is_served_in_a_turn() -> None:
    served: list[str] = []

    def making(name: str) -> Iterator[str]:
        for _ in range(3):
            served.append(name)
            yield name

    turned = 0

    async def count() -> None:
        nonlocal turned
        while len(served) < 9:
            await asyncio.sleep(0)
            turned += 1

    counting = asyncio.ensure_future(count())
    await asyncio.gather(*(turns.collect(making(name), 1) for name in "abc"))
    await counting
    assert sorted(served) == [*"aaabbbccc"]
    assert turned >= 6  # all but the first pieces wait for each other


async def test_who_is_cancelled_costs_the_others_nothing() -> None:
    first, second = asyncio.ensure_future(turns.turn()), asyncio.ensure_future(turns.turn())
    await asyncio.sleep(0)
    first.cancel()
    await second
    assert first.cancelled()
