"""The format has a number, and what nodes store and say to each other under it has a shape that stays.

`formats/<number>.json` says what a small house has stored and said: no values, but every kind of key, the
fields of every record, and what is in them.
"""

from __future__ import annotations

import asyncio
import contextlib
import difflib
import inspect
import json
from pathlib import Path
from typing import Any, Final

from heartroom.admin import acting
from heartroom.games.hearts.game import HEARTS
from heartroom.players.service import Players
from heartroom.sessions.live import Live
from heartroom.store import keys
from heartroom.store.store import FORMAT
from tests.conftest import Open
from tests.support.days import Calendar, Node, some_day
from tests.support.games import CODE, GAME, pid
from tests.support.guests import Guest, until
from tests.support.shapes import Shapes
from tests.support.stores import StoreProcess

FORMATS: Final = Path(__file__).parent / "formats"
CHANNELS: Final = (keys.node, keys.channel, keys.of_channel, keys.probe_channel, keys.of_each_kind)
END: Final = b"end"
NOT_OF_NODES: Final = (keys.RESTORING, keys.RESTORER)

ADVICE: Final = """
What nodes store, or say to each other, has no longer the shape that formats/{number}.json says it has:

{difference}

Would a node with the number {number} that shares the store misunderstand that, or spoil it? Then raise
`FORMAT` in store/store.py, and keep
    {made}
as tests/formats/{next}.json; docs/operations.md (Upgrades) says what that means for who runs nodes. If it
would not, as with a new kind of key that it passes over: keep it as tests/formats/{number}.json."""


async def a_small_house(process: StoreProcess, opens: Open) -> dict[str, Any]:
    """What was stored and said when a few have played a little, on two nodes."""
    houses = [opens(process, bot_delay_ms=600_000) for _ in range(2)]
    redis = houses[0].store.redis
    node = Node(houses[0], Calendar.on(some_day()))
    players, live = Players(node.house, node.boards), Live(node.house)
    ada, bob, cleo = pid(), pid(), pid()
    said: set[bytes] = set()

    async with contextlib.AsyncExitStack() as stack:
        ear = await stack.enter_async_context(redis.pubsub())
        await ear.psubscribe("*")

        async def hear() -> None:
            async for message in ear.listen():
                if message["type"] == "pmessage":
                    said.add(message["data"])

        hearing = asyncio.create_task(hear())
        stack.callback(hearing.cancel)

        # Names, groups, a recovery code, what was hidden, and an allowance that was used.
        for player, name in ((ada, "Ada"), (bob, "Bob")):
            await node.house.rename(player, name)
        await node.house.store.rename(cleo, "Cleo")  # what follows from it is due yet
        group = await players.found_group(ada, "Friends")
        await players.join_group(bob, group)
        await players.recovery_code(ada)
        await players.people.take("recover", [("somebody", 10, 3_600_000)])
        await players.people.hide(bob, "name")
        await acting.note(node.house.store, "hide-name", "x", "y")
        # A deal of the day: one has won it, one is at it; and the next one is being made.
        won = await node.won(ada)
        await players.count(won)
        begun = await node.begun(bob)
        await node.daily.days.may_make("2100-01-01")
        # A solitaire, and a public table with somebody on each node.
        alone = await Guest.join(houses[0], await node.house.create(ada, GAME.name, {"code": CODE}), ada)
        await alone.act("draw")
        waiting = await node.house.create(cleo, HEARTS.name, {}, public=True)
        table = await node.house.create(ada, HEARTS.name, {}, level="easy", pace_s=0)
        guests = [await Guest.join(house, table, who) for house, who in zip(houses, (ada, bob), strict=True)]
        guests[1].room.sit(guests[1].viewer, 1, None)
        await guests[1].answer(1)
        guests[0].room.start(guests[0].viewer, 1)
        await guests[0].answer(1)
        await live.look()
        # Somebody is being forgotten.
        await players.people.begin_to_forget(bob)
        await players.people.to_be_scrubbed(ada)
        assert await node.house.store.failures() == {}

        shapes = Shapes(
            {
                **dict.fromkeys((ada, bob, cleo), "<player>"),
                **dict.fromkeys((won.sid, begun.sid, alone.room.sid, waiting, table), "<session>"),
                **{group: "<group>", node.day: "<day>", "2100-01-01": "<day>"},
                **dict.fromkeys((house.store.node for house in houses), "<node>"),
            }
        )

        async def all_there() -> bool:
            stored: Any = await redis.keys("*")
            heads = {key.decode().partition("{")[0] for key in stored}
            # commits, and what is told of topics, names and who is here, some of it by tasks; and probes
            return not kinds() - heads and len({len(one.split(b" ")) > 5 or one[:1] for one in said}) == 5

        async def heard() -> bool:
            return END in said

        await until(all_there)
        await redis.publish("end", END)
        await until(heard)
        said.discard(END)
        return {"stored": await shapes.stored(redis), "said": sorted({shapes.of(one) for one in said})}


def kinds() -> set[str]:
    """How the keys of each kind begin that nodes use."""
    made = {
        make(*("x" for _ in inspect.signature(make).parameters)).partition("{")[0]
        for _, make in inspect.getmembers(keys, inspect.isfunction)
        if make not in CHANNELS and make is not keys.probe_log  # which is never there for long
    }
    alone = {
        value.partition("{")[0]
        for name, value in vars(keys).items()
        if name.isupper() and isinstance(value, str) and value not in (*NOT_OF_NODES, keys.ALL_TIME)
    }
    return made | alone - {keys.EVERYBODY}


async def test_what_is_stored_and_said_has_the_shape_that_its_number_says(
    own: StoreProcess, opens: Open, tmp_path: Path
) -> None:
    found = json.dumps(await a_small_house(own, opens), indent=1, sort_keys=True) + "\n"
    made = tmp_path / f"{FORMAT}.json"
    made.write_text(found)
    golden = FORMATS / f"{FORMAT}.json"
    before = golden.read_text() if golden.exists() else ""
    difference = "".join(
        difflib.unified_diff(before.splitlines(True), found.splitlines(True), "it says", "is")
    )
    assert found == before, ADVICE.format(number=FORMAT, next=FORMAT + 1, difference=difference, made=made)


def test_the_format_is_the_latest_that_is_written_down() -> None:
    assert max(int(one.stem) for one in FORMATS.glob("*.json")) == FORMAT
