"""A tool of the person's own: one SELECT over the product database, whose `:names` are the tool's arguments."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from lib.agent import Tool
from lib.catalog import Catalog
from lib.design import ToolText
from lib.errors import InputError
from lib.task.results import capped, row_of

ROWS = 200          # rows that one call returns at most

# Texts, quoted names and comments, in which nothing is a parameter (to the end where they are never closed); a
# parameter of the kind we take, or of another.
_PIECE = re.compile(r"""'(?:[^']|'')*(?:'|\Z)|"(?:[^"]|"")*(?:"|\Z)|`(?:[^`]|``)*(?:`|\Z)|\[[^\]]*(?:\]|\Z)"""
                    r"|--[^\n]*|/\*.*?(?:\*/|\Z)|:(?P<named>[^\W\d]\w*)|(?P<other>\?\d*|[@$:#]\w+)", re.DOTALL)


def parameters_of(query: str) -> list[str]:
    """The names of a query's `:names`, each once, in the order in which they stand."""
    return list(dict.fromkeys(found["named"] for found in _PIECE.finditer(query) if found["named"]))


def query_problem(query: str, catalog: Catalog | None = None) -> str:
    """Why a query cannot stand behind a tool, "" if it can. With a `catalog` SQLite itself is asked, without
    running it."""
    if not query.strip():
        return "the query is empty; write one SELECT over the product database"
    other = next((found["other"] for found in _PIECE.finditer(query) if found["other"]), "")
    if other:
        return f"the parameter {other!r} is not possible; give parameters names, such as :customer_id"
    if not re.match(r"\s*(?:SELECT|WITH|VALUES)\b", _without_comments(query), re.IGNORECASE):
        return "it does not begin with SELECT; a tool only reads"
    if catalog is None or not catalog.tables:
        return ""
    try:
        catalog.query(f"EXPLAIN {_bare(query)}", dict.fromkeys(parameters_of(query)), max_rows=1)
    except InputError as refusal:
        return str(refusal)
    return ""


def _without_comments(query: str) -> str:
    return _PIECE.sub(lambda found: " " if found[0].startswith(("--", "/*")) else found[0], query)


def own_function(query: str, catalog: Catalog) -> Callable[..., dict[str, Any]]:
    """What the tool does for the agent: rows as far as they fit, ValueError with a text that the model can act on."""
    def function(**arguments: Any) -> dict[str, Any]:
        try:
            rows = _rows(query, catalog, arguments)
        except InputError as refusal:
            raise ValueError(str(refusal)) from None
        shown = [row_of(row) for row in rows[:ROWS]]
        if len(rows) <= ROWS:
            return capped({"total": len(rows), "rows": shown}, "rows")
        kept = capped({"rows": shown}, "rows")["rows"]
        return {"total": f"more than {ROWS}", "rows": kept, "note": f"the first {len(kept)} rows; narrow the request"}

    return function


def try_query(tool: ToolText, catalog: Catalog, arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows that the agent would get, at most ROWS. Raises InputError for arguments that do not fit the tool's
    schema, for a query that is none, and for whatever the database refuses."""
    problem = query_problem(tool.query)
    if problem:
        raise InputError(problem)
    complaint = Tool(tool.name, tool.description, tool.input_schema, lambda: None).complaint(dict(arguments))
    if complaint:
        raise InputError(f"the arguments {complaint}")
    return [dict(row) for row in _rows(tool.query, catalog, arguments)[:ROWS]]


def _rows(query: str, catalog: Catalog, arguments: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """One row more than ROWS where there are more. An argument that is not given is NULL."""
    if not catalog.tables:
        raise InputError("there is no product database; upload one on the Data page")
    values = {name: _value(arguments.get(name)) for name in parameters_of(query)}
    return catalog.query(_bare(query), values, max_rows=ROWS + 1)


def _bare(query: str) -> str:
    return query.strip().rstrip(";").rstrip()


def _value(argument: Any) -> Any:
    """Lists and objects go in as JSON."""
    return json.dumps(argument, ensure_ascii=False) if isinstance(argument, (list, dict)) else argument
