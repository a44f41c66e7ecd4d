"""The agent's next step, decided from the conversation alone: list, read, count, look at incidents, answer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from lib.models import model
from lib.simulated.mind import reading
from lib.simulated.mind.answers import reply_text
from lib.simulated.mind.judging import judge
from lib.simulated.mind.labelling import label
from lib.simulated.mind.memory import Done, Memory, Seen, remember
from lib.simulated.mind.merging import merge, names_by_label
from lib.simulated.mind.reading import Ask
from lib.simulated.mind.summarising import summarise
from lib.simulated.mind.toolbox import Offered, offered, toolbox

_AT_ONCE = 5                # reads in one turn where parallel calls are allowed
_IDS_AT_ONCE = 10           # ids in one call of a tool that takes several
_PAGE = 20
_MANY = 200                 # tickets from which larger pages are asked for
_QUERIES = ("not", "problem", "error", "please", "can", "wrong")     # to find tickets where no tool lists them
_LOOSE = {"small": 40, "medium": 100}        # one ticket in so many keeps its own wording; larger models merge all
_MISCOUNTS_FROM = 6                         # tickets: more are not counted reliably without a tool
_NUMBERS = {w: i for i, w in enumerate("one two three four five six seven eight nine ten".split(), 1)}
_SAID = {"list": "I'll start by listing the tickets.", "search": "No tool lists tickets, so I'll search for them.",
         "read": "Now I'll read every ticket.", "tally": "All tickets are read; now I'll count the causes.",
         "incidents": "I'll check which incidents may explain the main causes."}
_DEFAULT_K = 5
_UNREAD = re.compile(r"\b(?:do not|don't|never|without) read(?:ing)?\b(?! it\b)"
                     r"|\bby (?:its|their|the) subjects? (?:only|alone)\b", re.I)


@dataclass(frozen=True)
class _Found:
    """One cause as the agent sees it."""

    cause: str
    tickets: tuple[Seen, ...]
    count: int
    customers: int


def next_step(request: Mapping[str, Any], ask: Ask) -> list[dict[str, Any]]:
    """The blocks of the reply: one tool call, several where that is allowed, or the final text."""
    tools = toolbox(request["tools"])
    memory = remember(request["messages"], tools)
    forced = _forced(request)
    if forced:
        return [forced]
    for need, inputs in _plan(memory, tools, ask, request):
        said = [{"type": "text", "text": _SAID[need]}] if not memory.of(need) else []
        return said + [{"type": "tool_use", "name": tools[need].name, "input": i} for i in inputs]
    if (request.get("tool_choice") or {}).get("type") == "any":
        return [_bare_call(request["tools"][0])]
    return [{"type": "text", "text": _final(memory, ask, request)}]


def _plan(memory: Memory, tools: Mapping[str, Offered], ask: Ask, request: Mapping[str, Any]
          ) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """What is still to be done, the next thing first, as (need, arguments of its calls)."""
    if "list" in tools:
        yield from _if_any("list", _next_page(memory, tools["list"]))
    elif "search" in tools:
        yield from _if_any("search", _next_query(memory, tools["search"]))
    if "read" in tools and not _UNREAD.search(ask.system):
        yield from _if_any("read", _next_reads(memory, tools["read"], _many_allowed(request)))
    if "tally" in tools and memory.tickets:
        yield from _if_any("tally", _count_in_code(memory, tools["tally"], _placed(memory, ask, request)))
    if "incidents" in tools and memory.tickets:
        yield from _if_any("incidents", _next_incidents(memory, tools["incidents"], _causes(memory, ask, request)))


def _if_any(need: str, inputs: list[dict[str, Any]]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    if inputs:
        yield need, inputs


def _many_allowed(request: Mapping[str, Any]) -> bool:
    return not (request.get("tool_choice") or {}).get("disable_parallel_tool_use")


def _forced(request: Mapping[str, Any]) -> dict[str, Any] | None:
    """The call that tool_choice `tool` demands, its arguments no better than the schema's defaults."""
    choice = request.get("tool_choice") or {}
    tool = next((t for t in request["tools"] if choice.get("type") == "tool" and t["name"] == choice.get("name")), None)
    return _bare_call(tool) if tool else None


def _bare_call(tool: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "tool_use", "name": tool["name"], "input": offered(tool).with_defaults({})}


# --- finding and reading tickets -------------------------------------------------------------------------------------


def _next_page(memory: Memory, tool: Offered) -> list[dict[str, Any]]:
    """The first page, then the page that the last result points to, as long as pages bring new tickets."""
    pages = memory.of("list")
    if not pages:
        return [tool.with_defaults(_page_arguments(tool, 0, 0, None))]
    last = pages[-1]
    if last.failed:
        return [tool.with_defaults({})] if last.input and sum(p.failed for p in pages) == 1 else []
    shown = len(memory.tickets)
    pointer, total = _next_pointer(last.result), _total(last.result)
    if pointer is None and not (total and total > shown and _is_new(pages)):
        return []
    arguments = tool.with_defaults(_page_arguments(tool, shown, total or 0, pointer))
    return [arguments] if all(p.input != arguments for p in pages) else []


def _page_arguments(tool: Offered, shown: int, total: int, pointer: Any) -> dict[str, Any]:
    size = tool.parameter(r"limit|page_?size|per_page|count|max_results")
    place = tool.parameter(r"offset|skip|start|from")
    page, cursor = tool.parameter(r"page|page_number"), tool.parameter(r"cursor|after|token|page_token")
    limit = _page_size(tool.properties.get(size, {}), total)
    given: dict[str, Any] = {size: limit} if size else {}
    if place:
        given[place] = pointer if isinstance(pointer, int) else shown
    elif page:
        given[page] = pointer if isinstance(pointer, int) else shown // limit + tool.properties[page].get("minimum", 1)
    elif cursor and pointer is not None:
        given[cursor] = pointer
    return given


def _page_size(schema: Mapping[str, Any], total: int) -> int:
    """The tool's own default; as many as it allows where there are many tickets."""
    most = schema.get("maximum", _PAGE)
    return most if total > _MANY else schema.get("default", min(_PAGE, most))


def _next_pointer(result: Any) -> Any:
    names = ("next_offset", "next_page", "next_cursor", "next")
    return next((result[n] for n in names if result.get(n) not in (None, "", False)), None) if _is_row(result) else None


def _total(result: Any) -> int | None:
    names = ("total", "total_tickets", "count", "total_count")
    return next((result[n] for n in names if isinstance(result.get(n), int)), None) if _is_row(result) else None


def _is_row(result: Any) -> bool:
    return isinstance(result, Mapping)


def _is_new(pages: Sequence[Done]) -> bool:
    return all(p.result != pages[-1].result for p in pages[:-1])


def _next_query(memory: Memory, tool: Offered) -> list[dict[str, Any]]:
    query = tool.parameter(r"query|q|text|keywords?|terms?") or next(iter(tool.properties), "query")
    asked = {str(d.input.get(query)) for d in memory.of("search")}
    left = [q for q in _QUERIES if q not in asked]
    return [tool.with_defaults({query: left[0]})] if left else []


def _next_reads(memory: Memory, tool: Offered, many_allowed: bool) -> list[dict[str, Any]]:
    """Tickets not asked for yet, in the order they were listed; each is asked for once."""
    name = tool.parameter(r".*(ticket|case|id|key|number).*") or next(iter(tool.properties), "ticket_id")
    asked = {str(id) for d in memory.of("read") for id in _as_list(d.input.get(name))}
    left = [id for id in memory.tickets if id not in asked]
    if tool.properties.get(name, {}).get("type") == "array":
        return [tool.with_defaults({name: left[:_IDS_AT_ONCE]})] if left else []
    return [tool.with_defaults({name: id}) for id in left[:_AT_ONCE if many_allowed else 1]]


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


# --- judging and counting --------------------------------------------------------------------------------------------


def _placed(memory: Memory, ask: Ask, request: Mapping[str, Any]) -> dict[str, str]:
    """Ticket id -> cause for every ticket seen, near-synonyms merged; smaller models leave a few as they were."""
    own = {id: judge(ask.system, t.subject, t.body, tagged=True).cause for id, t in memory.tickets.items()}
    merged = names_by_label(merge(Counter(own.values()).items()))
    loose = _LOOSE.get(model(request["model"]).size, 0)
    return {id: cause if loose and _chance(id, loose) else merged[cause] for id, cause in own.items()}


def _chance(seed: str, one_in: int) -> bool:
    return int(sha256(seed.encode()).hexdigest()[:8], 16) % one_in == 0


def _count_in_code(memory: Memory, tool: Offered, placed: Mapping[str, str]) -> list[dict[str, Any]]:
    """One call with every assignment; after an error one more, with the causes in the plainest form."""
    done = memory.of("tally")
    if len(done) > 1 or any(not d.failed for d in done):
        return []
    name = tool.parameter(r".*", "array") or next(iter(tool.properties), "assignments")
    fields = ((tool.properties.get(name, {}).get("items") or {}).get("properties") or {})
    id_field = next((f for f in fields if re.search(r"ticket|id|key", f)), "ticket_id")
    cause_field = next((f for f in fields if f != id_field and re.search(r"cause|label|categ|topic|group", f)), "cause")
    rows = [{id_field: id, cause_field: _plainest(c) if done else c} for id, c in placed.items()]
    return [tool.with_defaults({name: rows})]


def _plainest(cause: str) -> str:
    return " ".join(re.findall(r"[a-z0-9]+", cause.lower()))[:60].strip() or "other"


def _causes(memory: Memory, ask: Ask, request: Mapping[str, Any]) -> list[_Found]:
    """The most common causes, counted by the tally where there was one, else by the agent itself."""
    groups: dict[str, list[Seen]] = {}
    for id, cause in _placed(memory, ask, request).items():
        groups.setdefault(cause, []).append(memory.tickets[id])
    counted = _tallied(memory)
    found = [_Found(cause, tuple(seen), *counted.get(cause, _by_itself(cause, seen))) for cause, seen in groups.items()]
    found.sort(key=lambda f: (-f.count, f.cause))
    return found[:_asked_for(ask)]


def _tallied(memory: Memory) -> dict[str, tuple[int, int]]:
    result = next((d.result for d in reversed(memory.of("tally")) if not d.failed), None)
    rows = [row for row in _rows(result) if isinstance(row.get("cause"), str) and isinstance(row.get("count"), int)]
    return {row["cause"]: (row["count"], row.get("customers") or 0) for row in rows}


def _rows(result: Any) -> Iterator[Mapping[str, Any]]:
    """The objects in any list of a result."""
    for value in result.values() if _is_row(result) else ():
        yield from (row for row in (value if isinstance(value, list) else ()) if _is_row(row))


def _by_itself(cause: str, seen: Sequence[Seen]) -> tuple[int, int]:
    """Tickets and customers counted without a tool: large groups come out one too many or too few."""
    customers = len({t.customer for t in seen if t.customer})
    if len(seen) < _MISCOUNTS_FROM:
        return len(seen), customers
    return len(seen) + (1 if _chance(cause, 2) else -1), customers


def _asked_for(ask: Ask) -> int:
    """How many causes the question wants."""
    text = f"{ask.data}\n{ask.system}".lower()
    found = re.search(
        r"\b(?:top|the)\s+(\w+)\s+(?:most (?:common|frequent)|(?:root )?causes)|\btop (\d+)|\b(\d+) most common", text)
    word = next((g for g in found.groups() if g), "") if found else ""
    if re.search(r"\bis the most common\b|\bthe single most\b", text) and not word:
        return 1
    return int(word) if word.isdigit() and int(word) else _NUMBERS.get(word, _DEFAULT_K)


# --- explaining and answering ----------------------------------------------------------------------------------------


def _next_incidents(memory: Memory, tool: Offered, causes: Sequence[_Found]) -> list[dict[str, Any]]:
    """All incidents at once where the tool gives them; else those of the product that most tickets of a cause name, for
    each main cause, every product once."""
    name = tool.parameter(r".*(product|service|component).*") or next(iter(tool.properties), "product")
    if name not in tool.required:
        return [] if memory.of("incidents") else [tool.with_defaults({})]
    asked = {str(d.input.get(name)) for d in memory.of("incidents")}
    wanted = [p for cause in causes if (p := _main_product(cause)) and p not in asked]
    return [tool.with_defaults({name: wanted[0]})] if wanted else []


def _main_product(cause: _Found) -> str:
    named = Counter(t.product for t in cause.tickets if t.product)
    return named.most_common(1)[0][0] if named else ""


def _final(memory: Memory, ask: Ask, request: Mapping[str, Any]) -> str:
    causes = _causes(memory, ask, request)
    incidents = _incidents(memory)
    rows = [_row(found, incidents) for found in causes]
    lines = "\n".join(f"{i}. {r['cause']} ({r['count']} tickets)" for i, r in enumerate(rows, 1))
    prose = f"The most common causes are:\n{lines}" if rows else "I found no tickets with the tools I have."
    return reply_text(ask, {"groups": rows, "count": len(memory.tickets)}, prose, ask.data)


def _row(found: _Found, incidents: Sequence[str]) -> dict[str, Any]:
    tickets = [reading.Ticket(t.id, t.subject, t.body) for t in found.tickets]
    summary = summarise(found.cause, found.count, tickets, incidents)
    return {"cause": found.cause, "count": found.count, "ticket_ids": [t.id for t in tickets],
            "customers": found.customers,
            "customer_ids": list(dict.fromkeys(t.customer for t in found.tickets if t.customer)),
            "summary": summary.text, "evidence": label(tickets[0].subject, tickets[0].body).evidence}


def _incidents(memory: Memory) -> list[str]:
    """Title and detail of every incident that was looked up."""
    rows = [row for d in memory.of("incidents") if not d.failed for row in _rows(d.result)]
    return [f"{row.get('title') or row.get('name') or ''}: {row.get('detail') or row.get('description') or ''}"
            for row in rows]
