"""The client of a request: network address, browser and device."""

from __future__ import annotations

import hashlib
import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.conf import settings

if TYPE_CHECKING:
    from django.http import HttpRequest

DEVICE_COOKIE = "coverdict_device"
LONGEST_AGENT = 300
IPV6_CLIENT_BITS = 64
"""A client of IPv6 is handed a whole network of addresses, so that limits count networks of this length."""

_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS = (
    ("Windows", "Windows"),
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)


@dataclass(frozen=True, slots=True)
class Client:
    """Where a request comes from; all empty for the operator's shell and for the program itself.

    `device` is a hash of what the browser's cookie holds.
    """

    address: str = ""
    agent: str = ""
    device: str = ""

    @property
    def network(self) -> str:
        """What limits count by: an IPv4 address, or the network that an IPv6 client was handed."""
        if ":" not in self.address:
            return self.address
        return str(ipaddress.ip_network((self.address, IPV6_CLIENT_BITS), strict=False))


def client_of(request: HttpRequest) -> Client:
    """The client of a request, of Django or of the API."""
    cookie = request.COOKIES.get(DEVICE_COOKIE, "")
    agent = str(request.META.get("HTTP_USER_AGENT", ""))[:LONGEST_AGENT]
    return Client(
        address=address_of(request), agent=agent.replace("\0", ""), device=device_of(cookie) if cookie else ""
    )


def device_of(cookie: str) -> str:
    """What is kept of a device's cookie."""
    return hashlib.sha256(cookie.encode(errors="replace")).hexdigest()[:32]


def address_of(request: HttpRequest) -> str:
    """The client's network address, "" where the server was not told one (a socket file, a test).

    Each of the `TRUSTED_PROXIES` in front of the server appends the address that it was called from to
    X-Forwarded-For, so that the client's stands that many places from the right; whatever a client wrote there itself
    stands further to the left and is not read. Without proxies, or where the header is too short or holds no address
    there, it is the connection's own.
    """
    here: Any = request.META.get("REMOTE_ADDR", "")
    count = settings.TRUSTED_PROXIES
    told = str(request.META.get("HTTP_X_FORWARDED_FOR", "")).split(",")
    forwarded = _address(told[-count]) if 0 < count <= len(told) else ""
    return forwarded or _address(str(here))


def _address(written: str) -> str:
    """The address in what a proxy wrote, some with a port: 192.0.2.1, 192.0.2.1:443, [2001:db8::1]:443."""
    written = written.strip()
    if written.startswith("["):
        written = written[1:].partition("]")[0]
    elif written.count(":") == 1:
        written = written.partition(":")[0]
    try:
        address = ipaddress.ip_address(written.partition("%")[0])
    except ValueError:
        return ""
    mapped = getattr(address, "ipv4_mapped", None)
    return str(mapped or address)


def browser_of(agent: str) -> str:
    """What people call a user agent, as "Firefox on Linux"; its first word where it is none of the common ones."""
    browser = next((name for sign, name in _BROWSERS if sign in agent), "")
    system = next((name for sign, name in _SYSTEMS if sign in agent), "")
    if browser and system:
        return f"{browser} on {system}"
    return agent.partition(" ")[0] or "unknown"
