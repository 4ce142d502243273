"""What a host may set, and how it learns of a mistake."""

from __future__ import annotations

import stat
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from heartroom.web.settings import BadSetting, Settings, load, secret

SECRET = "sixteen letters!"


def test_nothing_need_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setenv("HOME", "/home/ada")
    taken = load({})
    assert (taken.host, taken.port) == ("127.0.0.1", 8000)
    assert taken.data_dir == Path("/home/ada/.local/share/heartroom")
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert load({}).data_dir == Path("/data/heartroom")


def test_every_setting_is_read_from_the_environment() -> None:
    environ = {
        "HEARTROOM_HOST": "0.0.0.0",
        "HEARTROOM_PORT": "0",
        "HEARTROOM_DATA_DIR": "~/games",
        "HEARTROOM_REDIS_URL": "redis://redis:6379/0",
        "HEARTROOM_FSYNC": "everysec",
        "HEARTROOM_SECRET": SECRET,
        "HEARTROOM_ORIGINS": "https://a.example/, https://b.example,",
        "HEARTROOM_TRUSTED_PROXIES": "10.0.0.1",
        "HEARTROOM_FRAMES_PER_SECOND": "10",
        "HEARTROOM_FRAMES_BURST": "20",
        "HEARTROOM_LOG_LENGTH": "30",
        "HEARTROOM_LIVE_DAYS": "1",
        "HEARTROOM_FINISHED_DAYS": "2",
        "HEARTROOM_LINGER_SECONDS": "0",
        "HEARTROOM_GRACE_SECONDS": "5",
        "HEARTROOM_PLAIN_SENDS": "1",
        "HEARTROOM_LOG_LEVEL": "debug",
        "PATH": "/bin",
    }
    taken = load(environ)
    assert (taken.host, taken.port, taken.fsync) == ("0.0.0.0", 0, "everysec")
    assert taken.data_dir == Path.home() / "games"
    assert taken.origins == ("https://a.example", "https://b.example")
    assert taken.plain_sends is True
    assert taken.limits.log_length == 30
    assert taken.limits.finished_ttl_s == 2 * 86_400
    assert taken.limits.linger_s == 0.0
    assert taken.limits.grace_ms == 5_000


def test_what_is_set_to_nothing_is_not_set() -> None:
    assert load({"HEARTROOM_PORT": "", "HEARTROOM_SECRET": ""}) == load({})


def test_what_is_given_comes_before_the_environment() -> None:
    environ = {"HEARTROOM_PORT": "1", "HEARTROOM_HOST": "a"}
    assert load(environ, port=2, host=None) == load({"HEARTROOM_HOST": "a"}, port=2)


WRONG: dict[str, tuple[dict[str, str], str]] = {
    "a name that is none": ({"HEARTROOM_PROT": "1"}, "HEARTROOM_PROT"),
    "a name in small letters": ({"HEARTROOM_port": "1"}, "HEARTROOM_port"),
    "words for a number": ({"HEARTROOM_PORT": "http"}, "HEARTROOM_PORT"),
    "a number that is not whole": ({"HEARTROOM_LIVE_DAYS": "1.5"}, "HEARTROOM_LIVE_DAYS"),
    "a number below nothing": ({"HEARTROOM_LOG_LENGTH": "-1"}, "HEARTROOM_LOG_LENGTH"),
    "digits of another script": ({"HEARTROOM_PORT": "٣"}, "HEARTROOM_PORT"),
    "no such port": ({"HEARTROOM_PORT": "65536"}, "HEARTROOM_PORT"),
    # a session that lives for no time at all is deleted as soon as it is made
    "games that live for no day": ({"HEARTROOM_LIVE_DAYS": "0"}, "HEARTROOM_LIVE_DAYS"),
    "finished games kept for no day": ({"HEARTROOM_FINISHED_DAYS": "0"}, "HEARTROOM_FINISHED_DAYS"),
    "more days than Redis can count": ({"HEARTROOM_LIVE_DAYS": "9" * 15}, "HEARTROOM_LIVE_DAYS"),
    "no frames": ({"HEARTROOM_FRAMES_PER_SECOND": "0"}, "HEARTROOM_FRAMES_PER_SECOND"),
    "no frame at once": ({"HEARTROOM_FRAMES_BURST": "0"}, "HEARTROOM_FRAMES_BURST"),
    "no actions": ({"HEARTROOM_LOG_LENGTH": "0"}, "HEARTROOM_LOG_LENGTH"),
    "yes": ({"HEARTROOM_PLAIN_SENDS": "yes"}, "HEARTROOM_PLAIN_SENDS"),
    "true": ({"HEARTROOM_PLAIN_SENDS": "true"}, "HEARTROOM_PLAIN_SENDS"),
    "a choice that is none": ({"HEARTROOM_FSYNC": "no"}, "HEARTROOM_FSYNC"),
    "a level that is none": ({"HEARTROOM_LOG_LEVEL": "INFO"}, "HEARTROOM_LOG_LEVEL"),
    "a short secret": ({"HEARTROOM_SECRET": "x" * 15}, "HEARTROOM_SECRET"),
    "replicas of a store that has none": (
        {"HEARTROOM_REDIS_WAIT": "1"},
        "HEARTROOM_REDIS_WAIT needs",
    ),
    "a store and no secret": ({"HEARTROOM_REDIS_URL": "redis://x"}, "HEARTROOM_SECRET"),
    "a proxy that is no address": ({"HEARTROOM_TRUSTED_PROXIES": "nonsense"}, "HEARTROOM_TRUSTED_PROXIES"),
    "a proxy by its name": ({"HEARTROOM_TRUSTED_PROXIES": "10.0.0.1, proxy"}, "HEARTROOM_TRUSTED_PROXIES"),
    "a network with a host in it": (
        {"HEARTROOM_TRUSTED_PROXIES": "10.0.0.1/8"},
        "HEARTROOM_TRUSTED_PROXIES",
    ),
    "everybody and one": ({"HEARTROOM_TRUSTED_PROXIES": "*,10.0.0.1"}, "HEARTROOM_TRUSTED_PROXIES"),
    "metrics for nonsense": ({"HEARTROOM_METRICS_FROM": "nonsense"}, "HEARTROOM_METRICS_FROM"),
    "an origin without a scheme": ({"HEARTROOM_ORIGINS": "play.example"}, "HEARTROOM_ORIGINS"),
    "an origin with a port and no scheme": ({"HEARTROOM_ORIGINS": "play.example:8000"}, "HEARTROOM_ORIGINS"),
    "an origin with a path": ({"HEARTROOM_ORIGINS": "https://play.example/cards"}, "HEARTROOM_ORIGINS"),
    "an origin with a question": ({"HEARTROOM_ORIGINS": "https://play.example?x"}, "HEARTROOM_ORIGINS"),
    "an origin of another scheme": ({"HEARTROOM_ORIGINS": "wss://play.example"}, "HEARTROOM_ORIGINS"),
    "an origin without a host": ({"HEARTROOM_ORIGINS": "https://"}, "HEARTROOM_ORIGINS"),
    "an origin with a login": ({"HEARTROOM_ORIGINS": "https://ada@play.example"}, "HEARTROOM_ORIGINS"),
    "an origin in capitals": ({"HEARTROOM_ORIGINS": "https://Play.example"}, "HEARTROOM_ORIGINS"),
    "an origin with the usual port": ({"HEARTROOM_ORIGINS": "https://play.example:443"}, "HEARTROOM_ORIGINS"),
    "an origin with no such port": ({"HEARTROOM_ORIGINS": "https://play.example:x"}, "HEARTROOM_ORIGINS"),
    "an origin in its own script": ({"HEARTROOM_ORIGINS": "https://bål.example"}, "HEARTROOM_ORIGINS"),
    "any origin": ({"HEARTROOM_ORIGINS": "*"}, "HEARTROOM_ORIGINS"),
    "the second origin": ({"HEARTROOM_ORIGINS": "https://a.example,b.example"}, "HEARTROOM_ORIGINS"),
    "a store that is none": (
        {"HEARTROOM_REDIS_URL": "http://x", "HEARTROOM_SECRET": SECRET},
        "HEARTROOM_REDIS_URL",
    ),
    "a store without a scheme": (
        {"HEARTROOM_REDIS_URL": "localhost:6379", "HEARTROOM_SECRET": SECRET},
        "HEARTROOM_REDIS_URL",
    ),
}


@pytest.mark.parametrize(("environ", "named"), WRONG.values(), ids=WRONG)
def test_a_mistake_is_refused_by_its_name(environ: dict[str, str], named: str) -> None:
    with pytest.raises(BadSetting, match=named):
        load(environ)


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("trusted_proxies", "*"),
        ("trusted_proxies", "10.0.0.1, 172.30.53.0/24,::1,"),
        ("metrics_from", "10.0.0.1, 172.30.53.0/24,::1,"),
        (
            "origins",
            "https://play.example, http://127.0.0.1:8000,http://[::1]:8000,https://xn--bl-yia.example",
        ),
    ],
)
def test_what_can_work_is_taken(name: str, raw: str) -> None:
    value = getattr(load({f"HEARTROOM_{name.upper()}": raw}), name)
    assert len(value) == (len(raw) if isinstance(value, str) else len(list(filter(None, raw.split(",")))))


def test_every_field_can_be_set_from_a_string() -> None:
    """A new setting of a type that `load` does not know would be a string for ever."""
    good: dict[str, Any] = {
        "fsync": "always",
        "log_format": "json",
        "log_level": "info",
        "metrics_from": "10.0.0.0/8",
        "origins": "https://play.example",
        "trusted_proxies": "10.0.0.1",
        "secret": SECRET,
        "redis_url": "redis://x",
    }
    for field in fields(Settings):
        raw = good.get(field.name, "1")
        environ = {f"HEARTROOM_{field.name.upper()}": raw, "HEARTROOM_SECRET": SECRET}
        if field.name == "redis_wait":
            environ["HEARTROOM_REDIS_URL"] = good["redis_url"]
        value = getattr(load(environ), field.name)
        assert type(value) is type(getattr(Settings(), field.name))


# -- the secret


def test_a_secret_is_made_once_and_kept_from_others(tmp_path: Path) -> None:
    settings = load({}, data_dir=tmp_path / "new" / "folder")
    made = secret(settings)
    assert len(made) >= 32
    assert secret(settings) == made
    file = settings.data_dir / "secret"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(settings.data_dir.stat().st_mode) == 0o700
    assert secret(load({}, data_dir=tmp_path / "another")) != made


def test_a_secret_that_was_set_is_taken_and_not_written_down(tmp_path: Path) -> None:
    assert secret(load({"HEARTROOM_SECRET": SECRET}, data_dir=tmp_path)) == SECRET
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kept", ["", "\n", "short", " " * 40])
def test_a_file_that_holds_no_secret_is_not_taken_for_one(tmp_path: Path, kept: str) -> None:
    (tmp_path / "secret").write_text(kept)
    with pytest.raises(BadSetting, match="holds no secret"):
        secret(load({}, data_dir=tmp_path))


def test_what_is_no_text_is_no_secret(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"\xff" * 40)
    with pytest.raises(BadSetting, match="holds no secret"):
        secret(load({}, data_dir=tmp_path))


def test_a_secret_written_by_hand_is_taken_without_its_end_of_line(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(f"{SECRET}\n")
    assert secret(load({}, data_dir=tmp_path)) == SECRET
