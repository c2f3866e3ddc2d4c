"""Where webhooks may go: to hosts that the operator allows, at addresses that were checked just before.

A name says nothing about where it leads: one that is allowed may be made to point into the operator's own network. So
the name is looked up once, the addresses are checked, and the connection goes to one of those.
"""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

from annotation.core.refusals import Invalid

LONGEST_URL = 500
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True)
class Reached:
    """Where a message is sent: the host by name, its port, and the address that was checked."""

    host: str
    port: int
    address: str


def checked_url(url: str) -> str:
    """The address of a webhook as it is kept. Raises Invalid (field `url`) where none may be called there."""
    url = url.strip()
    parts = _parts(url)
    if parts.hostname is None or not _is_allowed(parts.hostname):
        raise Invalid(
            f"Webhooks cannot use {parts.hostname or 'no host'}. The operator names the hosts in "
            "COVERDICT_WEBHOOK_HOSTS.",
            field="url",
        )
    return url


def reach(url: str) -> Reached:
    """Look the host up and check where it leads, now. Raises Invalid where it may not go there, OSError where the
    name cannot be looked up.
    """
    parts = _parts(checked_url(url))
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]
    for address in addresses:
        is_named = any(address in network for network in _networks())
        if not is_named and not (address.is_global and not address.is_multicast):
            raise Invalid(
                f"{host} leads to {address}, which is not a public address. The operator may name it, or its network, "
                "in COVERDICT_WEBHOOK_HOSTS.",
                field="url",
            )
        if parts.scheme == "http" and not is_named:
            raise Invalid("Webhooks to public addresses must use https.", field="url")
    return Reached(host, port, str(addresses[0]))


def _parts(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise Invalid(f"This is not a URL: {error}.", field="url") from error
    if len(url) > LONGEST_URL or any(not char.isprintable() or char.isspace() for char in url):
        raise Invalid(f"A URL can have at most {LONGEST_URL} characters, and no spaces.", field="url")
    if parts.scheme not in {"https", "http"}:
        raise Invalid("A webhook URL must use https, or http within your own network.", field="url")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise Invalid("A webhook URL cannot contain a user, password or fragment.", field="url")
    return parts


def _is_allowed(host: str) -> bool:
    """A name that is listed, or an address within a network that is."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host.lower().rstrip(".") in {entry.lower() for entry in settings.COVERDICT_WEBHOOK_HOSTS}
    return any(address in network for network in _networks())


def _networks() -> list[Network]:
    found = []
    for entry in settings.COVERDICT_WEBHOOK_HOSTS:
        try:
            found.append(ipaddress.ip_network(entry))
        except ValueError:
            continue
    return found
