"""Cumulative input tokens as an SVG picture that needs no script, drawn from rows of `charts.growth_rows`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

WIDTH, HEIGHT = 960, 340
LEFT, RIGHT, TOP, BOTTOM = 64, 96, 18, 46       # room around the axes; on the right for the curves' names
CLOSE = 16                                      # pixels between two names

Rows = Sequence[Mapping[str, Any]]


def growth_svg(rows: Rows) -> str:
    """Dots for calls, a line for the law they follow; "" when no call reported its tokens. Its classes are the page's
    to colour: `pipeline`, `agent`, `axis`, `tick`."""
    dots = [row for row in rows if row["kind"] == "call"]
    if not dots:
        return ""
    right = max(row["n"] for row in rows if row["kind"] != "room")
    top = max(row["total"] for row in rows if row["kind"] != "room")
    place = _Axes(max(right, 1), max(top, 1))
    shapes = list(dict.fromkeys(row["shape"] for row in dots))
    told = "; ".join(f"{shape}: {_ends(dots, shape)['n']} calls, {_ends(dots, shape)['total']:,.0f} tokens"
                     for shape in shapes)
    return (f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(f"Cumulative input tokens. {told}")}">'
            + "".join((*place.grid(), *(_law(rows, shape, place) for shape in shapes),
                       *(_dot(row, place) for row in dots), *_crossings(rows, place), *_names(dots, shapes, place)))
            + "</svg>")


class _Axes:
    """Numbers of calls and tokens as places in the picture."""

    def __init__(self, right: float, top: float):
        self.x_ticks, self.y_ticks = ticks(right), ticks(top)
        self._right, self._top = max(right, 1), max(self.y_ticks[-1], top)

    def x(self, n: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * n / self._right, 1)

    def y(self, total: float) -> float:
        return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * total / self._top, 1)

    def grid(self) -> Iterable[str]:
        for tick in self.y_ticks:
            yield (f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{self.y(tick)}" y2="{self.y(tick)}"/>'
                   f'<text class="tick" x="{LEFT - 8}" y="{self.y(tick) + 4}" text-anchor="end">{short(tick)}</text>')
        for tick in self.x_ticks:
            if tick <= self._right:
                yield (f'<text class="tick" x="{self.x(tick)}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">'
                       f'{short(tick)}</text>')
        yield f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{self.y(0)}" y2="{self.y(0)}"/>'
        yield (f'<text class="tick" x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}" text-anchor="middle">'
               'number of calls</text>')


def ticks(most: float) -> list[float]:
    """Four to six round numbers from 0 to about `most`."""
    step = 10 ** math.floor(math.log10(most / 4)) if most > 0 else 1
    step = max(next(step * m for m in (1, 2, 2.5, 5, 10) if most / (step * m) <= 5), 1)
    return [i * step for i in range(math.floor(most / step + 1e-9) + 1)]


def short(number: float) -> str:
    """150000 -> "150k", 2500000 -> "2.5M"."""
    for size, unit in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g}{unit}"
    return f"{number:g}"


def _ends(dots: Rows, shape: str) -> Mapping[str, Any]:
    return [row for row in dots if row["shape"] == shape][-1]


def _law(rows: Rows, shape: str, place: _Axes) -> str:
    points = " ".join(f"{place.x(row['n'])},{place.y(row['total'])}" for row in rows
                      if row["kind"] == "law" and row["shape"] == shape)
    return f'<polyline class="{escape(shape)} law" points="{points}"/>' if points else ""


def _dot(row: Mapping[str, Any], place: _Axes) -> str:
    return f'<circle class="{escape(row["shape"])}" cx="{place.x(row["n"])}" cy="{place.y(row["total"])}" r="3"/>'


def _crossings(rows: Rows, place: _Axes) -> Iterable[str]:
    for row in rows:
        if row["kind"] == "crossover":
            x, early = place.x(row["n"]), row.get("early")
            side, anchor = (6, "start") if early else (-6, "end")
            yield f'<line class="crossing" x1="{x}" x2="{x}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>'
            for line, words in enumerate(("from here, history costs", "more than the fixed part")):
                yield (f'<text class="tick" x="{x + side}" y="{TOP + 10 + 15 * line}" text-anchor="{anchor}">'
                       f"{words}</text>")


def _names(dots: Rows, shapes: Sequence[str], place: _Axes) -> Iterable[str]:
    """Each curve's name and sum at its end, two ends at one height moved apart."""
    ends = sorted(((place.y((end := _ends(dots, shape))["total"]), shape, end) for shape in shapes),
                  key=lambda found: found[0])
    above = -math.inf
    for y, shape, end in ends:
        above = y = min(max(y, above + 2 * CLOSE), HEIGHT - BOTTOM)
        x = place.x(end["n"]) + 8
        yield (f'<text class="{escape(shape)} name" x="{x}" y="{y - 2}">{escape(shape)}'
               f'<tspan x="{x}" dy="14">{short(end["total"])}</tspan></text>')
