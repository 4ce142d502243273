"""The `heartroom` command."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import click
import structlog
import uvicorn

from heartroom import __version__, metrics
from heartroom.admin.commands import admin
from heartroom.cards import rank_text
from heartroom.games.game import Refused, Setup
from heartroom.games.heart_to_heart import GAME as HEART_TO_HEART
from heartroom.games.heart_to_heart import solver
from heartroom.protocol.inbound import LARGEST
from heartroom.sessions.record import BadRecord, read
from heartroom.store.embedded import Embedded, StoreFailed, StoreInUse
from heartroom.store.store import Away, Misnamed, OtherFormat, Store
from heartroom.store.urls import parse
from heartroom.web import logs
from heartroom.web import settings as web_settings
from heartroom.web.app import Web
from heartroom.web.counts import Counts, remove_left
from heartroom.web.door import Door
from heartroom.web.memory import Memory
from heartroom.web.requests import BoundedHttp
from heartroom.web.settings import BadSetting, Settings
from heartroom.web.sockets import DirectProtocol
from heartroom.web.workers import Workers, end_with_parent

_log = structlog.get_logger(__name__)

_ENDING = (signal.SIGTERM, signal.SIGINT)

_SPARE_PORTS = 10
"""How many further ports are tried when none was asked for and the usual one is taken."""


_ASKING_S = 2.0
"""How long a start waits for the store."""

_AGAIN_S = 0.2
"""How often it is looked whether they have."""

_OTHERS_S = Store.LEASE_MS / 1000 + 2.0
"""How long a start waits for nodes of another format to end. One that was killed holds its lease so long."""

_LEAVING_S = 3.0
"""How long workers of a parent that was killed may take to let go of the port."""


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def main() -> None:
    """heartroom: a card room on the web."""


main.add_command(admin)


@main.command()
@click.option("--host", help="Address to listen on.  [default: 127.0.0.1]")
@click.option(
    "--port", type=click.IntRange(0, 65535), help="Port to listen on; 0 takes a free one.  [default: 8000]"
)
@click.option("--data-dir", type=click.Path(path_type=Path), help="Where games are kept without a Redis.")
@click.option("--workers", type=click.IntRange(1, 64), help="Server processes.  [default: 1]")
def serve(host: str | None, port: int | None, data_dir: Path | None, workers: int | None) -> None:
    """Open the card room. Further settings come from HEARTROOM_… in the environment."""
    try:
        settings = web_settings.load(os.environ, host=host, port=port, data_dir=data_dir, workers=workers)
        secret = web_settings.secret(settings)
        listening = _listen(settings, wanted=port is not None or "HEARTROOM_PORT" in os.environ)
    except (BadSetting, OSError) as error:
        raise click.ClickException(str(error)) from None
    logs.configure(settings.log_level, settings.log_format)
    if settings.redis_url:
        try:
            _open(settings, secret, settings.redis_url, listening)
        finally:
            listening.close()
        return
    embedded = Embedded(settings.data_dir, settings.fsync)
    try:
        embedded.start()
        _open(settings, secret, embedded.url, listening)
    except (StoreInUse, StoreFailed) as error:
        raise click.ClickException(str(error)) from None
    finally:
        embedded.stop()
        listening.close()


@main.command(hidden=True)
@click.argument("descriptor", type=int)
@click.argument("held", type=int, required=False)
def work(descriptor: int, held: int | None) -> None:
    """One of the processes of `serve --workers`: serves on a socket that the parent has opened, and counts in
    a folder that it has made and holds."""
    counts = None if held is None else Counts.join(Path(os.environ[metrics.DIRECTORY]), held)
    settings = web_settings.load(os.environ)
    logs.configure(settings.log_level, settings.log_format)
    end_with_parent()
    listening = socket.socket(fileno=descriptor)
    _serve(settings, settings.secret, settings.redis_url, listening, "worker", {})
    if counts is not None:
        counts.leave()  # should the parent have been killed, nobody else removes it


@main.command()
@click.argument("code")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def deal(code: str, as_json: bool) -> None:
    """Show the deal of a Heart to Heart CODE, such as HH1-N-AAAAAAM."""
    setup = _deal_of(code)
    heart, stock, discard = setup.deal[:25], setup.deal[25:51], setup.deal[51:]
    if as_json:
        shown = {"code": setup.options["code"], "heart": heart, "stock": stock, "discard": discard}
        click.echo(json.dumps(shown))
        return
    click.echo(setup.options["code"])
    click.echo(HEART_TO_HEART.initial(setup).position)
    click.echo("drawn in this order: " + " ".join(rank_text(rank) for rank in stock))


@main.command()
@click.argument("code")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def solve(code: str, as_json: bool) -> None:
    """Say whether the Heart to Heart deal CODE can be won, and in how few moves."""
    solution = solver.fewest_moves(_deal_of(code).deal)
    facts: dict[str, Any] = {
        "winnable": solution.winnable,
        "fewest_moves": solution.lower_bound if solution.winnable and solution.proven else None,
        "proven": solution.proven,
        "moves": solution.moves,
    }
    if not solution.proven:
        facts["lower_bound"] = solution.lower_bound
    if as_json:
        click.echo(json.dumps(facts))
    elif not solution.winnable:
        click.echo("cannot be won")
    else:
        if solution.proven:
            click.echo(f"fewest moves: {solution.lower_bound}")
        else:
            click.echo(
                f"won in {len(solution.moves)} moves; not in fewer than {solution.lower_bound} (not proven)"
            )
        click.echo(", ".join(" ".join(map(str, move)) for move in solution.moves))


@main.command()
@click.argument("file", type=click.File("rb"))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def verify(file: Any, as_json: bool) -> None:
    """Play an exported game again, by the rules, and say how it ended. FILE may be - for standard input.

    The moves are all that was done, what was undone and the undoing too. Exits with 1 if the record does not
    hold.
    """
    try:
        game = read(file.read())
    except BadRecord as bad:
        if as_json:
            click.echo(json.dumps({"valid": False, "line": bad.line, "reason": bad.reason}))
        else:
            click.echo(f"refused: {_printable(str(bad))}", err=True)
        sys.exit(1)
    outcome = game.outcome
    result = "unfinished" if outcome is None else "won" if game.game.seats == 1 else "over"
    scores = list(game.game.scores(game.states[-1]))
    facts = {
        "valid": True,
        "game": game.header.game,
        "result": result,
        "score": scores[0] if len(scores) == 1 else scores,
        "winners": list(outcome.winners) if outcome else [],
        "moves": len(game.steps),
        "elapsed_ms": game.elapsed_ms,
    }
    if as_json:
        click.echo(json.dumps(facts))
    else:
        for name, value in facts.items():
            if name != "valid":
                click.echo(f"{name}: {value}")


# -- inside


def _printable(text: str) -> str:
    """What a stranger has written, so that it does nothing to the terminal."""
    return "".join(char if char.isprintable() else " " for char in text)


def _deal_of(code: str) -> Setup:
    try:
        return HEART_TO_HEART.deal(HEART_TO_HEART.parse_options({"code": code}), bytes(32))
    except Refused as refused:
        raise click.ClickException(
            f"{code!r} is no deal code ({refused.code}); one looks like HH1-N-AAAAAAM"
        ) from None


def _listen(settings: Settings, *, wanted: bool) -> socket.socket:
    """A socket at the address of the settings, or (if that port was not `wanted`) at one near by."""
    # Workers whose parent was killed hold the port for a moment longer.
    deadline = time.monotonic() + (_LEAVING_S if settings.workers > 1 else 0.0)
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            return _bound(settings.host, settings.port)
        time.sleep(0.05)
    for port in (settings.port,) if wanted else range(settings.port, settings.port + 1 + _SPARE_PORTS):
        try:
            return _bound(settings.host, port)
        except OSError as error:
            failure = OSError(f"cannot listen on {settings.host} port {port}: {error.strerror or error}")
    raise failure


def _bound(host: str, port: int) -> socket.socket:
    family, _, _, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(2048)
    except OSError:
        listening.close()
        raise
    listening.set_inheritable(True)
    return listening


def _address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104
    return f"http://{shown}:{port}"


def _open(settings: Settings, secret: str, redis_url: str, listening: socket.socket) -> None:
    """Serves in this process, or in as many as the settings say."""
    try:
        torn = asyncio.run(_is_torn(redis_url))
    except Misnamed as misnamed:
        raise click.ClickException(f"HEARTROOM_REDIS_URL: {misnamed}") from None
    except OtherFormat as other:
        raise click.ClickException(str(other)) from None
    if torn:
        raise click.ClickException(
            "a restore of this store is under way, or was broken off: then do it again with "
            "`heartroom admin restore --force FILE`"
        )
    remove_left()
    click.echo(f"heartroom is open at {_address(listening)}")
    kind = parse(redis_url).kind if settings.redis_url else "embedded"
    facts = {"version": __version__, "store": kind, "workers": settings.workers}
    if settings.workers == 1:
        _serve(settings, secret, redis_url, listening, "server", facts)
        return
    _log.info("server starts", **facts)
    environ = {name: value for name, value in os.environ.items() if name != "HEARTROOM_WORKERS"}
    Workers(
        settings.workers,
        listening,
        {**environ, "HEARTROOM_REDIS_URL": redis_url, "HEARTROOM_SECRET": secret},
    ).run()
    _log.info("server ended")


async def _is_torn(redis_url: str) -> bool:
    """Whether the store holds half of a backup. One that is away is waited for while we serve, and may be.
    Raises `Misnamed`, and `OtherFormat` if nodes of another format live and do not end."""
    store = Store(redis_url, timeout_s=_ASKING_S)
    try:
        await store.ask_kind()
        await _alone(store)
        return await store.restoring()
    except (Misnamed, OtherFormat):
        raise
    except Away:
        return False
    finally:
        await store.aclose()


async def _alone(store: Store) -> None:
    """Returns when no node of another format lives. Raises `OtherFormat`, `Away`."""
    deadline = time.monotonic() + _OTHERS_S
    waits = False
    while True:
        try:
            return await store.look_around()
        except OtherFormat as other:
            if time.monotonic() >= deadline:
                raise
            if not waits:
                waits = True
                _log.info("waiting for another format to end", reason=str(other))
        await asyncio.sleep(_AGAIN_S)


def _serve(
    settings: Settings,
    secret: str,
    redis_url: str,
    listening: socket.socket,
    role: str,
    facts: Mapping[str, Any],
) -> None:
    """Serves until it is told to end. `role` and `facts`: what the log says of this process."""
    store = Store(redis_url, live_ttl_s=settings.live_days * 86_400, replicas=settings.redis_wait)
    config = uvicorn.Config(
        Web(settings, secret, store).app(),
        loop="uvloop",
        http=BoundedHttp,
        ws=DirectProtocol,
        # Beyond this a frame is not even read; up to it, it gets an answer (see `protocol.inbound.LARGEST`).
        ws_max_size=4 * LARGEST,
        ws_per_message_deflate=False,  # frames are smaller than what it adds
        ws_ping_interval=20.0,
        ws_ping_timeout=20.0,
        timeout_graceful_shutdown=5,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=settings.trusted_proxies or "127.0.0.1",
        server_header=False,
        access_log=False,
        log_config=None,
    )
    _log.info(f"{role} starts", node=store.node, process=os.getpid(), **facts)
    _Server(config, settings.connections_per_second).run(sockets=[listening])
    _log.info(f"{role} ended", node=store.node, process=os.getpid())


class _Server(uvicorn.Server):
    """uvicorn's, with a door of ours."""

    def __init__(self, config: uvicorn.Config, per_second: int) -> None:
        super().__init__(config)
        self._per_second: Final = per_second
        self._memory: Final = Memory()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Opens the house and the door."""
        await super().startup(sockets=[])
        self._memory.begin()

        def make() -> asyncio.Protocol:
            config = self.config
            return BoundedHttp(config, self.server_state, self.lifespan.state)

        self.servers = [Door(each, make, self._per_second) for each in sockets or []]  # type: ignore[misc]

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Closes the door, and sends those who are here elsewhere."""
        _log.info("draining begins", connections=len(self.server_state.connections), process=os.getpid())
        await super().shutdown(sockets=sockets)

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second."""
        if counter % 10 == 5:
            self._memory.tick()
        return await super().on_tick(counter)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Ends the server at SIGTERM and SIGINT. uvicorn's own would raise them again afterwards, and then we
        would end as if by accident, without having ended the store."""
        before = {number: signal.signal(number, self.handle_exit) for number in _ENDING}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


if __name__ == "__main__":
    main()
