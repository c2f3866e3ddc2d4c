"""The launcher of the tests' own Redis."""

from pathlib import Path

import pytest
import redis
from kombu.connection import Connection

from annotation.config import environment
from tests import redis_server


def test_it_is_empty_and_on_loopback_only(redis_url: str) -> None:
    with redis.Redis.from_url(redis_url) as client:
        assert client.dbsize() == 0
        assert client.config_get("bind") == {"bind": "127.0.0.1"}


def test_a_message_goes_through_it_with_our_transport_options(redis_url: str, tmp_path: Path) -> None:
    options = environment.broker_options(redis_url, tmp_path)
    with Connection(redis_url, transport_options=options) as connection:
        queue = connection.SimpleQueue("letters")
        queue.put({"to": "ben"})
        letter = queue.get(timeout=60)
        letter.ack()
        queue.close()
    assert letter.payload == {"to": "ben"}


def test_a_machine_without_one_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(redis_server.NoRedis, match="apt install redis-server"), redis_server.running():
        pass
