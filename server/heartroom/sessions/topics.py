"""What clients watch that is no session: boards, the list of live games, the day.

Nothing is told but *that* something has changed, at most once in a while; what it is now, a client fetches.
Knows no topic's meaning.
"""

from __future__ import annotations

import asyncio
from typing import Final

from heartroom.protocol import outbound
from heartroom.sessions.viewer import Outlet, Viewer


class Topics:
    """Who watches what on this node. Belongs to one event loop."""

    PAUSE_S: Final = 1.0
    """Between two tellings of one topic."""

    def __init__(self) -> None:
        self._watchers: dict[str, set[Outlet]] = {}
        self._watching: dict[Outlet, str] = {}
        self._paused: dict[str, asyncio.TimerHandle] = {}
        """Topics that were told a short while ago."""
        self._due: dict[str, set[Outlet]] = {}
        """By topic: who is to be told when the pause is over."""

    def watch(self, outlet: Outlet, topic: str | None) -> None:
        """`outlet` is told of `topic` (at once for the first time) and of nothing else from now on."""
        before = self._watching.pop(outlet, None)
        if before is not None:
            watchers = self._watchers[before]
            watchers.discard(outlet)
            if not watchers:
                del self._watchers[before]
            self._due.get(before, set()).discard(outlet)
        if topic is not None:
            self._watching[outlet] = topic
            self._watchers.setdefault(topic, set()).add(outlet)
            outlet.send(outbound.changed(topic))

    def watched(self, topic: str) -> bool:
        """Whether anybody here watches `topic`."""
        return topic in self._watchers

    def changed(self, topic: str) -> None:
        """Tells all who watch `topic`, now or when the pause since the last time is over."""
        watchers = self._watchers.get(topic)
        if not watchers:
            return
        if topic in self._paused:
            self._due.setdefault(topic, set()).update(watchers)
        else:
            self._tell(topic, watchers)

    def all_changed(self) -> None:
        """Something may have been missed: all are told."""
        for topic in list(self._watchers):
            self.changed(topic)

    def aclose(self) -> None:
        """Nothing more is told."""
        for timer in self._paused.values():
            timer.cancel()
        self._paused.clear()

    def _tell(self, topic: str, outlets: set[Outlet]) -> None:
        payload = outbound.changed(topic)
        late = set()
        for outlet in outlets:
            if outlet.backlog > Viewer.CLOGGED:
                late.add(outlet)
            else:
                outlet.send(payload)
        if late:
            self._due[topic] = late
        loop = asyncio.get_running_loop()
        self._paused[topic] = loop.call_later(self.PAUSE_S, self._pause_over, topic)

    def _pause_over(self, topic: str) -> None:
        del self._paused[topic]
        due = self._due.pop(topic, set())
        if due:
            self._tell(topic, due)
