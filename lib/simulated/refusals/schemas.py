"""What a JSON schema may hold when a reply is forced into it: `output_config.format` and tools marked `strict`.

The schema becomes a grammar, so it must be closed, finite and not too wide.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_MOST_STRICT_TOOLS, _MOST_OPTIONAL, _MOST_UNIONS = 20, 24, 16
_REFUSED = {        # keywords without a grammar, by the type they belong to
    "array": ("contains", "maxContains", "maxItems", "minContains", "uniqueItems"),
    "integer": ("exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"),
    "number": ("exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"),
    "object": ("maxProperties", "minProperties", "patternProperties", "propertyNames", "unevaluatedProperties"),
    "string": ("maxLength", "minLength"),
}


def schema_limits(request: Mapping[str, Any]) -> Iterator[str]:
    """The API's words for each limit that the request's schemas break."""
    strict = [(f"tools.{i}.custom", tool["input_schema"])
              for i, tool in enumerate(request.get("tools") or []) if tool.get("strict")]
    if len(strict) > _MOST_STRICT_TOOLS:
        yield (f"Too many strict tools ({len(strict)}). The maximum number of strict tools supported is "
               f"{_MOST_STRICT_TOOLS}. Try reducing the number of tools marked as strict.")
    form = (request.get("output_config") or {}).get("format")
    schemas = [*strict, *([("output_config.format.schema", form["schema"])] if form else [])]
    for where, schema in schemas:
        for message in _refused(schema, schema, ()):
            yield f"{where}: {message}"
    yield from _too_wide([schema for _, schema in schemas])


def _refused(schema: Any, root: Mapping[str, Any], within: tuple[str, ...]) -> Iterator[str]:
    """`within` are the references that led here."""
    if not isinstance(schema, dict):
        return
    for kind in _types(schema):
        yield from _keywords(kind, schema)
    reference = schema.get("$ref")
    if isinstance(reference, str):
        if not reference.startswith("#"):
            yield f"External references are not supported: '{reference}'"
        elif reference in within:
            yield f"Recursive schemas are not supported: '{reference}' refers to itself"
        else:
            yield from _refused(_resolved(reference, root), root, (*within, reference))
    for inner in _inner(schema):
        yield from _refused(inner, root, within)


def _keywords(kind: str, schema: Mapping[str, Any]) -> Iterator[str]:
    found = [name for name in _REFUSED.get(kind, ()) if name in schema]
    if len(found) == 1:
        yield f"For '{kind}' type, property '{found[0]}' is not supported"
    elif found:
        yield f"For '{kind}' type, properties {', '.join(found)} are not supported"
    if kind == "array" and schema.get("minItems", 0) not in (0, 1):
        yield "For 'array' type, 'minItems' values other than 0 or 1 are not supported"
    if kind == "object":
        yield from _open_object(schema)


def _open_object(schema: Mapping[str, Any]) -> Iterator[str]:
    if "additionalProperties" not in schema:
        yield "For 'object' type, 'additionalProperties' must be explicitly set to false"
    elif schema["additionalProperties"] is not False:
        given = "true" if schema["additionalProperties"] is True else "object"
        yield (f"For 'object' type, 'additionalProperties: {given}' is not supported. Please set "
               "'additionalProperties' to false")


def _too_wide(schemas: list[Any]) -> Iterator[str]:
    objects = [part for schema in schemas for part in _parts(schema) if isinstance(part.get("properties"), dict)]
    optional = sum(name not in (part.get("required") or []) for part in objects for name in part["properties"])
    unions = sum("anyOf" in value or isinstance(value.get("type"), list)
                 for part in objects for value in part["properties"].values() if isinstance(value, dict))
    if unions > _MOST_UNIONS:
        yield (f"Schemas contains too many parameters with union types ({unions} parameters with type arrays or "
               "anyOf). This causes exponential compilation cost. Reduce the number of nullable or union-typed "
               f"parameters (limit: {_MOST_UNIONS} parameters with unions).")
    if optional > _MOST_OPTIONAL:
        yield (f"Schemas contains too many optional parameters ({optional}), which would make grammar compilation "
               f"inefficient. Reduce the number of optional parameters in your tool schemas (limit: {_MOST_OPTIONAL}).")


def _parts(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        for inner in _inner(schema):
            yield from _parts(inner)


def _inner(schema: Mapping[str, Any]) -> Iterator[Any]:
    """The schemas directly inside this one, but those that are only defined for others to refer to."""
    properties = schema.get("properties")
    yield from properties.values() if isinstance(properties, dict) else ()
    for name in ("anyOf", "allOf", "oneOf", "prefixItems"):
        yield from schema[name] if isinstance(schema.get(name), list) else ()
    yield schema.get("items")


def _types(schema: Mapping[str, Any]) -> list[str]:
    kind = schema.get("type")
    return [kind] if isinstance(kind, str) else [one for one in kind or () if isinstance(one, str)]


def _resolved(reference: str, root: Mapping[str, Any]) -> Any:
    found: Any = root
    for name in reference.removeprefix("#").strip("/").split("/"):
        found = found.get(name) if isinstance(found, dict) and name else found
    return found
