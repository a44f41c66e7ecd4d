"""Cells that are JSON lists: the comments of a conversation, and named things such as components and labels."""

from __future__ import annotations

import json
from typing import Any

_TEXTS = ("plain_body", "body_text", "body", "text", "content", "message", "html_body")
_AUTHORS = ("author", "user", "from", "sender", "created_by", "updateAuthor")
_NAMES = ("name", "displayName", "display_name", "full_name", "login", "email", "emailAddress", "username")


def comments_in(cell: str) -> list[tuple[str, str]]:
    """(who said it, or "", and the text) of each comment, in order, in a cell that is a JSON list of comments. Comments
    without words (a note that something was closed) are left out. Any other cell as it is."""
    if cell == "[]":
        return []
    things = _objects(cell)
    comments = [thing for thing in things if any(key in thing for key in _TEXTS)]
    texts = [next((comment[key] for key in _TEXTS if comment.get(key)), "") for comment in comments]
    if not any(texts) or len(comments) < len(things) or not all(isinstance(text, str) for text in texts):
        return [("", cell)]
    return [(_who(comment), text) for comment, text in zip(comments, texts, strict=True) if text]


def names_in(cell: str) -> str:
    """The names in a cell that is a JSON list of named objects, or of texts; any other cell as it is."""
    if cell == "[]":
        return ""
    if not cell.startswith(("[{", '["')) or not cell.endswith(("}]", '"]')):
        return cell
    things = _list(cell)
    names = [thing.get("name") if isinstance(thing, dict) else thing for thing in things]
    return ", ".join(names) if names and all(isinstance(name, str) and name for name in names) else cell


def _who(comment: dict[str, Any]) -> str:
    """The author as far as the comment tells, and whether it is an internal note: "Pim (agent), internal note"."""
    author = next((comment[key] for key in _AUTHORS if comment.get(key)), None)
    name = role = ""
    if isinstance(author, dict):
        name = next((text for key in _NAMES if isinstance(text := author.get(key), str) and text), "")
        role = next((text for key in ("role", "type") if isinstance(text := author.get(key), str) and text), "")
    elif isinstance(author, str):
        name = author
    if not name:
        name = next((text for key in ("author_name", "from_email", "author_email", "author_id", "user_id")
                     if isinstance(text := comment.get(key), str | int) and text), "")
        name = str(name)
    if not role and isinstance(comment.get("incoming"), bool):      # Freshdesk
        role = "customer" if comment["incoming"] else "agent"
    said = f"{name} ({role})" if name and role and role.lower() != name.lower() else name or role
    internal = comment.get("public") is False or comment.get("private") is True or comment.get("part_type") == "note"
    return ", ".join(filter(None, (said, "internal note" if internal else "")))


def _objects(cell: str) -> list[dict]:
    """The objects of a JSON list of nothing else; empty for any other text."""
    if not cell.startswith("[{") or not cell.endswith("}]"):
        return []
    found = _list(cell)
    return found if all(isinstance(thing, dict) for thing in found) else []


def _list(cell: str) -> list[Any]:
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        return []
