"""The embedded store as a host meets it: heartrooms that start, end, are killed, and start again."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import psutil
import pytest
from redis import Redis

from heartroom.store.embedded import Embedded, StoreFailed, StoreInUse
from heartroom.store.store import Store
from tests.support.stores import PATIENCE_S, answers, ended, eventually, freeze

OWNER = """
import json, sys, time
from pathlib import Path
from heartroom.store.embedded import Embedded, StoreInUse
embedded = Embedded(Path(sys.argv[1]))
try:
    embedded.start()
except StoreInUse as error:
    print(json.dumps(str(error)), flush=True)
    sys.exit(7)
print(json.dumps(None), flush=True)
sys.stdin.read()
embedded.stop()
"""


class Owner:
    """A heartroom of its own: a process that has an embedded store and does nothing with it."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.process = subprocess.Popen(
            [sys.executable, "-c", OWNER, str(data_dir)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        assert json.loads(self.process.stdout.readline()) is None
        (self.keeper,) = [child.pid for child in psutil.Process(self.process.pid).children()]

    @property
    def valkey(self) -> int:
        (child,) = psutil.Process(self.keeper).children()
        return child.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        eventually(lambda: ended(self.keeper), "the keeper ends")
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()


@pytest.fixture
def data_dir() -> Iterator[Path]:
    # Not pytest's: its names are too long for the address of a socket.
    folder = Path(tempfile.mkdtemp(prefix="hr-"))
    yield folder / "data"
    shutil.rmtree(folder)


def client(data_dir: Path) -> Redis:
    return Redis(unix_socket_path=str(Embedded(data_dir).socket), protocol=2)


def put(data_dir: Path, value: str) -> None:
    with client(data_dir) as redis:
        redis.set("kept", value)


def kept(data_dir: Path) -> str:
    with client(data_dir) as redis:
        value = redis.get("kept")
        assert isinstance(value, bytes)
        return value.decode()


def test_it_answers_when_started_and_has_gone_when_stopped(data_dir: Path) -> None:
    embedded = Embedded(data_dir)
    embedded.start()
    put(data_dir, "here")
    with client(data_dir) as redis:
        info = redis.info("server")
        assert isinstance(info, dict)
        assert (info["tcp_port"], redis.config_get("appendfsync")) == (0, {"appendfsync": "always"})
        assert redis.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
    embedded.stop()
    assert not answers(str(embedded.socket))
    assert ended(info["process_id"])
    embedded.stop()  # may be said twice


def test_what_it_had_is_there_after_the_next_start(data_dir: Path) -> None:
    for value in ("first", "second"):
        embedded = Embedded(data_dir)
        embedded.start()
        if value == "second":
            assert kept(data_dir) == "first"
        put(data_dir, value)
        embedded.stop()


def test_the_host_may_trust_the_operating_system(data_dir: Path) -> None:
    embedded = Embedded(data_dir, "everysec")
    embedded.start()
    with client(data_dir) as redis:
        assert redis.config_get("appendfsync") == {"appendfsync": "everysec"}
    embedded.stop()


def test_nobody_else_on_the_machine_can_read_or_reach_it(data_dir: Path) -> None:
    embedded = Embedded(data_dir)
    embedded.start()
    assert stat.S_IMODE(data_dir.stat().st_mode) == 0o700
    assert stat.S_IMODE(embedded.socket.stat().st_mode) == 0o700
    files = [path for path in data_dir.rglob("*") if path.is_file()]
    assert data_dir / "server.lock" in files
    assert {path.name for path in files if path.stat().st_mode & 0o077} == set()
    embedded.stop()


def test_a_lock_that_an_earlier_version_left_to_all_is_its_owner_s_alone(data_dir: Path) -> None:
    data_dir.mkdir()
    lock = data_dir / "server.lock"
    lock.touch()
    lock.chmod(0o644)
    embedded = Embedded(data_dir)
    embedded.start()
    assert stat.S_IMODE(lock.stat().st_mode) == 0o600
    assert lock.read_text() == f"{os.getpid()}\n"
    embedded.stop()


def test_a_heartroom_that_is_killed_takes_its_store_with_it_and_the_next_start_works_at_once(
    data_dir: Path,
) -> None:
    with Owner(data_dir) as owner:
        put(data_dir, "acknowledged")
        valkey, keeper = owner.valkey, owner.keeper
        owner.process.kill()
        # at once, while the old one may still be ending
        with Owner(data_dir) as after:
            assert kept(data_dir) == "acknowledged"
            assert after.valkey != valkey
        eventually(lambda: ended(valkey), "the store ends")
        eventually(lambda: ended(keeper), "its keeper ends")


def test_a_heartroom_that_is_killed_leaves_nothing_behind(data_dir: Path) -> None:
    with Owner(data_dir) as owner:
        valkey, keeper = owner.valkey, owner.keeper
        owner.process.kill()
        eventually(lambda: ended(valkey), "the store ends")
        eventually(lambda: ended(keeper), "its keeper ends")
        assert not answers(str(Embedded(data_dir).socket))


def test_ctrl_c_in_the_terminal_is_for_the_heartroom_alone(data_dir: Path) -> None:
    with Owner(data_dir) as owner:
        assert os.getpgid(owner.keeper) != os.getpgid(owner.process.pid)
        os.kill(owner.keeper, signal.SIGINT)
        os.kill(owner.keeper, signal.SIGTERM)
        put(data_dir, "still there")
        assert kept(data_dir) == "still there"
        assert not ended(owner.keeper)


def test_a_data_directory_belongs_to_one_heartroom(data_dir: Path) -> None:
    with Owner(data_dir) as owner:
        with pytest.raises(StoreInUse, match=str(owner.process.pid)):
            Embedded(data_dir).start()
        # the one that has it is not troubled
        put(data_dir, "still there")
    embedded = Embedded(data_dir)
    embedded.start()
    assert kept(data_dir) == "still there"
    embedded.stop()


def test_one_that_could_not_have_the_directory_frees_nothing(data_dir: Path) -> None:
    with Owner(data_dir):
        refused = Embedded(data_dir)
        with pytest.raises(StoreInUse):
            refused.start()
        refused.stop()
        with pytest.raises(StoreInUse):
            Embedded(data_dir).start()


def test_a_store_that_was_killed_is_started_again_with_all_data(data_dir: Path) -> None:
    with Owner(data_dir) as owner:
        put(data_dir, "acknowledged")
        killed = owner.valkey
        os.kill(killed, signal.SIGKILL)
        eventually(lambda: answers(str(Embedded(data_dir).socket)), "the store answers again")
        assert kept(data_dir) == "acknowledged"
        assert owner.valkey != killed
        # and it is kept as before
        owner.process.kill()
        eventually(lambda: not answers(str(Embedded(data_dir).socket)), "the new one ends too")


def test_a_keeper_that_was_killed_is_replaced_and_all_data_is_there(data_dir: Path) -> None:
    with Owner(data_dir) as owner:
        put(data_dir, "acknowledged")
        for store_too in (False, True, False):
            keeper, valkey = owner.keeper, owner.valkey
            os.kill(keeper, signal.SIGKILL)
            if store_too:
                os.kill(valkey, signal.SIGKILL)
            eventually(lambda valkey=valkey: ended(valkey), "its server has ended")  # type: ignore[misc]
            eventually(lambda: answers(str(Embedded(data_dir).socket)), "there is another")
            (owner.keeper,) = [child.pid for child in psutil.Process(owner.process.pid).children()]
            assert owner.keeper != keeper
            assert kept(data_dir) == "acknowledged"
        owner.process.communicate(input="", timeout=PATIENCE_S)
        assert owner.process.returncode == 0
        assert not answers(str(Embedded(data_dir).socket))


def test_a_store_without_a_keeper_is_ended_by_its_heartroom_when_that_ends(data_dir: Path) -> None:
    embedded = Embedded(data_dir)
    embedded.start()
    put(data_dir, "acknowledged")
    assert embedded._keeper is not None
    # whatever comes first: that it is noticed, or that we end
    embedded._keeper.kill()
    embedded.stop()
    assert not answers(str(embedded.socket))
    embedded.start()
    assert kept(data_dir) == "acknowledged"
    embedded.stop()


def test_a_store_without_a_keeper_is_ended_by_the_next_start_and_its_data_kept(data_dir: Path) -> None:
    with Owner(data_dir) as owner:
        orphan = owner.valkey
        freeze(owner.process.pid)  # or it would start another keeper
        os.kill(owner.keeper, signal.SIGKILL)
        put(data_dir, "written without a keeper")
        owner.process.kill()
        owner.process.wait()
        assert answers(str(Embedded(data_dir).socket)), "nobody ends it yet"
        with Owner(data_dir) as after:
            assert ended(orphan)
            assert kept(data_dir) == "written without a keeper"
            assert after.valkey != orphan


def test_a_keeper_that_is_still_ending_its_store_is_waited_for(data_dir: Path) -> None:
    with Owner(data_dir) as owner:
        put(data_dir, "acknowledged")
        valkey, keeper = owner.valkey, owner.keeper
        freeze(keeper)
        owner.process.kill()
        owner.process.wait()
        second = subprocess.Popen(
            [sys.executable, "-c", OWNER, str(data_dir)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        eventually(lambda: bool(psutil.Process(second.pid).children()), "the second keeper is there")
        assert not ended(valkey)
        os.kill(keeper, signal.SIGCONT)
        out, _ = second.communicate(input="", timeout=60)
        assert json.loads(out.splitlines()[0]) is None
        assert second.returncode == 0
        assert ended(valkey)


def test_a_file_cut_short_by_a_power_failure_is_no_hindrance(data_dir: Path) -> None:
    embedded = Embedded(data_dir)
    embedded.start()
    put(data_dir, "acknowledged")
    with client(data_dir) as redis:
        redis.set("last", "half written")
    embedded.stop()
    (log,) = (data_dir / "appendonlydir").glob("*.incr.aof")
    os.truncate(log, log.stat().st_size - 5)
    embedded.start()
    assert kept(data_dir) == "acknowledged"
    embedded.stop()


def test_a_store_that_cannot_start_says_why_and_frees_the_directory(data_dir: Path) -> None:
    embedded = Embedded(data_dir)
    embedded.start()
    embedded.stop()
    (manifest,) = (data_dir / "appendonlydir").glob("*.manifest")
    good = manifest.read_bytes()
    manifest.write_bytes(b"not a manifest\n")
    with pytest.raises(StoreFailed, match=r"(?i)manifest"):
        embedded.start()
    manifest.write_bytes(good)
    embedded.start()
    embedded.stop()


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("with blanks in it", id="blanks"),
        pytest.param("\"quoted\" 'twice' \\ back", id="quotes"),
        pytest.param("hash # percent %20 question?", id="address"),
        pytest.param("Åse sine spill ♥", id="unicode"),
        pytest.param("long/" * 30, id="long"),
    ],
)
async def test_the_directory_may_have_any_name(data_dir: Path, name: str) -> None:
    data_dir = data_dir / name
    embedded = Embedded(data_dir)
    embedded.start()
    store = Store(embedded.url)
    await store.rename("somebody", "x")
    await store.aclose()
    embedded.stop()
    assert list((data_dir / "appendonlydir").iterdir())
    embedded.start()
    store = Store(embedded.url)
    assert await store.names(["somebody"]) == ["x"]
    await store.aclose()
    embedded.stop()


def test_two_directories_with_long_names_have_two_sockets(data_dir: Path) -> None:
    one, two = (Embedded(data_dir / ("long" * 30) / name) for name in ("one", "two"))
    assert one.socket != two.socket
    assert len(os.fsencode(one.socket)) <= 100
    # the same one again, however it is written
    assert Embedded(data_dir / ("long" * 30) / "two" / ".." / "one").socket == one.socket


def test_a_socket_outside_the_directory_is_in_a_folder_that_is_ours_alone(data_dir: Path) -> None:
    embedded = Embedded(data_dir / ("long" * 30))
    folder = embedded.socket.parent
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    try:
        # others could have put a socket of their own there, and heard everything
        with pytest.raises(StoreFailed, match=str(folder)):
            embedded.start()
        folder.chmod(0o700)
        embedded.start()
        embedded.stop()
    finally:
        shutil.rmtree(folder)


def test_its_files_are_ours_alone_also_in_a_directory_that_is_not(data_dir: Path) -> None:
    data_dir.mkdir(mode=0o755, exist_ok=True)
    data_dir.chmod(0o755)
    store = Embedded(data_dir)
    store.start()
    try:
        with Redis(unix_socket_path=str(store.socket)) as redis:
            redis.set("a game", "its deal")
        files = [one for one in data_dir.rglob("*") if one.name != "server.lock"]
        assert any(one.suffix == ".aof" for one in files)
        for one in files:
            assert one.stat().st_mode & 0o077 == 0, one
    finally:
        store.stop()
