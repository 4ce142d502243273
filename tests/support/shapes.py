"""What is stored and said, without its values: names of keys, fields, and what kind of thing is where."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

_PACKED: Final = re.compile(rb"([ -~\n]*?)([\x80-\x9f\xdc-\xdf].*)", re.DOTALL)
_WORD: Final = re.compile(r"[a-z][a-z_-]{2,}")
_HASH: Final = re.compile(r"[0-9a-f]{16,}")
_NUMBER: Final = re.compile(r"\d+(\.\d+)?(e[+-]?\d+)?")
_MANY: Final = 12
"""Lists that are longer are no records, and may have any length."""


class Shapes:
    """Tells shapes, given what ids stand for: `{"Ab3…": "<player>"}`."""

    def __init__(self, known: Mapping[str, str]) -> None:
        self._known: Final = dict(known)

    def text(self, text: str) -> str:
        """A text: ids and numbers replaced, all else as it is."""
        for raw, name in self._known.items():
            text = text.replace(raw, name)
        return _NUMBER.sub("N", _HASH.sub("<hash>", text))

    def of(self, raw: bytes) -> str:
        """What is in a value, a field, or a message: text, JSON, msgpack, or text and then msgpack."""
        if raw[:1] in (b"[", b"{"):
            return self._of(json.loads(raw))
        packed = _PACKED.fullmatch(raw)
        if packed is None:
            return self.text(raw.decode())
        return f"{self.text(packed[1].decode())} {self._of(msgspec.msgpack.decode(packed[2]))}".strip()

    def _of(self, value: Any) -> str:
        if isinstance(value, bool) or value is None:
            return type(value).__name__
        if isinstance(value, int | float):
            return "number"
        if isinstance(value, str):
            return self._known.get(value) or (value if _WORD.fullmatch(value) else "text")
        if isinstance(value, dict):
            return "{" + ", ".join(f"{self.text(key)}: {self._of(value[key])}" for key in sorted(value)) + "}"
        assert isinstance(value, list), value
        each = [self._of(one) for one in value]
        return f"[{', '.join(each)}]" if len(each) <= _MANY else f"[{' | '.join(sorted({*each}))} …]"

    async def stored(self, redis: Any) -> dict[str, Any]:
        """By key: its type, whether it expires, and the shapes of what it holds; of a hash by field."""
        found: dict[str, Any] = {}
        for key in sorted(await redis.keys("*")):
            kind = (await redis.type(key)).decode()
            if kind == "none":  # its time has come just now
                continue
            its = found.setdefault(self.text(key.decode()), {"type": kind, "expires": [], "holds": {}})
            its["expires"] = sorted({*its["expires"], await redis.ttl(key) >= 0})
            for field, value in await _items(redis, kind, key):
                shapes = its["holds"].setdefault(self.of(field), [])
                shapes[:] = sorted({*shapes, *([self.of(value)] if kind == "hash" else [])})
        for its in found.values():
            its["holds"] = its["holds"] if its["type"] == "hash" else sorted(its["holds"])
        return dict(sorted(found.items()))


async def _items(redis: Any, kind: str, key: bytes) -> list[tuple[bytes, bytes]]:
    if kind == "hash":
        return [*(await redis.hgetall(key)).items()]
    if kind == "string":
        return [(await redis.get(key), b"")]
    if kind == "list":
        return [(one, b"") for one in await redis.lrange(key, 0, -1)]
    if kind == "set":
        return [(one, b"") for one in await redis.smembers(key)]
    return [(one, b"") for one in await redis.zrange(key, 0, -1)]
