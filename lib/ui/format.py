"""Numbers as people read them: three significant digits, units, and words where a figure is unknown."""

from __future__ import annotations

import time
from collections.abc import Iterable

from lib.phrases import plural

NO_PRICE = "no price"
NOT_REPORTED = "not reported"


def exact(number: float | None) -> str:
    """1234567 -> "1,234,567"; None -> "not reported"."""
    return NOT_REPORTED if number is None else f"{number:,.0f}"


def short(number: float | None) -> str:
    """26123 -> "26.1k", 492311 -> "492k", 1234567 -> "1.23M"; None -> "not reported"."""
    if number is None:
        return NOT_REPORTED
    for size, unit in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= size * 0.9995:
            return f"{_three(number / size)}{unit}"
    return _three(number)


def dollars(usd: float | None, beside: Iterable[float | None] = ()) -> str:
    """0.02134 -> "$0.0213", 1234.5 -> "$1,230", 0 -> "$0"; None -> "no price".

    `beside` are the figures it is read together with: all of them get the same number of decimals.
    """
    if usd is None:
        return NO_PRICE
    others = [other for other in beside if other]
    if not others or not usd:
        return f"${_three(usd)}"
    known = [usd, *others]
    digits = max(2 - _magnitude(max(known)), 1 - _magnitude(min(known)), 0)
    return f"${usd:,.{digits}f}"


def at_least(figure: str, left_out: int) -> str:
    """"$0.01", 3 -> "≥ $0.01": a sum that leaves out calls which did not say."""
    return f"≥ {figure}" if left_out and figure not in (NO_PRICE, NOT_REPORTED) else figure


def exact_dollars(usd: float | None) -> str:
    return NO_PRICE if usd is None else f"${usd:,.6f}"


def seconds(duration: float | None) -> str:
    """9.83 -> "9.8 s", 51.2 -> "51 s", 125 -> "2 min 5 s", 34284 -> "9 h 31 min"; None -> "–"."""
    if duration is None:
        return "–"
    if duration < 10:
        return f"{duration:.1f} s"
    minutes, rest = divmod(round(duration), 60)
    if minutes >= 60:
        return f"{minutes // 60:,} h {minutes % 60} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def megabytes(size: int) -> str:
    """1234567 -> "1.23 MB"; 900 -> "0.01 MB": never nothing where there is something."""
    return f"{_three(max(size, 10_000) / 1e6)} MB"


def ago(then: float) -> str:
    past = max(0.0, time.time() - then)
    for size, word in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if past >= size:
            return f"{plural(int(past // size), word)} ago"
    return "just now"


def times(factor: float) -> str:
    """15.7 -> "16 ×", 1.53 -> "1.5 ×"."""
    return f"{factor:.0f} ×" if factor >= 9.5 else f"{factor:.1f} ×"


def cut(text: str, most: int = 60) -> str:
    """At most `most` characters, "…" for the rest."""
    return text if len(text) <= most else text[:most - 1] + "…"


def escaped(text: str) -> str:
    """Our own sentence for a markdown place: a dollar sign there would begin a formula. Not for untrusted text."""
    return text.replace("$", "\\$")


def _three(number: float) -> str:
    """At most three significant digits, without exponent, zeros at the end of a fraction kept off."""
    if number == 0:
        return "0"
    rounded = float(f"{number:.3g}")
    digits = max(0, 2 - _magnitude(rounded))
    text = f"{rounded:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _magnitude(number: float) -> int:
    return int(f"{number:e}".split("e")[1])
