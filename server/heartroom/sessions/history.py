"""The policy of resuming: what of the past can be proven to somebody who comes back."""

from __future__ import annotations

from collections import deque


class History:
    """The latest diffs of one kind of view, in order and without gaps."""

    KEPT = 64
    """Diffs kept. Beyond some of them a snapshot is the smaller answer anyway."""

    def __init__(self, version: int) -> None:
        """`version`: that of the view before the first diff to come."""
        self._version = version
        self._diffs: deque[bytes] = deque(maxlen=self.KEPT)

    def add(self, version: int, diff: bytes) -> None:
        """Keeps the diff that led to `version`, which must be the next one."""
        assert version == self._version + 1
        self._version = version
        self._diffs.append(diff)

    def since(self, version: int) -> list[bytes] | None:
        """The diffs that somebody at `version` has missed (maybe none), or `None` if that cannot be
        proven."""
        missed = self._version - version
        if not 0 <= missed <= len(self._diffs):
            return None
        return list(self._diffs)[len(self._diffs) - missed :]
