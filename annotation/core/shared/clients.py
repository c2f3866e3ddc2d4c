"""The client of a request: its network address and browser."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.conf import settings

if TYPE_CHECKING:
    from django.http import HttpRequest

LONGEST_AGENT = 300
IPV6_CLIENT_BITS = 64
"""Limits count IPv6 networks of this length."""

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
    """The client of a request. All fields are "" if the shell or the program itself acts."""

    address: str = ""
    agent: str = ""

    @property
    def network(self) -> str:
        """Return the network that limits count: the IPv4 address, or the first address of the IPv6 network."""
        if ":" not in self.address:
            return self.address
        return str(ipaddress.ip_network((self.address, IPV6_CLIENT_BITS), strict=False).network_address)


def client_of(request: HttpRequest) -> Client:
    """Read the client of a request to Django or the API."""
    agent = str(request.META.get("HTTP_USER_AGENT", ""))[:LONGEST_AGENT]
    return Client(address=address_of(request), agent=agent.replace("\0", ""))


def network_of(request: HttpRequest) -> str:
    """Return the client's network; see `Client.network`."""
    return Client(address_of(request)).network


def address_of(request: HttpRequest) -> str:
    """Return the client's network address; "" if the server does not know it.

    Each of the `TRUSTED_PROXIES` appends its caller's address to X-Forwarded-For, so the client's address is that many
    places from the right. Entries further left are ignored, because the client can forge them. Without proxies, or if
    the header is too short or invalid, the result is the address of the connection.
    """
    here: Any = request.META.get("REMOTE_ADDR", "")
    count = settings.TRUSTED_PROXIES
    addresses = str(request.META.get("HTTP_X_FORWARDED_FOR", "")).split(",")
    forwarded = _address(addresses[-count]) if 0 < count <= len(addresses) else ""
    return forwarded or _address(str(here))


def _address(written: str) -> str:
    """Parse an address that a proxy writes, with or without a port: 192.0.2.1, 192.0.2.1:443, [2001:db8::1]:443."""
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
    """Return the browser and system of a user agent, such as "Firefox on Linux".

    If one of them is unknown, the result is the agent's first word, or "unknown" for an empty text.
    """
    browser = next((name for sign, name in _BROWSERS if sign in agent), "")
    system = next((name for sign, name in _SYSTEMS if sign in agent), "")
    if browser and system:
        return f"{browser} on {system}"
    return agent.partition(" ")[0] or "unknown"
