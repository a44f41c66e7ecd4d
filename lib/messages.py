"""Reading the API's messages and blocks, whether they are SDK objects or plain dicts, and making text sendable."""

from __future__ import annotations

from typing import Any

MOST_OF_A_REASON = 2_000        # characters of what is wrong with an answer that go back to the model


def get(thing: Any, name: str, default: Any = None) -> Any:
    """Field `name` of an SDK object or a dict; `default` where it is absent or null."""
    value = thing.get(name) if isinstance(thing, dict) else getattr(thing, name, None)
    return default if value is None else value


def as_dict(thing: Any) -> Any:
    """A block or message as plain JSON data, every field as it came, nothing added."""
    if isinstance(thing, dict):
        return thing
    if not hasattr(thing, "model_dump"):
        return dict(vars(thing))
    return thing.model_dump(mode="json", exclude_unset=True, warnings=False)


def blocks(message: Any) -> list[Any]:
    """The content blocks of a reply; a server that sent a bare string is read as one text block, null as none."""
    content = get(message, "content", [])
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def text_of(message: Any) -> str:
    """All text blocks of a reply, joined; thinking and tool calls are left out."""
    return "".join(get(b, "text", "") for b in blocks(message) if get(b, "type") == "text")


def utf8(text: str) -> str:
    """`text` as it can be sent: halves of surrogate pairs, which UTF-8 cannot hold, are joined or become U+FFFD."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def correction(reason: ValueError) -> str:
    """What a model is told whose answer cannot be used."""
    words = str(reason) or type(reason).__name__
    return (f"That answer cannot be used: {utf8(words)[:MOST_OF_A_REASON]}\n"
            "Give the whole answer again, corrected, and nothing else.")
