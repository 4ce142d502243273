"""`heartroom admin`: the commands as they are typed, and what they print."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import os
import re
import secrets
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Final, TypeVar

import click

from heartroom.admin import acting, backup, looking
from heartroom.admin.acting import Desk
from heartroom.admin.broken import Broken, Unreadable
from heartroom.daily import dates
from heartroom.games.game import Refused
from heartroom.store.embedded import Embedded, StoreFailed, StoreInUse
from heartroom.store.store import Away, Misnamed, OtherFormat, Store
from heartroom.web import logs, settings
from heartroom.web.settings import BadSetting, Settings

T = TypeVar("T")

_NOT_ALL: Final = 3
"""The exit code of a command that did what could be done, and has named what could not."""

_PATIENCE_S: Final = 20.0
"""How long the store may take for one answer."""


@dataclass(frozen=True)
class _Given:
    """What was said before the command's name."""

    data_dir: Path | None


@click.group()
@click.option(
    "--data-dir",
    type=click.Path(path_type=Path),
    help="Where games are kept without a Redis; not together with HEARTROOM_REDIS_URL.",
)
@click.pass_context
def admin(context: click.Context, data_dir: Path | None) -> None:
    """Look into a house, end and hide things, back it up. For those who run it.

    Works on the store that `serve` would use with the same HEARTROOM_… in the environment, while nodes run or
    not; --data-dir stands before the command's name. Sessions and players are named by their pseudonyms, as
    in the log, or by their ids (one that begins with - after --).
    """
    if data_dir is not None and os.environ.get("HEARTROOM_REDIS_URL"):
        # One of the two would be passed over in silence, and something done to a store that was not meant.
        raise click.UsageError(
            f"--data-dir {data_dir} and HEARTROOM_REDIS_URL name two stores: leave one out (`env -u …`)"
        )
    context.obj = _Given(data_dir)


def _command(function: Callable[..., None]) -> click.Command:
    """A command of the group with `--json`, whose failures are one line and exit code 1. It is given what is
    to be filled with all that it cannot read, which is named in the end."""

    @functools.wraps(function)
    def run(*args: Any, **options: Any) -> None:
        broken = Broken()
        try:
            function(*args, broken, **options)
        except BrokenPipeError:  # whoever reads what we print has read enough: click ends without a word
            raise
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            raise click.ClickException(where + (error.strerror or str(error))) from None
        except (
            BadSetting,
            StoreFailed,
            looking.NotFound,
            Unreadable,
            acting.Over,
            backup.BadBackup,
            backup.Torn,
        ) as error:
            raise click.ClickException(str(error)) from None
        except backup.NotEmpty as error:
            raise click.ClickException(f"nothing was restored: {error}") from None
        except Refused as refused:
            raise click.ClickException(f"refused: {refused.code}") from None
        except Misnamed as misnamed:
            raise click.ClickException(f"HEARTROOM_REDIS_URL: {misnamed}") from None
        except OtherFormat as other:
            raise click.ClickException(str(other)) from None
        except Away as away:
            raise click.ClickException(f"the store does not answer: {away}") from None
        for line in broken.lines:
            click.echo(f"Warning: {_BREAKS.sub(' ', line)}", err=True)
        if broken.count:
            raise click.exceptions.Exit(_NOT_ALL)

    decorated = click.option("--json", "as_json", is_flag=True, help="Print JSON.")(run)
    name = function.__name__.strip("_").replace("_", "-")
    return admin.command(name)(click.pass_obj(decorated))


def _day(_context: click.Context, _parameter: click.Parameter, raw: str) -> str:
    if (day := dates.parse(raw)) is None:
        raise click.BadParameter(f"{raw!r} is no date; one looks like 2026-11-30")
    return day


def _why(_context: click.Context, _parameter: click.Parameter, raw: str) -> str:
    if not (why := raw.strip()):
        raise click.BadParameter("say why: it is written down, and blanks say nothing")
    if any("\ud800" <= char <= "\udfff" for char in why):
        raise click.BadParameter("it is written down, and this is no UTF-8")
    return why


_reason = click.option("--reason", required=True, callback=_why, help="Why; it is written down.")
_day_argument = click.argument("day", callback=_day)


@_command
def nodes(given: _Given, broken: Broken, as_json: bool) -> None:
    """List the nodes and their leases."""
    found = _with_store(given, lambda store: looking.nodes(store, broken))
    if as_json:
        return _print_json([node._asdict() for node in found])
    _print_table(
        ("node", "lease", "said", "live games", "release", "format"),
        [
            (
                node.node,
                f"{node.lease_ms / 1000:.1f} s" if node.alive else "ended",
                _ago(node.said_ms_ago),
                node.games,
                node.release or "unknown",
                node.format or "unknown",
            )
            for node in found
        ],
    )


@_command
@click.option("--game", default="", help="Only of this game.")
@click.option("--player", default="", help="Only with this player: pseudonym, id or name.")
@click.option("--live", is_flag=True, help="Only those that a node has open.")
def sessions(given: _Given, broken: Broken, game: str, player: str, live: bool, as_json: bool) -> None:
    """List sessions, the latest first."""
    found = _with_store(
        given, lambda store: looking.sessions(store, game=game, player=player, live=live, broken=broken)
    )
    if as_json:
        return _print_json(
            [{**one._asdict(), "players": [p._asdict() for p in one.players]} for one in found]
        )
    _print_table(
        ("session", "game", "version", "age", "idle", "open", "players"),
        [
            (
                one.session,
                one.game + (f" ({one.ranked})" if one.ranked else ""),
                one.version,
                _ago(one.age_ms),
                _ago(one.idle_ms),
                "yes" if one.open else "",
                ", ".join(f"{player.name} {player.player}".strip() for player in one.players),
            )
            for one in found
        ],
    )


@_command
@click.argument("session")
@click.option("--reveal", is_flag=True, help="Also ids, the log, and the deal of a game that goes on.")
def session(given: _Given, broken: Broken, session: str, reveal: bool, as_json: bool) -> None:
    """Show a SESSION."""

    async def look(store: Store) -> dict[str, Any]:
        facts = await looking.inspect(store, session, reveal=reveal, broken=broken)
        if reveal:
            await acting.note(store, "reveal", facts["session"], "")
        return facts

    facts = _with_store(given, look)
    if as_json:
        return _print_json(facts)
    for name, value in facts.items():
        if name.endswith("_ms") and name != "elapsed_ms" and value is not None:
            name, value = name.removesuffix("_ms"), _date(value)
        click.echo(f"{name}: {value if isinstance(value, str | int) else json.dumps(value, default=_plain)}")


@_command
@click.argument("session")
@_reason
def end(given: _Given, _broken: Broken, session: str, reason: str, as_json: bool) -> None:
    """End a SESSION for good: its players are told, nobody wins, its log is kept."""
    done = _at_desk(given, lambda desk: desk.end(session, reason))
    _print_done({"ended": done}, as_json)


@_command
@click.argument("player")
@_reason
@click.option("--undo", is_flag=True, help="They may take a name again; the old one does not come back.")
def hide_name(given: _Given, _broken: Broken, player: str, reason: str, undo: bool, as_json: bool) -> None:
    """Remove the name of a PLAYER everywhere; they can take no other.

    PLAYER is a pseudonym or an id, no name; `sessions --player NAME` shows whose name it is.
    """
    done = _at_desk(
        given, lambda desk: desk.show_name(player, reason) if undo else desk.hide_name(player, reason)
    )
    _print_done({"may_take_a_name_again" if undo else "name_hidden": done}, as_json)


@_command
@_day_argument
@click.argument("player")
@_reason
@click.option("--undo", is_flag=True, help="Show it again.")
def hide_row(
    given: _Given, _broken: Broken, day: str, player: str, reason: str, undo: bool, as_json: bool
) -> None:
    """Hide the result of a PLAYER (pseudonym or id) on a DAY: it is on no board and counts for nothing."""
    done = _at_desk(
        given, lambda desk: desk.show_row(day, player, reason) if undo else desk.hide_row(day, player, reason)
    )
    _print_done({"row_shown" if undo else "row_hidden": done, "day": day}, as_json)


@_command
@_day_argument
def rebuild(given: _Given, broken: Broken, day: str, as_json: bool) -> None:
    """Prove the results of a DAY again from their logs, and put the boards right."""

    async def do(desk: Desk) -> acting.Rebuilt:
        await desk.deal(day)
        await acting.note(desk.store, "rebuild", day, "")
        return await desk.rebuild(day, broken=broken)

    _print_done(_at_desk(given, do)._asdict(), as_json)


@_command
def actions(given: _Given, broken: Broken, as_json: bool) -> None:
    """List what was done here, when, why, and by whom: the operating system's user and host."""
    found = _with_store(given, lambda store: acting.actions(store, broken))
    if as_json:
        return _print_json([done._asdict() for done in found])
    _print_table(
        ("when", "what", "on", "by", "reason"),
        [(_date(done.at_ms), done.action, done.on, done.by, done.reason) for done in found],
    )


@_command
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True))
def backup_(given: _Given, broken: Broken, file: str, as_json: bool) -> None:
    """Write all that a house must not lose to FILE, or - for standard output."""
    if file == "-":
        if as_json:
            raise click.UsageError("--json and the backup cannot both go to standard output")
        _with_store(given, lambda store: backup.backup(store, sys.stdout.buffer, broken))
        return
    with _appearing(Path(file)) as out:
        counts = _with_store(given, lambda store: backup.backup(store, out, broken))
    _print_done(counts._asdict(), as_json, leave_out=("expired", "unplayable", "left_out"))


@_command
@click.argument("file", type=click.File("rb"))
@click.option("--force", is_flag=True, help="Remove what is there.")
@click.option("--leave-out-broken", is_flag=True, help="Restore all but what no house has, and name that.")
def restore(
    given: _Given, broken: Broken, file: IO[bytes], force: bool, leave_out_broken: bool, as_json: bool
) -> None:
    """Make the store what it was when FILE was written (- for standard input). No node may be running."""

    async def do(store: Store, again: IO[bytes]) -> backup.Counts:
        counts = await backup.restore(store, again, force=force, broken=broken if leave_out_broken else None)
        await acting.note(store, "restore", "", "")
        return counts

    with tempfile.TemporaryFile() as spooled:
        if not file.seekable():
            while piece := file.read(1 << 20):
                spooled.write(piece)
            spooled.seek(0)
            file = spooled
        counts = _with_store(given, lambda store: do(store, file), anew=True)
    _print_done(counts._asdict(), as_json)


# -- inside


def _with_store(given: _Given, do: Callable[[Store], Awaitable[T]], *, anew: bool = False) -> T:
    """What `do` returns for the store of the settings. `anew`: an embedded one may be made."""
    taken = _settings(given)
    logs.configure("warning", taken.log_format)

    async def doing(url: str) -> T:
        store = Store(
            url, live_ttl_s=taken.live_days * 86_400, timeout_s=_PATIENCE_S, replicas=taken.redis_wait
        )
        try:
            await store.ask_kind()
            return await do(store)
        finally:
            await store.aclose()

    with _url(taken, anew) as url:
        return asyncio.run(doing(url))


def _at_desk(given: _Given, do: Callable[[Desk], Awaitable[T]]) -> T:
    limits = _settings(given).limits

    async def doing(store: Store) -> T:
        async with Desk.at(store, limits) as desk:
            return await do(desk)

    return _with_store(given, doing)


def _settings(given: _Given) -> Settings:
    # Nothing is sealed here, so nobody need know the secret.
    return settings.load(os.environ, data_dir=given.data_dir, secret=secrets.token_hex(16))


@contextlib.contextmanager
def _url(taken: Settings, anew: bool) -> Iterator[str]:
    """Where the store is. The embedded one is started for as long as that takes, unless a heartroom has."""
    if taken.redis_url:
        yield taken.redis_url
        return
    if not anew and not (taken.data_dir / "server.lock").exists():
        raise StoreFailed(
            f"{taken.data_dir} holds no store; HEARTROOM_REDIS_URL or --data-dir say where one is"
        )
    embedded = Embedded(taken.data_dir, taken.fsync)
    try:
        with contextlib.suppress(StoreInUse):  # then it is running, and answers at the same place
            embedded.start()
        yield embedded.url
    finally:
        embedded.stop()


@contextlib.contextmanager
def _appearing(path: Path) -> Iterator[IO[bytes]]:
    """A file, for our eyes only, that appears under its name when it is whole."""
    # Of its own: not one that somebody has put there, nor that of another backup that is being made.
    descriptor, name = tempfile.mkstemp(".part", f"{path.name}.", path.parent)
    part = Path(name)
    try:
        with open(descriptor, "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _print_json(value: Any) -> None:
    click.echo(json.dumps(value, default=_plain, ensure_ascii=False))


def _plain(value: Any) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)


def _print_done(facts: dict[str, Any], as_json: bool, leave_out: Sequence[str] = ()) -> None:
    facts = {name: value for name, value in facts.items() if name not in leave_out}
    if as_json:
        return _print_json(facts)
    for name, value in facts.items():
        click.echo(f"{name.replace('_', ' ')}: {value}")


_BREAKS: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
"""What would end a line of a table, or do something to the terminal."""


def _print_table(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    lines = [heads, *([_BREAKS.sub(" ", str(cell)) for cell in row] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    for line in lines:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _ago(ms: int) -> str:
    for unit, size in (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000)):
        if ms >= size:
            return f"{ms // size} {unit}"
    return f"{ms // 1000} s"


def _date(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="seconds")
