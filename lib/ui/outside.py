"""Which servers a stranger may make this machine talk to: those that its owner named, else those of the open internet.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

from lib.client import base_url
from lib.errors import BaseUrlRefused, SettingError
from lib.phrases import some
from lib.settings import Settings

# IPv6 ranges that carry an IPv4 address inside, which may be a private one.
_CARRIERS = tuple(map(ipaddress.ip_network, ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "::/96")))


def refuse(url: str, settings: Settings, resolve: Callable[..., list[Any]] = socket.getaddrinfo) -> None:
    """Raises BaseUrlRefused when visitors of a shared playground may not use a normalised `url`: where its owner gave a
    list of base URLs, every other one; else those inside its network. Raises SettingError for a list that is wrong."""
    allowed = offered(settings)
    if not allowed:
        refuse_inside(url, settings.base_url, resolve)
    elif url not in allowed:
        raise BaseUrlRefused(f"This playground sends requests to {some(list(allowed), 5)} only, not to {url}. Choose "
                             "one of these, or run the playground on your own machine.")


def offered(settings: Settings) -> tuple[str, ...]:
    """The only base URLs that visitors may use, normalised, the one offered first in front; () where any public one
    will do. They may be anywhere: their owner named them."""
    if not settings.base_urls:
        return ()
    return tuple(dict.fromkeys(_normalised(url) for url in (settings.base_url, *settings.base_urls) if url))


def _normalised(url: str) -> str:
    try:
        return base_url.normalise(url)
    except BaseUrlRefused as reason:
        raise SettingError(f"PLAYGROUND_BASE_URLS or PLAYGROUND_BASE_URL has {url!r}: {reason}") from None


def refuse_inside(url: str, owners: str, resolve: Callable[..., list[Any]] = socket.getaddrinfo) -> None:
    """Raises BaseUrlRefused when a normalised `url` leads to this machine or its network, by address or by name.

    `owners` is the address that the owner of the playground set; it may be anywhere.
    """
    if owners and url == base_url.normalise(owners):
        return
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith((".localhost", ".local", ".internal")):
        raise BaseUrlRefused(_refusal(host))
    for address in _addresses(host, resolve):
        if not address.is_global or any(address in net for net in _CARRIERS if net.version == address.version):
            raise BaseUrlRefused(_refusal(host))


def no_lookup(*_: Any) -> list[Any]:
    """For `resolve`: only what is written as an address is looked at."""
    return []


def _refusal(host: str) -> str:
    return (f"Several people use this playground, so no request is sent to {host}: it is this machine or its own "
            "network. Use a public address, or run the playground on your own machine.")


def _addresses(host: str, resolve: Callable[..., list[Any]]) -> Iterator[ipaddress.IPv4Address | ipaddress.IPv6Address]:
    try:
        yield ipaddress.ip_address(host)
        return
    except ValueError:
        pass
    try:
        found = resolve(host, None)
    except (OSError, UnicodeError):
        return      # sending the request will say so
    for entry in found:
        yield ipaddress.ip_address(entry[4][0].split("%")[0])
