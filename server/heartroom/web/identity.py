"""Who is who: a guest is a random id in a sealed cookie, and nothing else about them is known."""

from __future__ import annotations

import hashlib
import re
import secrets
from typing import Final

from itsdangerous import BadSignature, Signer
from starlette.requests import cookie_parser

COOKIE: Final = "heartroom"
_YEAR_S: Final = 365 * 86_400
_PID = re.compile(r"[A-Za-z0-9_-]{16}")


class Identity:
    """Makes and reads the cookies of one house."""

    def __init__(self, secret: str) -> None:
        self._signer = Signer(
            secret, salt="heartroom.player", key_derivation="hmac", digest_method=hashlib.sha256
        )

    def fresh(self) -> str:
        """A new player's id, 96 random bits."""
        return secrets.token_urlsafe(12)

    def seal(self, pid: str) -> str:
        """The cookie's value for a player."""
        return self._signer.sign(pid).decode()

    def unseal(self, value: str) -> str | None:
        """The player in a cookie's value; `None` if we did not seal it."""
        try:
            pid = self._signer.unsign(value).decode()
        except (BadSignature, UnicodeDecodeError):
            return None
        return pid if _PID.fullmatch(pid) else None

    def read(self, header: str | None) -> str | None:
        """The player in a `Cookie` header; `None` if there is none."""
        # Not the standard library's parser: it gives up at the first cookie of others that it finds odd.
        value = cookie_parser(header or "").get(COOKIE)
        return self.unseal(value) if value is not None else None

    def set_cookie(self, pid: str, *, secure: bool) -> str:
        """The `Set-Cookie` header that makes a browser be `pid`."""
        parts = [f"{COOKIE}={self.seal(pid)}", "Path=/", f"Max-Age={_YEAR_S}", "HttpOnly", "SameSite=Lax"]
        if secure:
            parts.append("Secure")
        return "; ".join(parts)

    def no_cookie(self, *, secure: bool) -> str:
        """The `Set-Cookie` header that makes a browser forget who it was."""
        return f"{COOKIE}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax{'; Secure' if secure else ''}"


def pseudonym(pid: str) -> str:
    """A name for a player that can be shown and logged and leads back to no cookie."""
    return hashlib.blake2s(pid.encode(), digest_size=6, person=b"pseudo").hexdigest()
