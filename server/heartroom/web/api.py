"""The HTTP API besides finished games: the daily deal, boards, live games, players' data. See docs/api.md."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec
import structlog
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from heartroom.daily import dates
from heartroom.daily.dates import Day
from heartroom.daily.service import Daily, Sight
from heartroom.games.game import Refused, games
from heartroom.leaderboards import results
from heartroom.leaderboards.results import Result, Summary
from heartroom.leaderboards.service import Leaderboards
from heartroom.players.service import Players
from heartroom.protocol.codes import Code
from heartroom.sessions.house import House
from heartroom.sessions.live import Live, Playing
from heartroom.store.boards import Boards, Page, Row
from heartroom.web.answers import answer, answering, body
from heartroom.web.identity import Identity, pseudonym

_log = structlog.get_logger(__name__)

_MOST_LIVE: Final = 100
_GROUP: Final = re.compile(r"[A-Za-z0-9_-]{12}")


class Nothing(Struct, forbid_unknown_fields=True):
    """A *POST* that needs no words."""


class Named(Struct, forbid_unknown_fields=True):
    """What a group is to be called."""

    name: str


class Recovery(Struct, forbid_unknown_fields=True):
    """A recovery code, as it was typed."""

    code: str


class Privacy(Struct, forbid_unknown_fields=True):
    """Whether only those with a seat may look on."""

    private: bool


class Api:
    """One a node."""

    def __init__(self, house: House, identity: Identity, origins: tuple[str, ...]) -> None:
        self.house: Final = house
        self.daily: Final = Daily(house)
        self.boards: Final = Leaderboards(house, self.daily)
        self.players: Final = Players(house, self.boards)
        self.live: Final = Live(house)
        self._identity: Final = identity
        self._origins: Final = origins
        self._odd: Final[set[str]] = set()
        """Boards of which it was said that they have rows that cannot be shown."""

    def start(self) -> None:
        """Begins what goes on by itself."""
        self.daily.start()
        self.boards.start()
        self.live.start()

    async def aclose(self) -> None:
        """Ends it; before the house."""
        await self.live.aclose()
        await self.boards.aclose()
        await self.daily.aclose()

    def routes(self) -> list[Route]:
        """All addresses."""
        return [
            Route("/api/daily", self.today),
            Route("/api/daily/start", self.begin, methods=["POST"]),
            Route("/api/daily/calendar", self.calendar),
            Route("/api/daily/{date}", self.day),
            Route("/api/daily/{date}/board", self.board),
            Route("/api/all-time", self.all_time),
            Route("/api/live", self.live_games),
            Route("/api/sessions/{session}/private", self.privacy, methods=["POST"]),
            Route("/api/groups", self.found_group, methods=["POST"]),
            Route("/api/groups/{group}", self.group),
            Route("/api/groups/{group}/join", self.join_group, methods=["POST"]),
            Route("/api/groups/{group}/leave", self.leave_group, methods=["POST"]),
            Route("/api/me", self.me),
            Route("/api/me/stats", self.statistics),
            Route("/api/me/export", self.export),
            Route("/api/me/recovery", self.recovery, methods=["POST"]),
            Route("/api/me/recover", self.recover, methods=["POST"]),
            Route("/api/me/delete", self.delete, methods=["POST"]),
        ]

    # -- the day

    @answering
    async def today(self, request: Request) -> Response:
        """The present day."""
        return answer(await self._day(await self.daily.today(), self._pid(request)))

    @answering
    async def day(self, request: Request) -> Response:
        """One day."""
        return answer(await self._day(self._date(request), self._pid(request)))

    @answering
    async def begin(self, request: Request) -> Response:
        """Starts (or finds) the player's ranked attempt of today."""
        await body(request, Nothing, self._origins)
        pid, cookie = self._player(request)
        return self._as(cookie, {"session": await self.daily.begin(pid)})

    @answering
    async def calendar(self, request: Request) -> Response:
        """The days of a month that have a deal, but for those to come."""
        pid, now_ms = self._pid(request), await self.daily.clock()
        today = dates.of(now_ms)
        month = request.query_params.get("month", today[:7])
        days = dates.month(month)
        if days is None:
            raise Refused(Code.MALFORMED.value)
        days = [day for day in days if day <= today]
        deals, standings, mine = await asyncio.gather(
            self.daily.days.get_all(days), self.daily.days.standings(days, pid), self.boards.results(pid)
        )
        totals = await self.boards.totals(days)
        by_day = {result.day: result for result in mine}
        shown = []
        for day, deal, standing, total in zip(days, deals, standings, totals, strict=True):
            if deal is None:
                continue
            sight = self.daily.judge(day, now_ms, standing)
            result = by_day.get(day)
            entering = result is None and await self.boards.is_entering(day, standing)
            shown.append(
                {
                    "date": day,
                    "code": self.daily.code(day),
                    "over": sight.over,
                    "state": _state(sight, result, entering=entering),
                    "open": sight.open,
                    "par": deal.par if sight.open else None,
                    "players": total,
                    "result": result and results.as_json(result),
                }
            )
        return answer({"month": month, "today": today, "days": shown})

    async def _day(self, day: Day, pid: str) -> dict[str, Any]:
        now_ms, standing, deal = await asyncio.gather(
            self.daily.clock(), self.daily.days.standing(day, pid), self.daily.find(day)
        )
        sight = self.daily.judge(day, now_ms, standing)
        if day > sight.today or (deal is None and day != sight.today):
            raise Refused(Code.NO_DAY.value)
        result = await self.boards.result(day, pid) if pid else None
        entering = result is None and await self.boards.is_entering(day, standing)
        return {
            "date": day,
            "code": self.daily.code(day),
            "ready": deal is not None,
            "over": sight.over,
            "ends_in_ms": sight.ends_in_ms,
            "state": _state(sight, result, entering=entering),
            "session": result.session if result else sight.session,
            "open": sight.open,
            "par": deal.par if deal is not None and sight.open else None,
            "players": await self.boards.of_day(day).total(),
            "result": result and await self._result(result, pid),
        }

    async def _result(self, result: Result, pid: str) -> dict[str, Any]:
        """A result with all that belongs to it."""
        boards = self.boards.of_day(result.day)
        time, moves, mine = await asyncio.gather(
            boards.page("time", pid, best=0, around=0),
            boards.page("moves", pid, best=0, around=0),
            self.boards.results(pid),
        )
        until = results.summary(one for one in mine if one.day <= result.day)
        return {
            **results.as_json(result),
            "streak": until.streak,
            "places": {"time": _place(time, pid), "moves": _place(moves, pid)},
        }

    # -- boards

    @answering
    async def board(self, request: Request) -> Response:
        """A day's board."""
        day, pid = self._date(request), self._pid(request)
        by = _choice(request, "by", results.BOARDS)
        sight, deal = await asyncio.gather(self.daily.sight(day, pid), self.daily.find(day))
        if day > sight.today or (deal is None and day != sight.today):
            raise Refused(Code.NO_DAY.value)
        head = {"date": day, "by": by, "over": sight.over, "open": sight.open}
        rows = await self._rows(request, self.boards.of_day(day), by, pid, _result_row)
        return answer({**head, **rows})

    @answering
    async def all_time(self, request: Request) -> Response:
        """A board of all time."""
        by, pid = _choice(request, "by", results.ALL_TIME), self._pid(request)
        return answer({"by": by, **await self._rows(request, self.boards.all_time, by, pid, _summary_row)})

    async def _rows(
        self, request: Request, boards: Boards, by: str, pid: str, facts: Callable[[bytes], dict[str, Any]]
    ) -> dict[str, Any]:
        """What is shown of a board, or of a group's part of it. `facts` reads what is known of a row."""
        strays = 0

        def shown(rows: Sequence[Row]) -> list[dict[str, Any]]:
            nonlocal strays
            listed = []
            for row in rows:
                head = {
                    "rank": row.rank,
                    "player": pseudonym(row.pid),
                    "name": row.name,
                    "me": row.pid == pid,
                }
                try:
                    listed.append({**head, **facts(row.facts)})
                except (msgspec.MsgspecError, ValueError):
                    strays += 1
            return listed

        gid = request.query_params.get("group")
        if gid is None:
            page = await boards.page(by, pid)
            group = None
        else:
            found = await self.players.group(pid, _group_id(gid))
            group = {"id": found.id, "name": found.name, "members": len(found.members)}
            best = await boards.of(by, found.members)
            page = Page(len(best), best, [row for row in best if row.pid == pid])
        rows, near = shown(page.best), shown(page.around) if gid is None else []
        if strays + page.strays and boards.slot not in self._odd:
            self._odd.add(boards.slot)
            _log.error("rows on a board cannot be shown", board=boards.slot, by=by, rows=strays + page.strays)
        return {
            "players": page.total,
            "rows": rows,
            "around": near,
            "me": _place(page, pid),
            "group": group,
        }

    # -- live games

    @answering
    async def live_games(self, request: Request) -> Response:
        """Games that are played now and that this player may watch."""
        pid, game = self._pid(request), request.query_params.get("game")
        if game is not None and game not in games():
            raise Refused(Code.UNKNOWN_GAME.value)
        listed = [one for one in await self.live.games() if game in (None, one.game)]
        days = {one: self.daily.day_in(games()[one.game], {"code": one.code}) for one in listed if one.code}
        asked = sorted({day for day in days.values() if day is not None})
        sights = await asyncio.gather(*(self.daily.sight(day, pid) for day in asked))
        closed = {sight.day for sight in sights if not sight.open}
        listed = [one for one in listed if days.get(one) not in closed]
        shown = [_live(one) for one in listed[:_MOST_LIVE]]
        return answer({"now_ms": self.house.now_ms, "total": len(listed), "games": shown})

    @answering
    async def privacy(self, request: Request) -> Response:
        """Makes a game private, or public again."""
        wanted = await body(request, Privacy, self._origins)
        room = await self.house.open(request.path_params["session"])
        await room.set_private(self._pid(request), wanted.private)
        return answer({"private": wanted.private})

    # -- groups

    @answering
    async def found_group(self, request: Request) -> Response:
        """Founds a group."""
        wanted = await body(request, Named, self._origins)
        pid, cookie = self._player(request)
        return self._as(cookie, {"group": await self.players.found_group(pid, wanted.name)})

    @answering
    async def group(self, request: Request) -> Response:
        """A group, to its members; what it is called, to others."""
        pid, gid = self._pid(request), _group_id(request.path_params["group"])
        try:
            found = await self.players.group(pid, gid)
        except Refused:
            name, count = await self.players.invitation(gid)
            return answer({"id": gid, "name": name, "member": False, "count": count, "members": []})
        called = await self.house.store.names(found.members)
        members = [
            {"player": pseudonym(member), "name": name, "me": member == pid}
            for member, name in zip(found.members, called, strict=True)
        ]
        shown = {"id": gid, "name": found.name, "member": True, "count": len(members), "members": members}
        return answer(shown)

    @answering
    async def join_group(self, request: Request) -> Response:
        """Joins a group."""
        await body(request, Nothing, self._origins)
        gid = _group_id(request.path_params["group"])
        pid, cookie = self._player(request)
        await self.players.join_group(pid, gid)
        return self._as(cookie, {"group": gid})

    @answering
    async def leave_group(self, request: Request) -> Response:
        """Leaves a group."""
        await body(request, Nothing, self._origins)
        await self.players.leave_group(self._pid(request), _group_id(request.path_params["group"]))
        return answer({})

    # -- the player

    @answering
    async def me(self, request: Request) -> Response:
        """Who one is."""
        pid, cookie = self._player(request)
        people, store = self.players.people, self.house.store
        (name,), groups, recovery = await asyncio.gather(
            store.names([pid]), people.groups(pid), people.has_recovery(pid)
        )
        shown = {
            "player": pseudonym(pid),
            "name": name,
            "recovery": recovery,
            "groups": [{"id": gid, "name": group, "members": count} for gid, group, count in groups],
        }
        return self._as(cookie, shown)

    @answering
    async def statistics(self, request: Request) -> Response:
        """What one has played, and how well."""
        pid = self._pid(request)
        mine, by_game, today = await asyncio.gather(
            self.boards.results(pid), self.players.statistics(pid), self.daily.today()
        )
        summary = results.summary(mine)
        daily = {**_summary(summary), "streak": summary.streak_on(today)}
        return answer({"daily": daily, "games": by_game})

    @answering
    async def export(self, request: Request) -> Response:
        """All that is kept of one."""
        pid = self._pid(request)
        response = answer({"player": pseudonym(pid), **await self.players.export(pid)})
        response.headers["content-disposition"] = 'attachment; filename="heartroom.json"'
        return response

    @answering
    async def recovery(self, request: Request) -> Response:
        """A recovery code, which is shown this once."""
        await body(request, Nothing, self._origins)
        pid, cookie = self._player(request)
        return self._as(cookie, {"code": await self.players.recovery_code(pid)})

    @answering
    async def recover(self, request: Request) -> Response:
        """Makes this browser the player whose recovery code it is."""
        typed = await body(request, Recovery, self._origins)
        address = request.client.host if request.client is not None else ""
        pid = await self.players.recover(typed.code, address)
        secure = request.url.scheme == "https"
        return self._as(self._identity.set_cookie(pid, secure=secure), {"player": pseudonym(pid)})

    @answering
    async def delete(self, request: Request) -> Response:
        """Deletes all that is kept of one, and the cookie."""
        await body(request, Nothing, self._origins)
        pid = self._pid(request)
        if pid:
            await self.players.forget(pid)
        return self._as(self._identity.no_cookie(secure=request.url.scheme == "https"), {})

    # -- inside

    def _pid(self, request: Request) -> str:
        """The player who asks; `""` for somebody whom we do not know (yet)."""
        return self._identity.read(request.headers.get("cookie")) or ""

    def _player(self, request: Request) -> tuple[str, str | None]:
        """The player who asks, a new one if need be, and then the cookie to set."""
        pid = self._pid(request)
        if pid:
            return pid, None
        pid = self._identity.fresh()
        return pid, self._identity.set_cookie(pid, secure=request.url.scheme == "https")

    def _as(self, cookie: str | None, value: Any) -> Response:
        response = answer(value)
        if cookie is not None:
            response.headers["set-cookie"] = cookie
        return response

    def _date(self, request: Request) -> Day:
        day = dates.parse(request.path_params["date"])
        if day is None:
            raise Refused(Code.NO_DAY.value)
        return day


def _group_id(raw: str) -> str:
    """The id of a group. What is none is not looked for: a brace in it would part what has one slot, and a
    cluster answers that as a store does that is not the one we think."""
    if not _GROUP.fullmatch(raw):
        raise Refused(Code.NO_GROUP.value)
    return raw


def _choice(request: Request, name: str, choices: Sequence[str]) -> str:
    chosen = request.query_params.get(name, choices[0])
    if chosen not in choices:
        raise Refused(Code.MALFORMED.value)
    return chosen


def _state(sight: Sight, result: Result | None, *, entering: bool) -> str:
    """`new`, `running`, `entering` (won, and on its way to the boards), `won`, or `missed` (begun, and can
    count no more)."""
    if result is not None:
        return "won"
    if entering:
        return "entering"
    if sight.running:
        return "running"
    return "new" if sight.session is None else "missed"


def _place(page: Page, pid: str) -> dict[str, int] | None:
    """Where the player stands on a board."""
    row = page.row_of(pid)
    if row is None:
        return None
    return {"rank": row.rank, "players": page.total, "top_percent": -(-100 * row.rank // page.total)}


def _result_row(facts: bytes) -> dict[str, Any]:
    result = results.unpack_result(facts)
    return {"time_ms": result.time_ms, "moves": result.moves, "session": result.session}


def _summary_row(facts: bytes) -> dict[str, Any]:
    shown = _summary(results.unpack_summary(facts))
    del shown["streak"]
    return shown


def _summary(summary: Summary) -> dict[str, Any]:
    return {
        "wins": summary.wins,
        "streak": summary.streak,
        "longest": summary.longest,
        "best_ms": summary.best_ms,
        "best_over_par": summary.best_over_par,
        "average_ms": summary.average_ms,
        "average_over_par": summary.average_over_par,
    }


def _live(playing: Playing) -> dict[str, Any]:
    return {
        "session": playing.session,
        "game": playing.game,
        "ranked": bool(playing.ranked),
        "names": playing.names,
        "bots": playing.bots,
        "scores": playing.scores,
        "progress": playing.progress,
        "since_ms": playing.since_ms,
        "viewers": playing.viewers,
    }
