"""Keys of one session must be in one hash slot, or no script could touch them together in a cluster."""

from __future__ import annotations

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
