"""One connection looking at one session, and what happens when it is slow."""

from __future__ import annotations

from typing import Final, Protocol

from heartroom import metrics
from heartroom.protocol import outbound


class Outlet(Protocol):
    """The way to one client: a socket, or a list in a test. Sending never blocks and never raises, also
    when the client is gone."""

    @property
    def backlog(self) -> int:
        """Bytes that were sent and have not left yet."""
        ...

    def send(self, payload: bytes, *more: bytes) -> None:
        """Sends messages, together if there are several. A first one that is sent to many outlets in a row
        (the same, by `is`) costs little."""
        ...


_CLOGGED: Final = 64 * 1024
_AWAY: Final = outbound.store(False)
_BACK: Final = outbound.store(True)


class Viewer:
    """A player or spectator at one session.

    What a session shows is a stream that a snapshot can replace at any point. So a viewer whose outlet is
    clogged gets nothing more of the stream until it has drained, and then one snapshot. Answers to its own
    requests are never dropped: they wait for that snapshot (and are few, as no more of its requests are read
    meanwhile).
    """

    CLOGGED: Final = _CLOGGED
    """Bytes of backlog from which on a viewer is slow."""

    __slots__ = ("_held", "_told_away", "kind", "lagging", "outlet", "pid", "seat", "waits")

    def __init__(self, outlet: Outlet, pid: str) -> None:
        self.outlet = outlet
        self.pid = pid
        self.seat: int | None = None
        """The seat of the joined session; `None` for a spectator."""
        self.kind: int | None = None
        """The perspective from which this viewer sees."""
        self.lagging = False
        self.waits = False
        """Whether a request of this viewer's own waits for a store that does not answer."""
        self._told_away = False
        self._held: list[bytes] = []

    def show(self, payload: bytes, *answers: bytes) -> bool:
        """Sends a part of the stream, and with it answers to this viewer's own requests; or drops the one and
        keeps the others, as in `tell`, if the outlet is clogged. Says whether it was sent."""
        outlet = self.outlet
        if self.lagging or outlet.backlog > _CLOGGED:
            if not self.lagging:
                metrics.CLOGGED.inc()
            self.lagging = True
            self._held += answers
            return False
        if answers:
            outlet.send(payload, *answers)
        else:  # nearly always, and for as many as look on
            outlet.send(payload)
        return True

    def tell(self, payload: bytes) -> None:
        """Sends an answer to this viewer's own request: now, or after the snapshot that is due."""
        if self.lagging:
            self._held.append(payload)
        else:
            self.outlet.send(payload)

    def tell_away(self, away: bool) -> None:
        """Tells whether the store is away as far as this viewer is concerned, if that is news to it: no part
        of the stream, and no snapshot would make up for it."""
        away = away or self.waits
        if away != self._told_away:
            self._told_away = away
            self.outlet.send(_AWAY if away else _BACK)

    def caught_up(self, *payloads: bytes) -> None:
        """Sends the snapshot (and what belongs to it) that ends the lag, then the answers that waited."""
        self.lagging = False
        held, self._held = self._held, []
        if payloads or held:
            self.outlet.send(*payloads, *held)
