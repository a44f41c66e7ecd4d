"""The two call structures as tiny drawings: a fan-out and a loop. Our own SVG, readable on light and dark."""

from __future__ import annotations

import streamlit as st

from lib.charts import SHAPE_COLOURS

COLOUR = {"pipeline": "blue", "agent": "orange"}      # of a shape's name in markdown
GREY = "#878e98"      # stands out from both backgrounds

STORIES = {
    "pipeline": ("Fixed steps, many small calls.",
                 "Every ticket is labelled in a call of its own, one call merges the labels, code counts and joins."),
    "agent": ("One loop, deciding by itself.",
              "The model asks for a tool, reads the result, asks again. Every turn resends all that was said before."),
}
DRAWN = {
    "pipeline": "Tickets fan out to parallel calls, meet in one merge call, and fan out to summaries.",
    "agent": "One model asks for tools again and again; each round carries more.",
}


def cards() -> None:
    """Both shapes side by side: name, a five-word story, the drawing."""
    for column, shape in zip(st.columns(2), STORIES, strict=True):
        with column.container(border=True, key=f"card_{shape}", height="stretch"):
            _card(shape)


def small(shape: str) -> None:
    """The drawing alone, for the head of a panel."""
    st.image(_drawing(shape), width=80, alt=DRAWN[shape])


def _card(shape: str) -> None:
    words, picture = st.columns([5, 4], vertical_alignment="center")
    colour = {"pipeline": "blue", "agent": "orange"}[shape]
    short, long = STORIES[shape]
    with words:
        st.subheader(f":{colour}[{shape.capitalize()}]", anchor=False)
        st.markdown(f"**{short}**  \n:gray[{long}]")
    with picture:
        st.image(_drawing(shape), width="stretch", alt=DRAWN[shape])


def _drawing(shape: str) -> str:
    return _loop() if shape == "agent" else _fan_out()


def _fan_out() -> str:
    """Data, eight calls side by side, one merge, five summaries."""
    ys = [10 + 14 * i for i in range(8)]
    left = "".join(_line(26, 59, 82, y) for y in ys)
    right = "".join(_line(94, y, 148, 59) for y in ys)
    out = "".join(_line(162, 59, 212, y) for y in (23, 41, 59, 77, 95))
    dots = "".join(_dot(88, y, 5, shape="pipeline") for y in ys)
    ends = "".join(_dot(218, y, 5, shape="pipeline") for y in (23, 41, 59, 77, 95))
    return _svg(_stack(14, 59) + left + right + out + dots + _dot(155, 59, 8, shape="pipeline") + ends)


def _loop() -> str:
    """The model, its tools, and the circle between them; the arcs thicken because every turn carries more."""
    arcs = "".join(_arc(height, width) for height, width in ((22, 1.2), (40, 2.4), (58, 4)))
    back = (f'<path d="M 184 68 C 160 96, 120 96, 92 68" fill="none" stroke="{GREY}" stroke-width="1.2" '
            'stroke-dasharray="3 3"/>')
    tools = "".join(f'<rect x="188" y="{y}" width="26" height="12" rx="2" fill="none" stroke="{GREY}"/>'
                    for y in (37, 53, 69))
    return _svg(_stack(14, 59) + _line(26, 59, 68, 59) + arcs + back + _dot(80, 59, 11, shape="agent") + tools)


def _arc(height: int, width: float) -> str:
    y = 59 - height * 0.15
    return (f'<path d="M 92 {y:.1f} C 120 {59 - height}, 160 {59 - height}, 184 {y:.1f}" fill="none" '
            f'stroke="{SHAPE_COLOURS["agent"]}" stroke-width="{width}" opacity=".85"/>')


def _stack(x: int, y: int) -> str:
    return "".join(f'<rect x="{x - 10 + d}" y="{y - 13 - d}" width="16" height="24" rx="2" fill="none" '
                   f'stroke="{GREY}"/>' for d in (0, 3, 6))


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{GREY}" stroke-width="1" opacity=".7"/>'


def _dot(x: float, y: float, r: float, shape: str) -> str:
    return f'<circle cx="{x}" cy="{y}" r="{r}" fill="{SHAPE_COLOURS[shape]}"/>'


def _svg(inner: str) -> str:
    return f'<svg viewBox="0 0 232 118" xmlns="http://www.w3.org/2000/svg">{inner}</svg>'
