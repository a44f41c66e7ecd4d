"""Which base URLs a request may be sent to, and the one form they are kept in. Nothing is sent from here."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Callable
from urllib.parse import SplitResult, urlsplit

from lib.errors import BaseUrlRefused

_EXAMPLE = "for instance http://localhost:11434"

# Where cloud machines hand out their own credentials: never a Messages API.
_METADATA_NAMES = ("metadata.google.internal", "metadata.goog", "metadata", "instance-data",
                   "instance-data.ec2.internal")
_METADATA_ADDRESSES = tuple(map(ipaddress.ip_address, (
    "100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254")))
_NAT64 = ipaddress.ip_network("64:ff9b::/96")

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def normalise(text: str) -> str:
    """The base URL in the form the SDK wants: no blanks, no trailing slash, no trailing /v1 or /v1/messages.

    A home server's private address is fine, and "localhost:11434" may go without its http://.

    Raises BaseUrlRefused, with one plain line, for what is no http(s) URL or points where no request may go.
    """
    url = text.strip()
    if re.match(r"(localhost|127\.0\.0\.1)(:\d|/|$)", url):
        url = f"http://{url}"
    parts = _split(url)
    host = _host(parts)
    port = _port(parts)
    path = re.sub(r"((/v1)+(/messages)?)?/*$", "", parts.path)
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}{'' if port is None else f':{port}'}{path}"


def refuse_resolved(url: str, resolve: Callable[..., list] = socket.getaddrinfo) -> None:
    """Raises BaseUrlRefused when the host of a normalised `url` is a name for an address that is refused.

    A name that cannot be resolved passes: sending the request will say so.
    """
    host = urlsplit(url).hostname or ""
    try:
        found = resolve(host, None)
    except (OSError, UnicodeError):
        return
    for address in {entry[4][0] for entry in found}:
        _refuse_address(ipaddress.ip_address(address.split("%")[0]), f"{host}, which is {address},")


def warnings(url: str, key: str) -> list[str]:
    """What a person should know before `key` is sent to a normalised `url`; empty when there is nothing to say."""
    parts = urlsplit(url)
    if key and parts.scheme == "http" and not is_loopback(url):
        return [f"The key travels unencrypted to {parts.hostname}. Use https:// if the server offers it."]
    return []


def is_loopback(url: str) -> bool:
    """Whether a normalised `url` stays on this machine (0.0.0.0 does, too)."""
    host = urlsplit(url).hostname or ""
    address = _address(host)
    return host == "localhost" if address is None else address.is_loopback or address.is_unspecified


def _split(url: str) -> SplitResult:
    if not url:
        raise BaseUrlRefused(f"The base URL is empty. Enter the server's address, {_EXAMPLE}.")
    if not url.isprintable() or re.search(r"[\s\\]", url):
        raise BaseUrlRefused("The base URL holds a blank, a backslash or an invisible character. Remove it.")
    if not re.match(r"https?://", url, re.IGNORECASE):
        raise BaseUrlRefused(f"The base URL must begin with http:// or https://, {_EXAMPLE}.")
    try:
        parts = urlsplit(url)
    except ValueError as reason:
        raise BaseUrlRefused(f"The base URL cannot be read ({reason}). Correct it, {_EXAMPLE}.") from None
    if "@" in parts.netloc:
        raise BaseUrlRefused("The base URL holds a user name or password. Remove it; a key has its own field.")
    if "?" in url or "#" in url:
        raise BaseUrlRefused("The base URL must end before any ? or #. Remove the rest.")
    return parts


def _host(parts: SplitResult) -> str:
    host = (parts.hostname or "").rstrip(".")
    if not host or not re.fullmatch(r"[a-z0-9._:-]+", host):
        raise BaseUrlRefused(f"The base URL names no host that can be used (plain letters, digits, dots), {_EXAMPLE}.")
    if host in _METADATA_NAMES:
        raise BaseUrlRefused(f"No request is sent to {host}: it is a cloud machine's metadata service.")
    address = _address(host)
    if address is None and _looks_like_a_number(host):
        raise BaseUrlRefused(f"{host} is an IP address in disguise. Write it as four plain numbers, like 192.168.1.20.")
    if address is not None:
        _refuse_address(address, host)
    return host


def _port(parts: SplitResult) -> int | None:
    try:
        port = parts.port
    except ValueError:
        port = 0
    if port == 0:
        raise BaseUrlRefused(f"The port in {parts.netloc} is not a number from 1 to 65535.")
    return port


def _address(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _looks_like_a_number(host: str) -> bool:
    """Resolvers read 2852039166, 0xa9fea9fe, 0251.0376.1 and 127.1 as addresses: whatever ends in a number."""
    return bool(re.fullmatch(r"[0-9]+|0x[0-9a-f]*", host.rsplit(".", 1)[-1]))


def _refuse_address(address: Address, shown: str) -> None:
    inner = _embedded(address)
    if inner.is_link_local or inner in _METADATA_ADDRESSES:
        raise BaseUrlRefused(f"No request is sent to {shown}: cloud machines keep their credentials at that address.")
    if inner.is_multicast or (inner.is_reserved and not (inner.is_loopback or inner.is_unspecified)):
        raise BaseUrlRefused(f"No request is sent to {shown}: it is not the address of one machine.")


def _embedded(address: Address) -> Address:
    """The IPv4 address inside an IPv6 one (mapped, compatible, 6to4, Teredo, NAT64), else the address itself."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if inner := address.ipv4_mapped or address.sixtofour or (address.teredo and address.teredo[1]):
        return inner
    if address in _NAT64 or 1 < int(address) < 2 ** 32:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address
