"""The load on a peer, in a process of its own: the closed loops of `bench.load`, whose `Job` it takes.

    python -m bench.peers.load JOB

The workload is the peer's name and what to do: `colyseus-watch4`, `boardgame-table4`, `colyseus-joined`.

The load deals and knows what comes: in `watch4` the stock's length, in `table4` a legal play of one hand,
which is played again and again. The servers know nothing of that and check every action; what they refuse
makes no diff, and the load stands still and fails.
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any

import msgspec
import uvloop

from bench.load import Fault, Idle, Job, Tally, Watched, all_of, settled, watched, window
from bench.measure import rss
from bench.peers.links import Boardgame, Circle, Colyseus, Viewer
from bench.wire import Closed
from heartroom.cards import RANKS
from heartroom.games.hearts import deck, rules

PEERS = {"colyseus": Colyseus, "boardgame": Boardgame}
GAMES = {"watch4": "heart-to-heart", "table4": "hearts", "joined": "heart-to-heart"}

_PATIENCE_S = 30.0
_WARMERS = 16
_STOCK = 26
_NO_PASS = 4
"""The first hand of a game in which nobody passes."""
_GAME = rules.Table(200, False, bytes(32))


def drawing(number: int) -> tuple[int, str, Sequence[int]]:
    """Action `number` of watch4: the player draws; the discard's first card comes round with the stock."""
    lap = _STOCK + 2
    return 0, "recycle" if number % lap == _STOCK else "draw", ()


def hand_of_hearts(deal: list[int]) -> list[tuple[int, int]]:
    """Who plays what in a hand without a pass, up to the last trick, which plays itself."""
    hands = tuple(deck.mask(deal[13 * seat : 13 * seat + 13]) for seat in deck.SEATS)
    state = rules.begin_hand(_GAME, _NO_PASS, hands, (), (0, 0, 0, 0))
    plays = []
    while state.phase == rules.PLAYING:
        play = state.turn, deck.cards(state.legal)[0]
        plays.append(play)
        state = rules.play(state, *play)
    return plays


def playing(plays: list[tuple[int, int]]) -> Callable[[int], tuple[int, str, Sequence[int]]]:
    """The same hand again and again."""

    def script(number: int) -> tuple[int, str, Sequence[int]]:
        seat, card = plays[number % len(plays)]
        return seat, "play", (card,)

    return script


async def gathered(job: Job, peer: type[Colyseus | Boardgame], workload: str, tally: Tally) -> Circle:
    """A session with its four viewers."""
    game = GAMES[workload]
    if game == "hearts":
        deal = random.sample(range(52), 52)
        circle = Circle(tally, playing(hand_of_hearts(deal)))
    else:
        deal = random.sample(list(RANKS) * 4, 52)
        circle = Circle(tally, drawing)
    await peer.gather(job.host, job.port, game, deal, circle)
    return circle


async def driven(job: Job, peer: type[Colyseus | Boardgame], workload: str) -> Watched:
    """One window of `watch4` or `table4`. Raises `Fault` if a viewer missed anything, `Closed`, `OSError`."""
    tally = Tally()
    async with asyncio.timeout(_PATIENCE_S):
        circles = await all_of([lambda: gathered(job, peer, workload, tally)] * job.sessions)
    first: Viewer = circles[0].viewers[0]
    for circle in circles:
        circle.playing = True
        for viewer in circle.viewers:
            circle.look(viewer)
    counted = await window(job, tally)
    for circle in circles:
        circle.playing = False
    # in Hearts everybody sees something else
    await settled(lambda: all(circle.quiet(alike=workload == "watch4") for circle in circles), tally)
    if any(viewer.closed for circle in circles for viewer in circle.viewers):
        raise Fault("a connection was lost")
    if tally.diffs != 4 * tally.actions:
        raise Fault(f"{tally.diffs} diffs of {tally.actions} actions")
    return watched(counted, first.snapshot_bytes, first.join_bytes, tally.diff_bytes_max)


async def idle(job: Job, peer: type[Colyseus | Boardgame], workload: str) -> Idle:
    """Memory of idle connections, four to a session. Raises as `driven`."""
    tally = Tally()
    call = partial(gathered, job, peer, workload, tally)
    async with asyncio.timeout(_PATIENCE_S):
        warmers = await all_of([call] * _WARMERS)
    for circle in warmers:
        for viewer in circle.viewers:
            viewer.abort()
    await asyncio.sleep(1.0)
    before = rss(job.server)
    async with asyncio.timeout(_PATIENCE_S + job.connections / 50):
        circles = await all_of([call] * (job.connections // 4))
    await asyncio.sleep(job.settle_s)
    after = rss(job.server)
    if any(viewer.closed for circle in circles for viewer in circle.viewers):
        raise Fault("a connection was lost")
    return Idle(4 * len(circles), before, after)


def main() -> None:
    """See the module."""
    job = msgspec.json.decode(sys.argv[1], type=Job)
    name, _, workload = job.workload.partition("-")
    run: Callable[..., Coroutine[Any, Any, Watched | Idle]] = idle if workload == "joined" else driven
    try:
        result = uvloop.run(run(job, PEERS[name], workload))
    except (Fault, Closed, TimeoutError, OSError) as error:
        sys.exit(f"{type(error).__name__}: {error}")
    print(msgspec.json.encode(result).decode())


if __name__ == "__main__":
    main()
