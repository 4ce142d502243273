"""What the host of a heartroom may set, from the environment. README.md has the same as a table."""

from __future__ import annotations

import ipaddress
import os
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from heartroom.sessions.room import Limits
from heartroom.store import urls


class BadSetting(Exception):
    """A setting that cannot be used; the message names it and says why."""


def _default_data_dir() -> Path:
    base = os.environ.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local" / "share") / "heartroom"


@dataclass(frozen=True, slots=True)
class Settings:
    """Each field is read from `HEARTROOM_` + its name in capitals."""

    host: str = "127.0.0.1"
    """Address to listen on."""
    port: int = 8000
    """Port to listen on; 0 takes a free one."""
    workers: int = 1
    """Server processes that share the port."""
    data_dir: Path = Path()
    """Where the embedded store and the secret are kept. Default: `$XDG_DATA_HOME/heartroom` or
    `~/.local/share/heartroom`."""
    redis_url: str = ""
    """A Redis ≥ 7 or Valkey to use instead of the embedded one: see `store.urls`."""
    redis_wait: int = 0
    """Replicas of the store that must have a move before it is shown or acknowledged."""
    fsync: str = "always"
    """The embedded store's: `always` (a move is on the disk before it is acknowledged) or `everysec`."""
    secret: str = ""
    """Seals the players' cookies. With `redis_url` it must be set, the same on every node; without, it is
    made once and kept in `data_dir`."""
    origins: tuple[str, ...] = ()
    """Further origins (`https://play.example`, comma-separated) whose pages may connect, besides our own; as
    browsers send them."""
    trusted_proxies: str = ""
    """Addresses and networks of proxies (comma-separated) whose `X-Forwarded-For` and `-Proto` are believed;
    `*`: everybody's."""
    frames_per_second: int = 40
    """Frames that one connection may send, in the long run."""
    frames_burst: int = 120
    """Frames that it may send at once."""
    connections_per_second: int = 400
    """Connections that one process takes up in a second; who comes besides waits in the system's queue."""
    connections_per_address: int = 500
    """Websockets that one address (of IPv6, one network of 64 bits) may have open on one process. Each worker
    counts for itself: with W of them an address gets at least so many, and at most W times as many, as the
    system happens to share them out."""
    sessions_per_hour: int = Limits().sessions_per_hour
    """Sessions that one player may begin at once, and in an hour."""
    viewers_per_session: int = Limits().viewers
    """Connections on one process that may look at one session; those who have a seat always may. Each worker
    counts for itself, as above."""
    log_length: int = Limits().log_length
    """Actions in one session."""
    live_days: int = 30
    """How long a game lives after it was last played or opened."""
    finished_days: int = 400
    """How long a finished game is kept."""
    linger_seconds: int = 60
    """How long a node keeps a session in memory after its last viewer left."""
    grace_seconds: int = 30
    """How long a player at a table may be without connection before a bot plays for them."""
    plain_sends: bool = False
    """Send through the web framework alone, frame by frame, instead of writing shared bytes to the
    transports: slower, and the same for everybody."""
    log_level: str = "info"
    """`debug`, `info`, `warning` or `error`."""
    log_format: str = "auto"
    """`json` (one object a line), `text`, or `auto`: text on a terminal, else JSON."""
    metrics_from: tuple[str, ...] = ("127.0.0.0/8", "::1")
    """Addresses and networks (comma-separated) to which `/metrics` is shown; to all others there is none."""

    def shows_metrics_to(self, address: str, host: str = "") -> bool:
        """Whether a client at `address`, which calls us `host`, may read `/metrics`.

        A browser on this machine has an address that may. Whoever owns a domain can make it lead here, and
        read what a page of it gets; so from here we must be called by an address, or a name without a domain.
        """
        try:
            client = ipaddress.ip_address(address)
        except ValueError:  # a Unix socket, or a proxy's fancy
            return False
        if isinstance(client, ipaddress.IPv6Address) and client.ipv4_mapped:
            client = client.ipv4_mapped
        if client.is_loopback and not _without_domain(host):
            return False
        return any(client in ipaddress.ip_network(network) for network in self.metrics_from)

    @property
    def limits(self) -> Limits:
        """What of this concerns sessions."""
        return Limits(
            log_length=self.log_length,
            viewers=self.viewers_per_session,
            sessions_per_hour=self.sessions_per_hour,
            finished_ttl_s=self.finished_days * 86_400,
            linger_s=float(self.linger_seconds),
            grace_ms=self.grace_seconds * 1000,
        )


def _without_domain(host: str) -> bool:
    """Whether a `Host` is an address, `localhost`, or a name that no stranger can have; or none."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return "." not in name or name.endswith(".localhost")
    return True


_CHOICES = {
    "fsync": ("always", "everysec"),
    "log_level": ("debug", "info", "warning", "error"),
    "log_format": ("json", "text", "auto"),
}


_RANGES = {
    "port": (0, 65_535),
    "workers": (1, 64),
    "redis_wait": (0, 10),
    "live_days": (1, 36_500),
    "finished_days": (1, 36_500),
    "linger_seconds": (0, 1_000_000),
    "grace_seconds": (1, 86_400),
}


def _read(name: str, kind: str, raw: str) -> Any:
    if name in _CHOICES and raw not in _CHOICES[name]:
        raise BadSetting(f"HEARTROOM_{name.upper()} must be one of {', '.join(_CHOICES[name])}, not {raw!r}")
    if kind == "int":
        if not raw.isascii() or not raw.isdigit():
            raise BadSetting(f"HEARTROOM_{name.upper()} must be a whole number, not {raw!r}")
        least, most = _RANGES.get(name, (1, 1_000_000))
        if len(raw) > 9 or not least <= int(raw) <= most:
            raise BadSetting(f"HEARTROOM_{name.upper()} must be from {least} to {most}, not {raw}")
        return int(raw)
    if kind == "bool":
        if raw not in ("0", "1"):
            raise BadSetting(f"HEARTROOM_{name.upper()} must be 0 or 1, not {raw!r}")
        return raw == "1"
    if kind == "Path":
        return Path(raw).expanduser()
    if kind.startswith("tuple"):
        return tuple(item.strip().rstrip("/") for item in raw.split(",") if item.strip())
    return raw


def _check_networks(name: str, networks: Iterable[str], more: str = "") -> None:
    for network in networks:
        try:
            ipaddress.ip_network(network)
        except ValueError as error:
            raise BadSetting(f"HEARTROOM_{name} must be addresses or networks{more}: {error}") from None


def _check_origin(origin: str) -> None:
    """Refuses what no browser ever sends as an origin, and so would let nobody in."""
    try:
        parts = urlsplit(origin)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise BadSetting(f"HEARTROOM_ORIGINS: {origin!r} is no origin: {error}") from None
    if not host or parts.scheme not in _PORTS:
        raise BadSetting(f"HEARTROOM_ORIGINS: {origin!r} is no origin; one looks like https://play.example")
    named = f"[{host}]" if ":" in host else host
    sent = f"{parts.scheme}://{named}" + ("" if port in (None, _PORTS[parts.scheme]) else f":{port}")
    if not host.isascii():
        raise BadSetting(f"HEARTROOM_ORIGINS: browsers send the host of {origin!r} in ASCII (xn--…)")
    if origin != sent:
        raise BadSetting(f"HEARTROOM_ORIGINS: browsers send no origin {origin!r}, but {sent!r}")


_PORTS = {"http": 80, "https": 443}
"""What goes without saying in an origin."""


def load(environ: Mapping[str, str], **given: Any) -> Settings:
    """The settings in `environ`; those `given` (and not `None`) come first.

    Raises `BadSetting`, also for a name that begins with `HEARTROOM_` and is none.
    """
    known = {f"HEARTROOM_{field.name.upper()}": field for field in fields(Settings)}
    for name in environ:
        if name.startswith("HEARTROOM_") and name not in known:
            raise BadSetting(f"there is no setting {name}")
    values: dict[str, Any] = {"data_dir": _default_data_dir()}
    for name, field in known.items():
        if environ.get(name, "") != "":
            values[field.name] = _read(field.name, str(field.type), environ[name])
    values.update({name: value for name, value in given.items() if value is not None})
    settings = Settings(**values)
    _check_networks("METRICS_FROM", settings.metrics_from)
    if settings.trusted_proxies != "*":
        proxies = (item.strip() for item in settings.trusted_proxies.split(","))
        _check_networks("TRUSTED_PROXIES", [item for item in proxies if item], "; or * alone")
    for origin in settings.origins:
        _check_origin(origin)
    if settings.redis_url:
        try:
            urls.parse(settings.redis_url)
        except urls.BadUrl as error:
            raise BadSetting(f"HEARTROOM_REDIS_URL {error}") from None
    if settings.redis_url and not settings.secret:
        raise BadSetting("HEARTROOM_SECRET must be set (the same on every node) where HEARTROOM_REDIS_URL is")
    if settings.redis_wait and not settings.redis_url:
        raise BadSetting("HEARTROOM_REDIS_WAIT needs HEARTROOM_REDIS_URL: the embedded store has no replicas")
    if settings.secret and len(settings.secret) < 16:
        raise BadSetting("HEARTROOM_SECRET must have at least 16 characters")
    return settings


def secret(settings: Settings) -> str:
    """The secret of this house: the one set, or the one kept in the data directory, made if need be."""
    if settings.secret:
        return settings.secret
    settings.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = settings.data_dir / "secret"
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        kept = path.read_text(errors="replace").strip()
        if len(kept) < 16 or "\ufffd" in kept:
            raise BadSetting(f"{path} holds no secret; remove it and all players are strangers") from None
        return kept
    fresh = secrets.token_urlsafe(32)
    with open(descriptor, "w") as file:
        file.write(fresh + "\n")
        file.flush()
        os.fsync(file.fileno())
    return fresh
