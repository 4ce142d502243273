"""The HTTP API of a real server, above all: what is tried to be ahead of others, and fails."""

from __future__ import annotations

import asyncio
import http.client
import json
import secrets
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from heartroom.client import Client, Rejected
from heartroom.daily import dates
from heartroom.sessions import record
from heartroom.store import keys
from heartroom.store.days import Days
from heartroom.store.store import Store
from heartroom.web.identity import COOKIE, Identity, pseudonym
from tests.support.clusters import Cluster
from tests.support.days import PAR, code, known_deal, winning, write
from tests.support.games import CODE, GAME, pid
from tests.support.serving import SECRET, Server
from tests.support.stores import BINARIES, PATIENCE_S, StoreProcess, eventually

IDENTITY = Identity(SECRET)


async def keep_known_deals(process: StoreProcess | Cluster) -> None:
    """The deal of today, and of some days before and after, is the known one."""
    store = Store(process.url)
    today = dates.of(await store.time_ms())
    for days in range(-2, 3):
        await Days(store).put(known_deal(dates.after(today, days)))
    await store.aclose()


@pytest.fixture(scope="module")
def process() -> Iterator[StoreProcess]:
    process = StoreProcess(BINARIES["valkey"], fsync="always")
    process.start()
    asyncio.run(keep_known_deals(process))
    yield process
    process.remove()


@pytest.fixture(scope="module")
def server(process: StoreProcess) -> Iterator[Server]:
    server = Server(redis_url=process.url, secret=SECRET)
    yield server
    assert server.process.poll() is None, server.said()
    assert "Traceback" not in server.said(), server.said()
    server.stop()


@pytest_asyncio.fixture
async def store(process: StoreProcess) -> AsyncIterator[Store]:
    store = Store(process.url)
    yield store
    await store.aclose()


@dataclass
class Person:
    """Somebody with a browser."""

    server: Server
    player: str = field(default_factory=pid)

    @property
    def cookie(self) -> str:
        return IDENTITY.seal(self.player)

    def ask(
        self, method: str, path: str, body: bytes | None = None, **headers: str | None
    ) -> tuple[int, Any, dict[str, str]]:
        """Status, JSON, headers. Headers that are `None` are left out."""
        sent: dict[str, str | None] = {"Cookie": f"{COOKIE}={self.cookie}" if self.player else None}
        if method == "POST":
            sent |= {"Origin": f"http://{self.server.address}", "Content-Type": "application/json"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection(self.server.address, timeout=PATIENCE_S)
        try:
            given = {name: value for name, value in sent.items() if value is not None}
            connection.request(method, path, body, given)
            response = connection.getresponse()
            raw = response.read()
            shown = json.loads(raw) if response.headers.get_content_type() == "application/json" else raw
            return response.status, shown, dict(response.headers)
        finally:
            connection.close()

    def get(self, path: str) -> Any:
        status, shown, _ = self.ask("GET", path)
        assert status == 200, shown
        return shown

    def post(self, path: str, value: Any = None) -> Any:
        status, shown, _ = self.ask("POST", path, json.dumps(value or {}).encode())
        assert status == 200, shown
        return shown

    def refused(self, method: str, path: str, value: Any = None) -> tuple[int, str]:
        """Status and code of a refusal."""
        body = None if method == "GET" else json.dumps(value or {}).encode()
        status, shown, _ = self.ask(method, path, body)
        assert status >= 400, shown
        return status, shown["code"]

    async def connect(self) -> Client:
        return await self.server.connect(self.cookie)

    async def begins(self) -> Client:
        """Starts today's deal and looks at it."""
        client = await self.connect()
        await client.join(self.post("/api/daily/start")["session"])
        return client

    async def wins(self, detours: int = 0) -> str:
        """Wins today's deal, and returns the session, once it is on the board."""
        client = await self.begins()
        for action in winning(detours):
            await client.act(*action)
        session = client.table.session
        await client.close()
        eventually(lambda: self.get("/api/daily")["result"] is not None, "the result is entered")
        return session


@pytest.fixture
def somebody(server: Server) -> Person:
    return Person(server)


def refusal(client: Client, doing: Any) -> Any:
    async def tried() -> str:
        with pytest.raises(Rejected) as caught:
            await doing
        return caught.value.code

    return tried()


# -- a day


async def test_a_day_from_new_to_won(somebody: Person) -> None:
    day = somebody.get("/api/daily")
    assert day == {
        "date": day["date"],
        "code": code(day["date"]),
        "ready": True,
        "over": False,
        "ends_in_ms": day["ends_in_ms"],
        "state": "new",
        "session": None,
        "open": False,
        "par": None,
        "players": day["players"],
        "result": None,
    }
    assert 0 < day["ends_in_ms"] <= dates.DAY_MS
    client = await somebody.begins()
    running = somebody.get(f"/api/daily/{day['date']}")
    assert (running["state"], running["session"]) == ("running", client.table.session)
    assert (running["open"], running["par"]) == (False, None)
    await client.close()
    session = await somebody.wins(detours=1)
    won = somebody.get("/api/daily")
    assert (won["state"], won["session"], won["open"], won["par"]) == ("won", session, True, PAR)
    result = won["result"]
    assert (result["moves"], result["par"], result["streak"]) == (PAR + 2, PAR, 1)
    assert result["time_ms"] % 100 == 0
    for by in ("time", "moves"):
        board = somebody.get(f"/api/daily/{day['date']}/board?by={by}")
        assert board["me"] == result["places"][by] | {"players": board["players"]}
        (mine,) = [row for row in board["rows"] if row["me"]]
        assert mine in board["around"]
        assert mine == {
            "rank": board["me"]["rank"],
            "player": pseudonym(somebody.player),
            "name": "",
            "me": True,
            "time_ms": result["time_ms"],
            "moves": PAR + 2,
            "session": session,
        }
    month = somebody.get(f"/api/daily/calendar?month={day['date'][:7]}")
    (shown,) = [one for one in month["days"] if one["date"] == day["date"]]
    assert (shown["state"], shown["par"], shown["result"]["session"]) == ("won", PAR, session)
    assert all(one["date"] <= month["today"] for one in month["days"])
    assert somebody.get("/api/me/stats")["daily"]["streak"] == 1
    (row,) = [row for row in somebody.get("/api/all-time")["around"] if row["me"]]
    assert row.keys() == {
        *("rank", "player", "name", "me", "wins", "longest", "best_ms", "best_over_par"),
        *("average_ms", "average_over_par"),
    }


async def test_a_win_that_is_not_on_the_board_yet_is_being_entered(somebody: Person, store: Store) -> None:
    """A node that died with the win: whoever asks next neither goes on playing nor has missed the day."""
    session = somebody.post("/api/daily/start")["session"]
    assert somebody.get("/api/daily")["state"] == "running"
    await write(store, session, 5000, start_ms=await store.time_ms() - 6000)
    assert somebody.get("/api/daily")["state"] == "entering"
    eventually(
        lambda: somebody.get("/api/daily")["state"] == "won", "to be asked is enough to have it entered"
    )
    assert somebody.get("/api/daily")["result"]["time_ms"] == 5000


async def test_every_entry_is_proved_by_its_replay_and_its_log(server: Server, somebody: Person) -> None:
    session = await somebody.wins(detours=3)
    result = somebody.get("/api/daily")["result"]
    other = Person(server)
    await other.wins()
    for one in (somebody, other):
        _, log, _ = one.ask("GET", f"/api/sessions/{session}/log")
        read = record.read(log)
        assert read.outcome is not None
        assert len(read.steps) == result["moves"]
        assert read.elapsed_ms // 100 * 100 == result["time_ms"]
        _, replay, _ = one.ask("GET", f"/api/replays/{session}")
        assert len(msgspec.msgpack.decode(replay)[3]) == result["moves"]


async def test_past_days_are_open(somebody: Person) -> None:
    yesterday = dates.after(somebody.get("/api/daily")["date"], -1)
    day = somebody.get(f"/api/daily/{yesterday}")
    assert (day["over"], day["ends_in_ms"], day["open"], day["par"]) == (True, 0, True, PAR)
    assert somebody.get(f"/api/daily/{yesterday}/board")["rows"] == []
    async with await somebody.connect() as client:
        await client.join(await client.new(GAME.name, {"code": code(yesterday)}))
        for action in winning():
            await client.act(*action)
    assert somebody.get(f"/api/daily/{yesterday}")["result"] is None


@pytest.mark.parametrize("date", ["2020-01-01", "2999-01-01", "tomorrow", "2026-11-31", "%00"])
def test_days_that_are_none(somebody: Person, date: str) -> None:
    assert somebody.refused("GET", f"/api/daily/{date}") == (404, "no_day")
    assert somebody.refused("GET", f"/api/daily/{date}/board") == (404, "no_day")


def test_what_cannot_be_asked_for(somebody: Person) -> None:
    today = somebody.get("/api/daily")["date"]
    for path in (
        f"/api/daily/{today}/board?by=luck",
        "/api/all-time?by=luck",
        "/api/daily/calendar?month=2026-13",
    ):
        assert somebody.refused("GET", path) == (400, "malformed")
    assert somebody.refused("GET", "/api/live?game=chess") == (400, "unknown_game")
    for group in ("none", "%7Dx", "x%7D%7By", "A" * 13):
        assert somebody.refused("GET", f"/api/daily/{today}/board?group={group}") == (404, "no_group")
        assert somebody.refused("GET", f"/api/groups/{group}") == (404, "no_group")
        for deed in ("join", "leave"):
            assert somebody.refused("POST", f"/api/groups/{group}/{deed}") == (404, "no_group")


# -- cheating that fails


def cards_of(frames: list[bytes]) -> bool:
    """Whether any frame has a snapshot or a diff in it."""
    return any(msgspec.msgpack.decode(frame)[0] in (0, 1) for frame in frames)


async def test_reading_the_deal_before_the_start(somebody: Person) -> None:
    """By code, by its address, by the calendar: nothing has a card in it."""
    day = somebody.get("/api/daily")
    async with await somebody.connect() as client:
        client.keep_frames = True
        assert await refusal(client, client.new(GAME.name, {"code": day["code"]})) == "sealed"
        tomorrow = code(dates.after(day["date"]))
        assert await refusal(client, client.new(GAME.name, {"code": tomorrow})) == "sealed"
        session = somebody.post("/api/daily/start")["session"]
        assert not cards_of(client.frames)
        await client.join(session)
        assert cards_of(client.frames)
    shown = json.dumps([somebody.get("/api/daily"), somebody.get("/api/daily/calendar")])
    assert str(PAR) not in json.dumps(somebody.get("/api/daily")["par"])
    assert "deal" not in shown


async def test_a_second_start_in_another_tab_or_device_or_after_clearing_what_the_page_keeps(
    server: Server, somebody: Person
) -> None:
    client = await somebody.begins()
    session = client.table.session
    await client.act("draw")
    await client.act("undo")
    other_device = Person(server, somebody.player)
    for tab in (somebody, other_device):
        assert tab.post("/api/daily/start") == {"session": session}
    async with await other_device.connect() as second:
        await second.join(session)
        assert second.table.version == client.table.version
        assert second.table.elapsed_ms >= client.table.elapsed_ms
    await client.close()
    await somebody.wins()
    assert somebody.post("/api/daily/start") == {"session": session}
    async with await somebody.connect() as third:
        await third.join(session)
        assert await refusal(third, third.act("draw")) == "game_over"


async def test_leaving_the_attempt_for_good(somebody: Person) -> None:
    """It cannot be left: whoever did would be shut out of it, and of the deal."""
    async with await somebody.begins() as client:
        ref = client.fresh_ref()
        assert await refusal(client, client.ask(ref, [8, ref])) == "wrong_moment"
        await client.act("draw")


async def test_many_starts_at_once(server: Server, somebody: Person) -> None:
    async def start() -> str:
        return str((await asyncio.to_thread(somebody.post, "/api/daily/start"))["session"])

    assert len(set(await asyncio.gather(*(start() for _ in range(12))))) == 1


async def test_a_clock_set_wrong(somebody: Person, store: Store) -> None:
    """Nothing that a client sends has a time in it: what it says of time is malformed or ignored."""
    before = await store.time_ms()
    client = await somebody.begins()
    _, shown, _ = somebody.ask("POST", "/api/daily/start", b'{"at_ms": 0}')
    assert shown == {"code": "malformed"}
    assert await refusal(client, client.act("draw", 0)) == "malformed"
    _, day, _ = somebody.ask("GET", "/api/daily", Date="Thu, 01 Jan 1970 00:00:00 GMT")
    await client.close()
    await somebody.wins()
    after = await store.time_ms()
    result = somebody.get("/api/daily")["result"]
    assert day["state"] == "running"
    assert before <= result["at_ms"] <= after
    assert 0 <= result["time_ms"] <= after - before


async def test_undoing_to_peek_for_free(somebody: Person) -> None:
    client = await somebody.begins()
    for _ in range(5):
        await client.act("draw")
    for _ in range(5):
        await client.act("undo")
    assert client.table.view[GAME.fields.index("moves")] == 0
    await client.close()
    await somebody.wins()
    assert somebody.get("/api/daily")["result"]["moves"] == PAR + 10


async def test_practising_today_s_deal_by_code_or_by_watching_others(server: Server) -> None:
    player, stranger, finished = Person(server), Person(server), Person(server)
    client = await player.begins()
    session = client.table.session
    finished_session = await finished.wins()
    for one in (stranger, player):
        async with await one.connect() as looking:
            looking.keep_frames = True
            sessions = [finished_session] if one is player else [session, finished_session]
            for other in sessions:
                assert await refusal(looking, looking.join(other)) == "sealed"
                for path in (f"/api/sessions/{other}/log", f"/api/replays/{other}"):
                    assert one.refused("GET", path) == (403, "sealed")
            today = one.get("/api/daily")["code"]
            assert await refusal(looking, looking.new(GAME.name, {"code": today})) == "sealed"
            assert not cards_of(looking.frames)
    async with await finished.connect() as looking:
        await looking.join(session)
        assert looking.table.seat is None
        assert await refusal(looking, looking.act("draw")) == "not_seated"
        practice = await looking.new(GAME.name, {"code": today})
        await looking.join(practice)
    async with await stranger.connect() as looking:
        assert await refusal(looking, looking.join(practice)) == "sealed"
    await client.close()


async def test_today_s_games_are_listed_for_those_alone_who_may_watch_them(server: Server) -> None:
    player, stranger, finished = Person(server), Person(server), Person(server)
    await finished.wins()
    client = await player.begins()
    await client.act("draw")
    free = await stranger.connect()
    await free.join(await free.new(GAME.name, {"code": CODE}))
    await free.act("draw")
    ranked, other = client.table.session, free.table.session

    def listed(one: Person) -> set[str]:
        return {game["session"] for game in one.get(f"/api/live?game={GAME.name}")["games"]}

    eventually(lambda: {ranked, other} <= listed(finished), "both are listed")
    assert other in listed(stranger)
    assert ranked not in listed(stranger)
    assert ranked not in listed(Person(server, ""))
    (game,) = [game for game in finished.get("/api/live")["games"] if game["session"] == ranked]
    assert game["ranked"]
    assert game.keys() == {
        *("session", "game", "ranked", "names", "bots", "scores", "progress", "since_ms", "viewers")
    }
    await client.close()
    await free.close()


async def test_taking_over_a_row_by_changing_one_s_name(server: Server) -> None:
    ada, thief = Person(server), Person(server)
    name = f"A {secrets.token_hex(4)}"
    for one, detours in ((ada, 0), (thief, 5)):
        async with await one.connect() as client:
            await client.rename(name)
        await one.wins(detours)
    date = ada.get("/api/daily")["date"]
    rows = [row for row in ada.get(f"/api/daily/{date}/board?by=moves")["rows"] if row["name"] == name]
    assert [(row["player"], row["me"], row["moves"]) for row in rows] == [
        (pseudonym(ada.player), True, PAR),
        (pseudonym(thief.player), False, PAR + 10),
    ]
    async with await thief.connect() as client:
        await client.rename("somebody else")
    rows = [row for row in ada.get(f"/api/daily/{date}/board?by=moves")["rows"] if row["name"] == name]
    assert [row["player"] for row in rows] == [pseudonym(ada.player)]


@pytest.mark.parametrize("name", ["a\u202eb", " ", "\u200b", "\u2800", "x" * 21, "a\nb\u0000", "\u3164"])
async def test_a_name_that_is_not_what_it_seems(somebody: Person, name: str) -> None:
    async with await somebody.connect() as client:
        assert await refusal(client, client.rename(name)) == "bad_name"
    assert somebody.refused("POST", "/api/groups", {"name": name}) == (400, "bad_name")


async def test_a_name_with_markup_is_text(somebody: Person) -> None:
    name = "<b>&amp;'\"</b>"
    async with await somebody.connect() as client:
        await client.rename(name)
    await somebody.wins()
    _, board, headers = somebody.ask("GET", f"/api/daily/{somebody.get('/api/daily')['date']}/board")
    assert [row["name"] for row in board["rows"] if row["me"]] == [name]
    assert headers["content-type"] == "application/json"
    assert headers["x-content-type-options"] == "nosniff"


async def test_replaying_somebody_s_frames(server: Server) -> None:
    """The same bytes over another connection are another player's: the cookie says whose they are."""
    winner, thief = Person(server), Person(server)
    client = await winner.begins()
    sent: list[list[Any]] = [[2, client.table.session, 0, 0]]
    for action in winning():
        ref = client.fresh_ref()
        sent.append([3, ref, None, list(action)])
        await client.act(*action, ref=ref)
    await client.close()
    async with await thief.connect() as stolen:
        for message in sent:
            await stolen.send(message)
        await stolen.until(lambda: bool(stolen.errors))
        assert stolen.errors == ["sealed"]
        assert stolen.table.version == 0
    async with await winner.connect() as again:
        await again.join(client.table.session)
        version = again.table.version
        for message in sent[1:]:
            assert await again.ask(message[1], message) <= version, "acked as what it was, and not done again"
        assert again.table.version == version
    eventually(lambda: winner.get("/api/daily")["result"] is not None, "the result is entered")
    assert winner.get("/api/daily")["result"]["moves"] == PAR
    assert thief.get("/api/daily")["result"] is None


# -- requests that change something


@pytest.mark.parametrize(
    ("headers", "answer"),
    [
        ({"Origin": None}, (403, "bad_origin")),
        ({"Origin": "https://evil.example"}, (403, "bad_origin")),
        ({"Origin": "null"}, (403, "bad_origin")),
        ({"Sec_Fetch_Site": "cross-site"}, (403, "bad_origin")),
        ({"Content_Type": "text/plain"}, (400, "malformed")),
        ({"Content_Type": "application/x-www-form-urlencoded"}, (400, "malformed")),
    ],
)
@pytest.mark.parametrize(
    "path",
    [
        "/api/daily/start",
        "/api/groups",
        "/api/groups/x/join",
        "/api/groups/x/leave",
        "/api/me/recovery",
        "/api/me/recover",
        "/api/me/delete",
        "/api/sessions/AAAAAAAAAAAA/private",
    ],
)
def test_a_request_from_elsewhere_changes_nothing(
    somebody: Person, path: str, headers: dict[str, str | None], answer: tuple[int, str]
) -> None:
    status, shown, _ = somebody.ask("POST", path, b"{}", **headers)
    assert (status, shown["code"]) == answer


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        (b"[]", (400, "malformed")),
        (b"{", (400, "malformed")),
        (b'{"code": 7}', (400, "malformed")),
        (b'{"code": "x", "more": 1}', (400, "malformed")),
        (b"\xff", (400, "malformed")),
        (b"[" * 4000, (400, "malformed")),
        (b'{"code": "' + b"x" * 5000 + b'"}', (413, "too_large")),
    ],
)
def test_a_body_that_is_none(somebody: Person, body: bytes, answer: tuple[int, str]) -> None:
    status, shown, _ = somebody.ask("POST", "/api/me/recover", body)
    assert (status, shown["code"]) == answer


def test_what_is_posted_is_not_got_and_the_other_way_round(somebody: Person) -> None:
    assert somebody.ask("GET", "/api/me/delete")[0] == 405
    assert somebody.ask("POST", "/api/me", b"{}")[0] == 405
    assert somebody.refused("GET", "/api/nothing") == (404, "not_found")


# -- players


async def test_a_recovery_code_moves_a_player(server: Server, somebody: Person) -> None:
    async with await somebody.connect() as client:
        await client.rename("Ada")
    recovery = somebody.post("/api/me/recovery")["code"]
    assert somebody.get("/api/me")["recovery"] is True
    elsewhere = Person(server, "")
    status, shown, headers = elsewhere.ask("POST", "/api/me/recover", json.dumps({"code": recovery}).encode())
    assert (status, shown) == (200, {"player": pseudonym(somebody.player)})
    cookie = headers["set-cookie"]
    assert IDENTITY.read(cookie.split(";")[0]) == somebody.player
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert Person(server).refused("POST", "/api/me/recover", {"code": "AAAAA-AAAAA-AAAAA-AAAAA"}) == (
        403,
        "bad_recovery",
    )


def test_somebody_without_a_cookie_gets_one_where_it_matters(server: Server) -> None:
    nobody = Person(server, "")
    for method, path in (("GET", "/api/me"), ("POST", "/api/daily/start"), ("POST", "/api/me/recovery")):
        status, _, headers = nobody.ask(method, path, None if method == "GET" else b"{}")
        assert status == 200
        assert IDENTITY.read(headers["set-cookie"].split(";")[0])
    assert nobody.get("/api/me/stats")["games"] == {}
    assert nobody.get("/api/daily")["state"] == "new"


async def test_everything_about_one_and_then_nothing(somebody: Person, store: Store) -> None:
    session = await somebody.wins()
    date = somebody.get("/api/daily")["date"]
    _, kept, headers = somebody.ask("GET", "/api/me/export")
    assert headers["content-disposition"] == 'attachment; filename="heartroom.json"'
    assert [result["session"] for result in kept["daily"]] == [session]
    eventually(lambda: somebody.get("/api/me/stats")["games"] != {}, "the game is counted")
    status, _, headers = somebody.ask("POST", "/api/me/delete", b"{}")
    assert status == 200
    assert headers["set-cookie"].startswith("heartroom=; Path=/; Max-Age=0")
    assert not any(row["me"] for row in somebody.get(f"/api/daily/{date}/board")["rows"])
    assert somebody.get("/api/me/stats")["games"] == {}
    assert not await store.redis.exists(keys.player(somebody.player))


def test_friends_have_a_board_of_their_own(server: Server, somebody: Person) -> None:
    friend, stranger = Person(server), Person(server)
    group = somebody.post("/api/groups", {"name": "Friends"})["group"]
    seen = friend.get(f"/api/groups/{group}")
    assert seen == {"id": group, "name": "Friends", "member": False, "count": 1, "members": []}
    friend.post(f"/api/groups/{group}/join")
    assert friend.get("/api/me")["groups"] == [{"id": group, "name": "Friends", "members": 2}]
    members = friend.get(f"/api/groups/{group}")["members"]
    assert [(one["player"], one["me"]) for one in members] == [
        (pseudonym(somebody.player), False),
        (pseudonym(friend.player), True),
    ]
    asyncio.run(friend.wins())
    asyncio.run(stranger.wins())
    date = somebody.get("/api/daily")["date"]
    board = somebody.get(f"/api/daily/{date}/board?by=moves&group={group}")
    assert [(row["rank"], row["player"]) for row in board["rows"]] == [(1, pseudonym(friend.player))]
    assert (board["players"], board["me"], board["around"]) == (1, None, [])
    assert board["group"] == {"id": group, "name": "Friends", "members": 2}
    assert stranger.refused("GET", f"/api/daily/{date}/board?group={group}") == (404, "no_group")
    everywhere = somebody.get(f"/api/all-time?group={group}")
    assert [row["wins"] for row in everywhere["rows"]] == [1]
    friend.post(f"/api/groups/{group}/leave")
    assert somebody.get(f"/api/daily/{date}/board?group={group}")["rows"] == []


async def test_a_game_is_made_private_by_its_host_alone(server: Server, somebody: Person) -> None:
    async with await somebody.connect() as client, await Person(server).connect() as watching:
        session = await client.new(GAME.name, {"code": CODE})
        await client.join(session)
        await watching.join(session)
        path = f"/api/sessions/{session}/private"
        assert Person(server).refused("POST", path, {"private": True}) == (403, "not_seated")
        assert somebody.post(path, {"private": True}) == {"private": True}
        await watching.until(lambda: watching.errors == ["private"])
        await client.until(lambda: client.table.settings[3] is True)
        assert await refusal(watching, watching.join(session)) == "private"
        assert somebody.post(path, {"private": False}) == {"private": False}
        await watching.join(session)
    assert somebody.refused("POST", "/api/sessions/AAAAAAAAAAAA/private", {"private": True}) == (
        404,
        "no_session",
    )


# -- what changes is told


async def test_a_board_that_is_looked_at_is_told_of_a_new_entry(server: Server) -> None:
    looking = Person(server)
    date = looking.get("/api/daily")["date"]
    async with await looking.connect() as client:
        client.keep_frames = True

        def told(topic: str) -> int:
            return [msgspec.msgpack.decode(frame) for frame in client.frames].count([13, topic])

        await client.send([11, f"board/{date}"])
        await client.until(lambda: told(f"board/{date}") == 1)
        winner = Person(server)
        await winner.wins()
        await client.until(lambda: told(f"board/{date}") > 1)
        rows = looking.get(f"/api/daily/{date}/board?by=moves")["rows"]
        assert pseudonym(winner.player) in [row["player"] for row in rows]
        await client.send([11, "live"])
        await client.until(lambda: told("live") == 1)
        playing = await winner.connect()
        await playing.join(await playing.new(GAME.name, {"code": CODE}))
        await playing.act("draw")
        await client.until(lambda: told("live") > 1)
        await playing.close()
        await client.send([11, None])


@pytest.mark.parametrize(
    "topic",
    [
        *("", "boards", "board/today", "board/2026-11-30/time", "live/hearts", "hr:all"),
        *("board/2026-99-99", "board/2026-02-30", "board/0000-01-01", "board/20261130"),
    ],
)
async def test_what_cannot_be_watched(somebody: Person, topic: str) -> None:
    async with await somebody.connect() as client:
        await client.send([11, topic])
        await client.until(lambda: client.errors == ["malformed"])


# -- a server that dies


async def test_a_win_is_on_the_board_though_the_server_was_killed_when_it_was_acknowledged(
    process: StoreProcess,
) -> None:
    """Killed as soon as the player knows of the win; the next server enters it without being asked to."""
    for _ in range(3):
        doomed = Server(redis_url=process.url, secret=SECRET)
        player = Person(doomed)
        client = await player.begins()
        *most, last = winning()
        for action in most:
            await client.act(*action)
        await client.act(*last)
        doomed.kill()
        doomed.stop()
        await client.close()
        player.server = Server(redis_url=process.url, secret=SECRET)
        try:
            eventually(lambda: player.get("/api/daily")["result"] is not None, "the win is on the board")  # noqa: B023
            assert player.get("/api/daily")["result"]["moves"] == PAR
            assert player.get("/api/daily")["result"]["streak"] == 1
        finally:
            player.server.stop()


async def test_an_attempt_goes_on_over_a_server_that_was_killed(process: StoreProcess) -> None:
    doomed = Server(redis_url=process.url, secret=SECRET)
    player = Person(doomed)
    client = await player.begins()
    for action in winning()[:20]:
        await client.act(*action)
    session, elapsed_ms = client.table.session, client.table.elapsed_ms
    doomed.kill()
    doomed.stop()
    await client.close()
    player.server = Server(redis_url=process.url, secret=SECRET)
    try:
        assert player.post("/api/daily/start") == {"session": session}
        async with await player.connect() as again:
            await again.join(session)
            assert again.table.version == 21
            assert again.table.elapsed_ms > elapsed_ms
            for action in winning()[20:]:
                await again.act(*action)
        eventually(lambda: player.get("/api/daily")["result"] is not None, "the result is entered")
        assert player.get("/api/daily")["result"]["moves"] == PAR
    finally:
        player.server.stop()
