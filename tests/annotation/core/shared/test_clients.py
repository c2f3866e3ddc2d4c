from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.test import RequestFactory

from annotation.core.shared.clients import Client, address_of, browser_of

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper


@pytest.mark.parametrize(
    ("proxies", "forwarded", "found"),
    [
        (0, "203.0.113.7", "10.0.0.1"),
        (1, None, "10.0.0.1"),
        (1, "203.0.113.7", "203.0.113.7"),
        # The client's own entries are left of the entry that the proxy appended.
        (1, "1.1.1.1, 203.0.113.7", "203.0.113.7"),
        (2, "1.1.1.1, 203.0.113.7, 10.0.0.2", "203.0.113.7"),
        # With fewer entries than declared proxies the request did not pass all proxies, so the header is ignored.
        (2, "203.0.113.7", "10.0.0.1"),
        (1, "203.0.113.7:4711", "203.0.113.7"),
        (1, "[2001:db8::7]:4711", "2001:db8::7"),
        (1, "::ffff:203.0.113.7", "203.0.113.7"),
        (1, "203.0.113.7, unknown", "10.0.0.1"),
        (1, "203.0.113.7,", "10.0.0.1"),
    ],
)
def test_the_address_is_what_the_outermost_trusted_proxy_saw(
    settings: SettingsWrapper, proxies: int, forwarded: str | None, found: str
) -> None:
    settings.TRUSTED_PROXIES = proxies
    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}
    request = RequestFactory(REMOTE_ADDR="10.0.0.1").get("/", headers=headers)
    assert address_of(request) == found


def test_a_socket_file_has_no_address(settings: SettingsWrapper) -> None:
    settings.TRUSTED_PROXIES = 0
    assert address_of(RequestFactory(REMOTE_ADDR="").get("/")) == ""


def test_limits_count_an_ipv6_client_by_its_network() -> None:
    # A client's network is the first 64 bits of its address, which are four of the eight groups.
    assert Client("2001:db8:1:2:3:4:5:6").network == "2001:db8:1:2::"
    assert Client("203.0.113.7").network == "203.0.113.7"


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"),
        (
            "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/139.0 Safari/537.36 Edg/139.0",
            "Edge on Windows",
        ),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1",
            "Safari on iPhone",
        ),
        ("python-httpx/0.28.1", "python-httpx/0.28.1"),
        ("", "unknown"),
    ],
)
def test_a_browser_is_called_as_people_call_it(agent: str, name: str) -> None:
    assert browser_of(agent) == name
