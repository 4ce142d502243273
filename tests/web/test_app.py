"""The server over HTTP and websockets, as programs and browsers meet it."""

from __future__ import annotations

import asyncio
import gc
import json
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import websockets
from redis import Redis
from websockets.asyncio.client import connect as raw_connect
from websockets.protocol import State
from websockets.typing import Subprotocol

from heartroom import client as wire
from heartroom.client import Client, Lost, Rejected
from heartroom.store import keys
from heartroom.web.app import HEADERS
from heartroom.web.identity import Identity
from tests.conftest import Connect
from tests.support.games import CODE, GAME, RECORDED, WINNING
from tests.support.guests import until
from tests.support.serving import HEARTROOM, SECRET, Server, ask, environment
from tests.support.stores import PATIENCE_S, StoreProcess
from tests.web.conftest import ELSEWHERE, LOG_LENGTH


async def refusal(asking: Any) -> str:
    with pytest.raises(Rejected) as caught:
        await asking
    return caught.value.code


async def playing(server: Server) -> Client:
    client = await server.connect()
    await client.join(await client.new(GAME.name, {"code": CODE}))
    return client


# -- the handshake


async def test_a_stranger_is_welcomed_and_gets_a_cookie(served: Server) -> None:
    async with await served.connect() as client:
        assert len(client.player) == 12
        assert (client.name, client.sessions) == ("", [])
        (cookie,) = set_cookies(client)
    parts = [part.strip() for part in cookie.split(";")]
    assert parts[1:] == ["Path=/", f"Max-Age={365 * 86_400}", "HttpOnly", "SameSite=Lax"]
    assert Identity(SECRET).read(parts[0]) is not None


def set_cookies(client: Client) -> list[str]:
    assert client.connection.response is not None
    return client.connection.response.headers.get_all("Set-Cookie")


async def test_who_sends_the_cookie_back_is_the_same_player(served: Server) -> None:
    async with await served.connect() as first:
        session = await first.new(GAME.name)
        await first.rename("Åse")
    async with await served.connect(first.cookie) as again:
        assert again.player == first.player
        assert again.name == "Åse"
        assert again.sessions == [(session, GAME.name)]
        assert set_cookies(again) == []


async def test_a_cookie_that_we_did_not_seal_makes_a_new_player(served: Server) -> None:
    async with await served.connect() as first:
        assert first.cookie is not None
    pid, seal = first.cookie.rsplit(".", 1)
    forged = [
        f"{pid[:-1]}{'A' if pid[-1] != 'A' else 'B'}.{seal}",
        f"{pid}.{seal[:-2]}",
        f"{pid}.",
        pid,
        "x",
        f"{'A' * 16}.{seal}",
        Identity("another secret of others").seal(pid),
    ]
    for cookie in forged:
        async with await served.connect(cookie) as stranger:
            assert stranger.player != first.player
            assert len(set_cookies(stranger)) == 1


async def test_the_pages_of_this_server_may_connect(served: Server) -> None:
    for origin in (f"http://{served.address}", ELSEWHERE):
        async with await served.connect(origin=origin) as client:
            await client.ping()


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "https://play.example.evil.example",
        "http://play.example",
        "null",
        "http://",
        "",
        "http://[",
        "file://",
    ],
)
async def test_the_pages_of_others_may_not(served: Server, origin: str) -> None:
    with pytest.raises(wire.NotAdmitted) as caught:
        await served.connect(origin=origin)
    assert caught.value.status == 403
    assert isinstance(caught.value.__cause__, websockets.InvalidStatus)
    assert "Set-Cookie" not in caught.value.__cause__.response.headers


@pytest.mark.parametrize(
    "address",
    [
        "",
        "nonsense",
        "http://127.0.0.1:8000",
        "ws://",
        "ws://127.0.0.1:99999",
        "ws://127.0.0.1:x",
        "ws://[::1",
    ],
)
async def test_what_is_no_address_is_named_as_such(address: str) -> None:
    with pytest.raises(wire.NoAddress, match=r"not ws://host:port or wss://host:port: '.*'$") as caught:
        await wire.Client.connect(address)
    assert repr(address) in str(caught.value)


async def test_the_host_s_name_in_an_origin_is_not_enough(served: Server) -> None:
    for origin in (
        "http://127.0.0.1",
        f"http://127.0.0.1:{served.port + 1}",
        f"http://evil@{served.address}",
        f"ftp://{served.address}",
        f"chrome-extension://{served.address}",
        f"//{served.address}",
    ):
        with pytest.raises(wire.NotAdmitted):
            await served.connect(origin=origin)


@pytest.mark.parametrize("subprotocols", [None, ["heartroom.v2"], ["chat", "soap"]])
async def test_who_speaks_another_protocol_is_told_not_to_try_again(
    served: Server, subprotocols: list[Subprotocol] | None
) -> None:
    async with raw_connect(f"{served.url}/ws", subprotocols=subprotocols, proxy=None) as connection:
        with pytest.raises(websockets.ConnectionClosed) as caught:
            await connection.recv()
    assert caught.value.rcvd is not None
    assert caught.value.rcvd.code == 4400


async def test_ours_may_be_one_of_several(served: Server) -> None:
    offered = [Subprotocol("heartroom.v2"), Subprotocol("heartroom.v1")]
    async with raw_connect(f"{served.url}/ws", subprotocols=offered, proxy=None) as connection:
        assert connection.subprotocol == "heartroom.v1"
        assert msgspec.msgpack.decode(await connection.recv())[0] == wire.WELCOME  # type: ignore[arg-type]


async def test_there_is_no_other_websocket(served: Server) -> None:
    for path in ("/", "/ws/", "/wss", "/api/replays/x"):
        with pytest.raises(websockets.InvalidStatus):
            async with raw_connect(f"{served.url}{path}", proxy=None):
                pass


# -- playing


async def test_a_game_is_won_over_the_wire(served: Server) -> None:
    async with await playing(served) as client:
        for number, action in enumerate(WINNING, start=1):
            assert await client.act(*action, base=number - 1) == number
        assert client.table.view[GAME.fields.index("status")] == 2
        await client.until(lambda: not client.table.running)
        assert await refusal(client.act("undo")) == "game_over"
        await until(lambda: has_sessions(served, client, []))


async def has_sessions(server: Server, client: Client, sessions: list[Any]) -> bool:
    async with await server.connect(client.cookie) as again:
        return again.sessions == sessions


async def test_a_second_connection_of_the_same_player_sees_the_game_live_and_plays_it(
    served: Server,
) -> None:
    async with await playing(served) as first, await served.connect(first.cookie) as second:
        await second.join(first.table.session)
        assert second.table.seat == 0
        await first.act("draw")
        await second.until(lambda: second.table.version == 1)
        await second.act("draw", base=1)
        await first.until(lambda: first.table.version == 2)
        assert first.table.view == second.table.view
        assert await refusal(first.act("draw", base=1)) == "stale"


async def test_a_stranger_with_the_link_watches(served: Server) -> None:
    async with await playing(served) as player, await served.connect() as stranger:
        await stranger.join(player.table.session)
        assert stranger.table.seat is None
        await player.until(lambda: player.table.viewers == 1)
        await player.act("draw")
        await stranger.until(lambda: stranger.table.version == 1)
        assert stranger.table.view == player.table.view
        assert await refusal(stranger.act("draw")) == "not_seated"
        await stranger.leave()
        await player.until(lambda: player.table.viewers == 0)
        assert await refusal(stranger.act("draw")) == "not_joined"


async def test_a_connection_looks_at_one_session_at_a_time(served: Server) -> None:
    async with await playing(served) as client, await served.connect() as other:
        first = client.table.session
        await other.join(first)
        second = await client.new(GAME.name, {"code": CODE})
        await client.join(second)
        assert client.table.session == second
        await other.until(lambda: other.table.viewers == 1)
        assert await client.act("draw") == 1
        async with await served.connect(client.cookie) as again:
            await again.join(first)
            assert again.table.version == 0


async def test_a_new_name_is_shown_to_all(served: Server) -> None:
    async with await playing(served) as player, await served.connect() as stranger:
        await stranger.join(player.table.session)
        assert await player.rename("  Åse <b> \u202fLi") == "Åse <b> Li"
        for each in (player, stranger):
            await each.until(lambda each=each: each.table.names == ["Åse <b> Li"])  # type: ignore[misc]


async def test_who_lost_the_connection_resumes_with_what_was_missed(served: Server) -> None:
    async with await playing(served) as player, await served.connect() as watching:
        await watching.join(player.table.session)
        await player.act("draw")
        await watching.until(lambda: watching.table.version == 1)
        held = watching.table
        watching.connection.transport.abort()
        for _ in range(3):
            await player.act("draw")
        async with await served.connect(watching.cookie) as back:
            back.keep_frames = True
            back.table = held
            await back.join(held.session, held.epoch, held.version)
            assert back.table.view == player.table.view
            kinds = [msgspec.msgpack.decode(frame)[0] for frame in back.frames]
            assert kinds[:4] == [wire.RESUMED, wire.DIFF, wire.DIFF, wire.DIFF]


async def test_what_was_sent_before_the_connection_was_lost_is_applied_once(served: Server) -> None:
    async with await playing(served) as first:
        session = first.table.session
        messages: list[list[Any]] = [[wire.ACT, ref, ref - 1, ["draw"]] for ref in range(1, 11)]
        for message in messages[:7]:
            await first.send(message)
        await first.close()
    async with await served.connect(first.cookie) as back:
        await back.join(session)
        answers = [await back.ask(int(message[1]), message) for message in messages]
        assert answers == list(range(1, 11))
        assert back.table.version == 10


async def test_messages_sent_in_one_go_are_done_in_order(served: Server) -> None:
    async with await served.connect() as client:
        session = await client.new(GAME.name, {"code": CODE})
        client.keep_frames = True
        client.table.session = session
        # without waiting for the session to be open
        await client.send([wire.JOIN, session, 0, 0])
        for ref in range(1, 6):
            await client.send([wire.ACT, ref, ref - 1, ["draw"]])
        await client.send([wire.LEAVE])
        await client.send([wire.ACT, 9, None, ["draw"]])
        await client.ping()
        await client.until(lambda: kinds(client).count(wire.REJECT) == 1)
        rejects = [
            message for message in map(msgspec.msgpack.decode, client.frames) if message[0] == wire.REJECT
        ]
        assert rejects == [[wire.REJECT, 9, "not_joined"]]
        await client.join(session)
        await client.until(lambda: client.table.version == 5)


def kinds(client: Client) -> list[int]:
    return [msgspec.msgpack.decode(frame)[0] for frame in client.frames]


# -- the closed list of codes


async def test_what_is_no_frame_of_the_protocol_is_malformed(served: Server) -> None:
    async with await playing(served) as client:
        frames: list[bytes | str] = ["[5]", "", b"", b"\xc1", b"\x91" * 4096, b"garbage", b"\x91\x0f"]
        for count, frame in enumerate(frames, start=1):
            await client.send_frame(frame)
            await client.until(lambda count=count: len(client.errors) == count)  # type: ignore[misc]
        await client.connection.send(b"text that is none: \xff", text=True)
        await client.until(lambda: len(client.errors) == len(frames) + 1)
        assert set(client.errors) == {"malformed"}
        assert await refusal(client.ask(7, [wire.ACT, 7, 0.0, ["draw"]])) == "malformed"
        assert await refusal(client.ask(8, [wire.NEW, 8, GAME.name, []])) == "malformed"
        assert await refusal(client.act("castle")) == "malformed"
        assert await client.act("draw") == 1


async def test_a_frame_of_4097_bytes_is_too_large_and_the_connection_goes_on(served: Server) -> None:
    async with await playing(served) as client:
        for size in (4097, 16 * 1024):
            await client.send_frame(b"\x91" * size)
            await client.send_frame("x" * size)
        await client.until(lambda: len(client.errors) == 4)
        assert client.errors == ["too_large", "malformed", "too_large", "malformed"]
        assert await client.act("draw") == 1


async def test_a_frame_beyond_16_kib_ends_the_connection(served: Server) -> None:
    async with await served.connect() as client, await playing(served) as other:
        await client.send_frame(b"\x91" * (16 * 1024 + 1))
        with pytest.raises(Lost):
            await client.until(lambda: False)
        assert client.connection.close_code == 1009
        assert await other.act("draw") == 1


async def test_fragments_are_put_together_and_measured_together(served: Server) -> None:
    async with await playing(served) as client:
        whole = msgspec.msgpack.encode([wire.ACT, 7, None, ["draw"]])
        await client.connection.send([whole[:3], whole[3:5], whole[5:]])
        await client.until(lambda: client.table.version == 1)
        await client.connection.send([b"\x91" * 4000, b"\x91" * 97])
        await client.until(lambda: client.errors == ["too_large"])
        await client.connection.send(["te", "xt"])
        await client.until(lambda: client.errors == ["too_large", "malformed"])


async def test_what_is_refused_has_a_code_and_changes_nothing(served: Server) -> None:
    async with await served.connect() as client:
        assert await refusal(client.act("draw")) == "not_joined"
        for session in ("AAAAAAAAAAAA", "", "x" * 4000, "../../../../"):
            assert await refusal(client.join(session)) == "no_session"
        assert await refusal(client.new("chess")) == "unknown_game"
        assert await refusal(client.new(GAME.name, {"colour": 1})) == "bad_options"
        assert await refusal(client.new(GAME.name, {"code": "HH1-N-AAAAAA!"})) == "bad_code"
        for name in ("", "  ", "x" * 21, "a\u202eb", "\x07"):
            assert await refusal(client.rename(name)) == "bad_name"
        await client.join(await client.new(GAME.name, {"code": CODE}))
        assert await refusal(client.act("draw", base=5)) == "stale"
        assert await refusal(client.act("pair", 1, 2)) == "covered"
        assert await refusal(client.act("pair", 25, 0)) == "not_equal"
        assert client.table.version == 0
        assert client.name == ""
        # what was refused of a join left no session behind
        assert await client.act("draw") == 1


async def test_a_join_that_is_refused_changes_nothing(served: Server) -> None:
    async with await playing(served) as client:
        assert await refusal(client.join("AAAAAAAAAAAA")) == "no_session"
        assert await client.act("draw", base=0) == 1
        assert client.table.version == 1


async def test_a_session_that_is_full_says_so(served: Server) -> None:
    async with await playing(served) as client:
        for number in range(LOG_LENGTH):
            await client.act("undo" if number % 2 else "draw")
        assert await refusal(client.act("draw")) == "log_full"
        assert await refusal(client.act("undo")) == "log_full"


async def test_who_sends_too_fast_is_told_so_and_who_does_not_is_not(served: Server) -> None:
    async with await playing(served) as hasty, await playing(served) as other:
        for number in range(150):
            await hasty.send([wire.PING, number])
        await hasty.until(lambda: bool(hasty.errors))
        assert set(hasty.errors) == {"too_fast"}
        for number in range(5):
            assert await other.act("draw") == number + 1

        # it may go on when it has waited
        async def again() -> bool:
            count = len(hasty.errors)
            await hasty.send([wire.PING, 2**40])
            await asyncio.sleep(0.1)
            return len(hasty.errors) == count

        await until(again)


async def test_actions_that_come_too_fast_are_refused_one_by_one(served: Server) -> None:
    async with await playing(served) as client:
        client.keep_frames = True
        for ref in range(1, 301):
            await client.send([wire.ACT, ref, None, ["draw"]])
        await client.until(lambda: kinds(client).count(wire.ACK) + kinds(client).count(wire.REJECT) == 300)
        codes = [m[2] for m in map(msgspec.msgpack.decode, client.frames) if m[0] == wire.REJECT]
        assert "too_fast" in codes
        assert client.table.version == 26


async def test_a_flood_ends_the_connection_and_costs_nobody_else_anything(served: Server) -> None:
    async with await served.connect() as client, await playing(served) as other:
        with pytest.raises(Lost):
            await flood(client, b"\xc1")
        await client.connection.wait_closed()
        assert client.connection.close_code == 4408
        # most of it got no answer
        assert len(client.errors) < 400
        assert await other.act("draw") == 1


async def flood(client: Client, frame: bytes) -> None:
    while True:
        for _ in range(100):
            await client.send_frame(frame)
        await asyncio.sleep(0)


async def test_a_flood_of_good_messages_ends_too(served: Server) -> None:
    async with await served.connect() as client:
        with pytest.raises(Lost):
            await flood(client, msgspec.msgpack.encode([wire.PING, 7]))
        await client.connection.wait_closed()
        assert client.connection.close_code == 4408


# -- HTTP


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/healthz", 200),
        ("/readyz", 200),
        ("/api/sessions/AAAAAAAAAAAA/log", 404),
        ("/api/replays/AAAAAAAAAAAA", 404),
        ("/api/replays/x", 404),
        ("/api/nothing", 404),
        ("/assets/nothing.js", 404),
        ("/api/replays/example/heart-to-heart", 200),
        ("/api/replays/example/chess", 404),
        ("/daily/", 307),
        ("/healthz/", 404),
    ],
)
def test_every_answer_carries_the_security_headers(served: Server, path: str, status: int) -> None:
    answer = served.get(path)
    assert answer.status == status
    secure(answer.headers)
    assert answer.all("server") == []


@pytest.mark.parametrize("path", ["/", "/healthz", "/readyz", "/api/all-time"])
def test_who_says_no_more_than_a_request_is_answered(served: Server, path: str) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE_S) as asking:
        asking.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        asking.shutdown(socket.SHUT_WR)
        got = b""
        while data := asking.recv(65_536):
            got += data
    assert got.startswith(b"HTTP/1.1 200 OK\r\n")


def secure(headers: list[tuple[str, str]]) -> None:
    for name, value in HEADERS.items():
        assert [found for header, found in headers if header.lower() == name] == [value]


def test_a_method_that_is_not_there_is_refused_with_the_headers(served: Server) -> None:
    for method in ("POST", "PUT", "DELETE"):
        answer = ask(served.address, "/healthz", method)
        assert (answer.status, json.loads(answer.body)) == (405, {"code": "wrong_method"})
        assert set(answer.one("allow").split(", ")) == {"GET", "HEAD"}
        secure(answer.headers)
        assert ask(served.address, "/api/x", method).status == 404


async def test_a_fault_of_the_server_carries_the_headers_and_says_nothing(
    own: StoreProcess, connect: Connect
) -> None:
    server = Server(redis_url=own.url, secret=SECRET)
    async with await server.connect() as client:
        session = await client.new(GAME.name)
        # somebody else has been at the store
        await connect(own).redis.hdel(keys.session(session), "deal")
        answer = await asyncio.to_thread(server.get, f"/api/sessions/{session}/log")
        assert answer.status == 500
        secure(answer.headers)
        assert b"Traceback" not in answer.body
        await client.send([wire.JOIN, session, 0, 0])
        with pytest.raises(Lost):
            await client.until(lambda: False)
        assert client.connection.close_code == 1011
    server.stop()


def test_a_slash_too_many_leads_to_the_page_whatever_host_was_named(served: Server) -> None:
    for path, to in (
        ("/daily/", "/daily"),
        ("/daily/2026-11-30/?x=%2F", "/daily/2026-11-30?x=%2F"),
        ("/d/a%20b/", "/d/a%20b"),
        ("//", "/"),
    ):
        answer = served.get(path, Host="evil.example")
        assert (answer.status, answer.one("location")) == (307, to)
    for path in (
        "//evil.example/",
        "/%2Fevil.example/",
        "/api/me/",
        "/healthz/",
        "/daily%2F",
        "/%2F",
        "/d//",
        "/nothing/",
    ):
        answer = served.get(path)
        assert (answer.status, answer.all("location")) == (404, []), path


def test_what_is_not_there_has_a_code(served: Server) -> None:
    for path, code in (
        ("/api/sessions/AAAAAAAAAAAA/log", "no_session"),
        ("/api/sessions/x/log", "no_session"),
        ("/api/sessions/%00/log", "no_session"),
        ("/api/replays/AAAAAAAAAAAA", "no_session"),
        ("/api/replays/example/chess", "unknown_game"),
        ("/api/x", "not_found"),
    ):
        answer = served.get(path)
        assert (answer.status, json.loads(answer.body)) == (404, {"code": code})


async def test_a_finished_game_is_given_out_as_heartroom_verify_reads_it(
    served: Server, tmp_path: Path
) -> None:
    async with await playing(served) as client:
        session = client.table.session
        await client.rename("Åse")
        for action in WINNING[:-1]:
            await client.act(*action)
        for path in (f"/api/sessions/{session}/log", f"/api/replays/{session}"):
            answer = await asyncio.to_thread(served.get, path)
            assert (answer.status, json.loads(answer.body)) == (409, {"code": "not_over"})
            secure(answer.headers)
        await client.act(*WINNING[-1])
        await client.until(lambda: not client.table.running)
    log = await asyncio.to_thread(served.get, f"/api/sessions/{session}/log")
    assert log.status == 200
    assert log.one("content-disposition") == f'attachment; filename="{GAME.name}-{session}.jsonl"'
    secure(log.headers)
    assert len(log.body.splitlines()) == len(WINNING) + 1
    # nobody's identity is in it
    assert str(Identity(SECRET).unseal(client.cookie or "")).encode() not in log.body
    file = tmp_path / "game.jsonl"
    file.write_bytes(log.body)
    done = await asyncio.to_thread(
        subprocess.run,
        [HEARTROOM, "verify", "--json", str(file)],
        capture_output=True,
        env=environment(),
        check=True,
    )
    facts = json.loads(done.stdout)
    assert facts["valid"]
    assert (facts["result"], facts["moves"], facts["score"]) == ("won", len(WINNING), 250)
    assert facts["elapsed_ms"] == client.table.elapsed_ms


async def test_a_finished_game_can_be_looked_at(served: Server) -> None:
    async with await playing(served) as client:
        await client.rename("Åse")
        first = list(client.table.view)
        for action in WINNING:
            await client.act(*action)
        await client.until(lambda: not client.table.running)
        answer = await asyncio.to_thread(served.get, f"/api/replays/{client.table.session}")
    assert answer.status == 200
    assert answer.one("content-type") == "application/msgpack"
    game, names, view, frames = msgspec.msgpack.decode(answer.body)
    assert (game, names, view) == (GAME.name, ["Åse"], first)
    for number, (version, _at_ms, *pairs) in enumerate(frames, start=1):
        assert version == number
        for index, value in zip(pairs[::2], pairs[1::2], strict=True):
            view[index] = value
    assert view == client.table.view
    assert frames[0][1] == 0
    assert frames[-1][1] == client.table.elapsed_ms


def test_the_example_is_the_recorded_game(served: Server) -> None:
    answer = served.get(f"/api/replays/example/{GAME.name}")
    _, _, _, frames = msgspec.msgpack.decode(answer.body)
    assert len(frames) == len(RECORDED.splitlines()) - 1
    assert "max-age" in answer.one("cache-control")


# -- a store that does not answer


async def test_while_the_store_does_not_answer_the_server_says_so_and_goes_on_when_it_is_back(
    own: StoreProcess, plain_sends: str
) -> None:
    server = Server(redis_url=own.url, secret=SECRET, plain_sends=plain_sends)
    async with await playing(server) as client, await server.connect() as other:
        assert await client.act("draw") == 1
        assert (await asyncio.to_thread(server.get, "/readyz")).status == 200
        own.kill()
        assert (await asyncio.to_thread(server.get, "/healthz")).status == 200
        for path in ("/readyz", f"/api/sessions/{'A' * 12}/log", f"/api/replays/{'A' * 12}"):
            answer = await asyncio.to_thread(server.get, path)
            assert answer.status == 503
            secure(answer.headers)
        assert await refusal(other.new(GAME.name)) == "unavailable"
        assert await refusal(other.rename("Åse")) == "unavailable"
        acting = asyncio.ensure_future(client.act("draw", base=1))
        await client.until(lambda: not client.store_answers)
        joining = asyncio.ensure_future(other.join(client.table.session))
        # who comes now is told before it is welcomed
        coming = asyncio.ensure_future(server.connect())
        own.start()
        assert await acting == 2
        await client.until(lambda: client.store_answers)
        await joining
        await other.until(lambda: other.table.version == 2)
        await (await coming).close()
        assert (await asyncio.to_thread(server.get, "/readyz")).status == 200
        assert await client.act("draw", base=2) == 3
    assert server.terminate() == 0
    assert "Traceback" not in server.said()
    server.stop()


@pytest.mark.parametrize("how", ["killed", "frozen"])
async def test_who_only_looks_on_elsewhere_or_is_in_the_lobby_learns_that_the_store_is_away(
    own: StoreProcess, how: str, plain_sends: str
) -> None:
    harm, heal = (own.kill, own.start) if how == "killed" else (own.freeze, own.thaw)
    here, there = (Server(redis_url=own.url, secret=SECRET, plain_sends=plain_sends) for _ in range(2))
    async with (
        await playing(here) as player,
        await there.connect() as watcher,
        await here.connect() as idle,
        await there.connect() as elsewhere,
    ):
        await watcher.join(player.table.session)
        clients = (player, watcher, idle, elsewhere)
        harm()
        for client in clients:
            await client.until(lambda client=client: not client.store_answers)  # type: ignore[misc]
        for server in (here, there):
            assert (await asyncio.to_thread(server.get, "/readyz")).status == 503
            assert (await asyncio.to_thread(server.get, "/healthz")).status == 200
        heal()
        for client in clients:
            await client.until(lambda client=client: client.store_answers)  # type: ignore[misc]
        assert await player.act("draw") == 1
        await watcher.until(lambda: watcher.table.version == 1)
    for server in (here, there):
        assert server.terminate() == 0
        assert "Traceback" not in server.said()
        server.stop()


async def test_a_store_that_answers_and_does_not_store_is_none_to_a_proxy(own: StoreProcess) -> None:
    server = Server(redis_url=own.url, secret=SECRET)

    async def ready() -> bool:
        return (await asyncio.to_thread(server.get, "/readyz")).status == 200

    async def unready() -> bool:
        return not await ready()

    assert await ready()
    with Redis(unix_socket_path=own.socket) as redis:
        for harm, heal in (
            (("CONFIG", "SET", "maxmemory", "1"), ("CONFIG", "SET", "maxmemory", "0")),
            (("REPLICAOF", "127.0.0.1", "1"), ("REPLICAOF", "NO", "ONE")),
        ):
            redis.execute_command(*harm)
            assert redis.ping()
            await until(unready)
            redis.execute_command(*heal)
            await until(ready)
    assert server.terminate() == 0
    server.stop()


async def test_a_request_sent_twice_is_answered_to_both_who_wait(served: Server) -> None:
    async with await served.connect() as client:
        await client.join(await client.new(GAME.name, {"code": CODE}))
        ref = client.fresh_ref()
        asked = client.act("draw", ref=ref), client.act("draw", ref=ref)
        assert set(await asyncio.gather(*asked)) == {1}
        assert client.table.version == 1


async def test_a_program_makes_a_table_sits_down_begins_and_leaves(served: Server) -> None:
    async with (
        await served.connect() as host,
        await served.connect() as guest,
        await served.connect() as late,
    ):
        session = await host.new("hearts", {}, {"pace": 0, "level": "easy"})
        await host.join(session)
        await late.join(session)
        await guest.join(session)
        await guest.sit()
        await guest.until(lambda: guest.table.seat is not None)
        with pytest.raises(Rejected, match=r"^seat_taken$"):
            await late.sit(guest.table.seat)
        await host.start()
        await guest.until(lambda: guest.table.started)
        await guest.stand()
        await guest.until(lambda: guest.table.seat is None)
        quick = await guest.quick("hearts")
        assert quick != session
        await guest.join(quick)
        assert guest.table.seat is not None


async def test_who_loses_the_connection_while_asking_learns_it_once(served: Server) -> None:
    """While a connection is being closed nothing is sent, and what was asked gets no answer: one error."""
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: complaints.append(context))
    client = await served.connect()
    await client.join(await client.new(GAME.name))
    closing = asyncio.create_task(client.connection.close())
    await asyncio.sleep(0)
    assert client.connection.state is State.CLOSING
    with pytest.raises(Lost):
        await client.act("draw")
    await closing
    await client.close()
    del client, closing
    gc.collect()
    assert complaints == []


async def test_who_cannot_connect_learns_it_as_one_error() -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        with pytest.raises(Lost):
            await wire.Client.connect(f"ws://127.0.0.1:{nobody.getsockname()[1]}")


async def test_who_leaves_in_the_middle_of_a_request_is_nobody_s_error(shared: StoreProcess) -> None:
    server = Server(redis_url=shared.url, secret=SECRET)
    for _ in range(3):
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(
            b"POST /api/groups HTTP/1.1\r\nHost: x\r\nOrigin: http://x\r\nExpect: 100-continue\r\n"
            b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n"
        )
        assert b"100 Continue" in await reader.readline()  # it is waited for
        writer.transport.abort()
    assert await asyncio.to_thread(server.terminate) == 0
    assert server.complaints() == ""
    server.stop()


# -- limits


@pytest.fixture
def narrow(shared: StoreProcess) -> Iterator[Server]:
    """A server with room for little."""
    server = Server(
        redis_url=shared.url,
        secret=SECRET,
        connections_per_address="3",
        sessions_per_hour="2",
        viewers_per_session="2",
    )
    yield server
    server.stop()


async def test_an_address_has_so_many_connections_and_no_more(narrow: Server) -> None:
    clients = [await narrow.connect() for _ in range(3)]
    with pytest.raises(wire.NotAdmitted) as caught:
        await narrow.connect()
    assert caught.value.status == 429
    assert isinstance(caught.value.__cause__, websockets.InvalidStatus)
    assert b"too_many_connections" in (caught.value.__cause__.response.body or b"")
    assert narrow.complaints() == ""  # it is no error of the server's
    await clients.pop().close()

    async def admitted() -> bool:
        try:
            clients.append(await narrow.connect())
        except wire.NotAdmitted:
            return False
        return True

    await until(admitted)  # the server hears of an end in its own time
    for client in clients:
        await client.ping()
        await client.close()


async def test_a_player_begins_so_many_sessions_and_others_are_not_kept_from_it(narrow: Server) -> None:
    async with await narrow.connect() as keen, await narrow.connect() as other:
        for _ in range(2):
            await keen.new(GAME.name)
        assert await refusal(keen.new(GAME.name)) == "too_many_sessions"
        assert await refusal(keen.new("hearts", {}, {})) == "too_many_sessions"
        assert await refusal(keen.new("chess")) == "unknown_game"
        await other.new(GAME.name)


async def test_so_many_look_at_a_session_but_its_player_always_may(narrow: Server) -> None:
    async with await narrow.connect() as first, await narrow.connect() as second:
        async with await narrow.connect() as player:
            session = await player.new(GAME.name)
        await first.join(session)
        await second.join(session)
        async with await narrow.connect(player.cookie) as player:
            await player.join(session)
            assert player.table.seat == 0
            await first.leave()
            await second.ping()
            assert await refusal(first.join(session)) == "crowded"
