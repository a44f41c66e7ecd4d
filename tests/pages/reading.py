"""What a person could read on a page, for assertions."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

LITERAL = ("text", "code", "json")
MARKUP = ("markdown", "caption", "title", "header", "subheader", "info", "warning", "error", "success")


def literal(app: AppTest) -> str:
    """All text that is shown as it is."""
    return "\n".join(str(element.value) for kind in LITERAL for element in app.get(kind))


def markup(app: AppTest) -> str:
    """All text that the browser reads as markdown, labels of buttons and expanders among it."""
    values = [str(element.value) for kind in MARKUP for element in app.get(kind)]
    labels = [element.label for kind in ("button", "expander", "metric", "tab") for element in app.get(kind)]
    return "\n".join(values + [str(label) for label in labels])


def everything(app: AppTest) -> str:
    return literal(app) + "\n" + markup(app)


def sound(app: AppTest) -> None:
    """No page shows an exception."""
    assert not app.exception, [e.value for e in app.exception]
