"""Nodes that die: after so many commands to the store nothing more of theirs reaches it. Or something happens
between two of their commands."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from heartroom.store.store import Store


class Killed(BaseException):
    """What runs on a node that is dead, and goes no further."""


class Mortal:
    """The life of a node. Commands go to a real store for as long as it lasts; a pipeline is one command."""

    def __init__(
        self,
        store: Store,
        commands: int | None = None,
        meanwhile: Callable[[], Awaitable[object]] | None = None,
    ) -> None:
        self.left = commands
        """How many more commands it sends; `None`: as many as it likes."""
        self.sent = 0
        self._meanwhile = meanwhile
        """What it does not die of, but waits for, after those commands."""
        redis: Any = store.redis
        redis.execute_command = self._counted(redis.execute_command)
        pipeline = redis.pipeline

        def counted_pipeline(*args: Any, **kwargs: Any) -> Any:
            pipe = pipeline(*args, **kwargs)
            pipe.execute = self._counted(pipe.execute)
            return pipe

        redis.pipeline = counted_pipeline

    @property
    def dead(self) -> bool:
        return self.left == 0

    def _counted(self, send: Callable[..., Any]) -> Callable[..., Any]:
        async def counted(*args: Any, **kwargs: Any) -> Any:
            if self.left is not None:
                if self.left == 0:
                    if self._meanwhile is None:
                        raise Killed
                    self.left = None
                    await self._meanwhile()
                else:
                    self.left -= 1
            self.sent += 1
            return await send(*args, **kwargs)

        return counted
