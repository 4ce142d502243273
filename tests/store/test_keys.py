"""Keys of one session must be in one hash slot, or no script could touch them together in a cluster."""

from __future__ import annotations

import inspect

import pytest
from redis.crc import key_slot

from heartroom.store import keys


@pytest.mark.parametrize("sid", ["AAAAAAAAAAAA", "-_-_-_-_-_-_", "a1b2c3d4e5f6"])
def test_the_keys_of_a_session_share_a_slot(sid: str) -> None:
    assert key_slot(keys.session(sid).encode()) == key_slot(keys.log(sid).encode())
    assert keys.session(sid) != keys.log(sid)


def test_what_nodes_say_of_themselves_shares_a_slot() -> None:
    assert key_slot(keys.NODES.encode()) == key_slot(keys.ABOUT.encode())


def test_no_two_kinds_of_keys_have_one_name() -> None:
    kinds = (keys.session, keys.log, keys.player, keys.playing, keys.node)
    names = [kind("x") for kind in kinds]
    assert len({*names, keys.EVERYBODY}) == len(kinds) + 1


def test_no_kind_of_key_is_forgotten_by_the_probe() -> None:
    """Each is in the list, and all of the list share a slot."""
    listed = keys.of_each_kind("x")
    assert len({key_slot(name.encode()) for name in listed}) == 1
    others = (keys.node, keys.channel, keys.of_channel, keys.probe, keys.probe_log, keys.probe_channel)
    for _, make in inspect.getmembers(keys, inspect.isfunction):
        if make not in (*others, keys.of_each_kind):
            kind = make(*("x" for _ in inspect.signature(make).parameters)).partition("{")[0]
            assert any(name.startswith(kind) for name in listed), kind
