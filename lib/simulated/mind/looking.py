"""The arguments of the calls that look something up: pages, queries, tickets, incidents, each asked for once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any

from lib.simulated.mind import ids, results
from lib.simulated.mind.counting import Found
from lib.simulated.mind.memory import Memory
from lib.simulated.mind.results import Done, Seen
from lib.simulated.mind.toolbox import Offered, items_of, kinds

_CALLS_AT_ONCE = 5          # reads in one turn where parallel calls are allowed
_PAGE = 20
_MANY = 200                 # tickets from which larger pages are asked for
_QUERIES = ("not", "problem", "error", "please", "can", "wrong")     # to find tickets where no tool lists them
_TRIES = 5                  # reads, all of them failed, after which the tool is given up
_NUMBER = rf"(?P<number>{'|'.join(ids.NUMBERS)}|\d{{1,4}})"
_FIRST = re.compile(rf"\bread\b[^.\n]{{0,30}}?\b(?:the first|only|just|at most|no more than) {_NUMBER}"
                    r"(?= (?:support )?tickets?\b| of them\b| ones\b|\s*(?:[.,;\n]|$))", re.I)
_TICKET = r".*(ticket|case|id|key|number).*"
_PRODUCT = r".*(product|service|component).*"
_CUSTOMER = r".*(customer|client|account).*"
_QUERY = r"query|q|text|keywords?|terms?"


# --- finding tickets -------------------------------------------------------------------------------------------------


def next_page(memory: Memory, tool: Offered) -> list[dict[str, Any]]:
    """The first page, then the page that the last result points to, as long as pages bring new tickets."""
    pages = memory.of("list")
    if not pages:
        return [tool.with_defaults(_page_arguments(tool, 0, 0, None))]
    last = pages[-1]
    if last.failed:
        return [tool.with_defaults({})] if last.input and sum(p.failed for p in pages) == 1 else []
    shown = memory.listed
    pointer, total = results.pointer(last.result), results.total(last.result)
    if pointer is None and (results.is_last(last.result) or not (total and total > shown and _is_new(pages))):
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
        given[place] = _whole(pointer, 0, shown)
    elif page:
        given[page] = _whole(pointer, 0, shown // limit + _whole(tool.properties[page].get("minimum"), 0, 1))
    elif cursor and pointer is not None:
        given[cursor] = pointer
    return given


def _page_size(schema: Mapping[str, Any], total: int) -> int:
    """The tool's own default; as many as it allows where there are many tickets."""
    sizes = [size for size in schema.get("enum") or () if isinstance(size, int)]
    if sizes:
        return max(sizes)
    most = _whole(schema.get("maximum"), 1, _PAGE)
    return most if total > _MANY else _whole(schema.get("default"), 1, min(_PAGE, most))


def _whole(value: Any, least: int, otherwise: int) -> int:
    return value if isinstance(value, int) and value >= least else otherwise


def _is_new(pages: Sequence[Done]) -> bool:
    return all(p.text != pages[-1].text for p in pages[:-1])


def next_query(memory: Memory, tool: Offered) -> list[dict[str, Any]]:
    query = tool.parameter(_QUERY) or next(iter(tool.properties), "query")
    asked = {str(d.input.get(query)) for d in memory.of("search")}
    left = [q for q in _QUERIES if q not in asked]
    return [tool.with_defaults({query: left[0]})] if left else []


# --- reading them ----------------------------------------------------------------------------------------------------


def next_reads(memory: Memory, tool: Offered, model_id: str, prompt: str, calls: int) -> list[dict[str, Any]]:
    """Tickets not asked for yet, in the order they were listed, in at most `calls` calls; each is asked for once, twice
    where a call for several left it out. Only the first ones where the prompt says so; none once all have failed."""
    name, done = _id_parameter(tool), memory.calls(tool)
    if _is_useless(memory, tool, name, done):
        return []
    other_form = _takes_another_form(memory, tool, name, model_id, prompt)
    asked = _asked(memory, done, name)
    form = partial(ids.guessed, name=name) if other_form else str
    size = 1 if _refused_several(memory, done, name) else ids.at_once(tool, name)
    left = list(islice((id for id in islice(memory.tickets, _first_only(prompt))
                        if id not in asked and ids.passed(tool, name, form(id)) not in asked), size * calls))
    batches = [left[i:i + size] for i in range(0, len(left), size)]
    return [tool.with_defaults({name: ids.packed(tool, name, list(map(form, batch)))}) for batch in batches]


def _is_useless(memory: Memory, tool: Offered, name: str, done: Sequence[Done]) -> bool:
    """Whether calls with the ids as they were listed have failed again and again, and never worked."""
    if len(done) < _TRIES or any(not d.failed for d in done):
        return False
    listed = {ids.passed(tool, name, id) for id in memory.tickets}
    return sum(not listed.isdisjoint(ids.unpacked(d.input.get(name), memory.tickets)) for d in done) >= _TRIES


def _first_only(prompt: str) -> int | None:
    """How many tickets are to be read by the prompt, None for all."""
    found = _FIRST.search(prompt)
    number = found["number"].lower() if found else ""
    return int(number) if number.isdigit() else ids.NUMBERS.get(number)


def _id_parameter(tool: Offered) -> str:
    """The one that carries most ids at once, of those that have to be given if there are any."""
    fitting = [name for name in tool.properties if re.fullmatch(_TICKET, name, re.I)] or [*tool.properties, "ticket_id"]
    required = [name for name in fitting if name in tool.required]
    return max(required or fitting, key=lambda name: ids.at_once(tool, name))


def calls_at_once(request: Mapping[str, Any]) -> int:
    return 1 if (request.get("tool_choice") or {}).get("disable_parallel_tool_use") else _CALLS_AT_ONCE


def _takes_another_form(memory: Memory, tool: Offered, name: str, model_id: str, prompt: str) -> bool:
    """Whether ids go out in a guessed form: at first where no text tells the form, later only if that has worked."""
    done = memory.calls(tool)
    if not done:
        return ids.guesses(tool, name, model_id, prompt)
    last = ids.unpacked(done[-1].input.get(name), memory.tickets)
    if not done[-1].tickets or any(id in memory.tickets for id in last):
        return False
    return any(ids.guessed(id, name) in last for id in memory.tickets)


def _asked(memory: Memory, done: Sequence[Done], name: str) -> set[str]:
    """Ids that count as asked for, found or not."""
    asked, left_out = Counter(), Counter()
    for d in done:
        wanted = ids.unpacked(d.input.get(name), memory.tickets)
        asked.update(wanted)
        if len(wanted) > 1:
            left_out.update(id for id in wanted if d.failed or d.tickets and d.is_whole and id not in d.text)
    return {id for id, times in asked.items() if times > 1 or not left_out[id]}


def _refused_several(memory: Memory, done: Sequence[Done], name: str) -> bool:
    """Whether a call for several tickets that exist has failed."""
    return any(d.failed and len(wanted := ids.unpacked(d.input.get(name), memory.tickets)) > 1
               and all(id in memory.tickets for id in wanted) for d in done)


# --- incidents -------------------------------------------------------------------------------------------------------


def next_incidents(memory: Memory, tool: Offered, causes: Sequence[Found], model_id: str) -> list[dict[str, Any]]:
    """All incidents at once where the tool gives them; else those of the product that most tickets of a cause name, for
    each main cause, every product once."""
    name = tool.parameter(_PRODUCT) or next(iter(tool.properties), "product")
    done = memory.calls(tool)
    if name not in tool.required:
        tried = [d for d in done if not d.input.get(name)]
        return [] if len(tried) > 1 or any(not d.failed for d in tried) else [tool.with_defaults({})]
    asked = {str(d.input.get(name)) for d in done}
    worked = {str(d.input.get(name)) for d in done if not d.failed}
    wanted = [p for cause in causes if (p := _main_product(cause)) and p not in asked
              and ids.guessed(p, name) not in worked]
    if not wanted:
        return []
    guess = not done and ids.guesses(tool, name, model_id)
    return [tool.with_defaults({name: ids.guessed(wanted[0], name) if guess else wanted[0]})]


def next_other(memory: Memory, tool: Offered, causes: Sequence[Found]) -> list[dict[str, Any]]:
    """One call of a tool that may tell something of the main cause: of its product, or of its first ticket or that
    ticket's customer; nothing where the value is not known."""
    if memory.calls(tool) or not causes:
        return []
    ticket = causes[0].tickets[0].id
    customer = next((t.customer for t in causes[0].tickets if t.customer), "")
    for pattern, value in ((_CUSTOMER, customer), (_PRODUCT, _main_product(causes[0])), (r".*(ticket|case).*", ticket)):
        if name := tool.parameter(pattern):
            return [tool.with_defaults({name: ids.packed(tool, name, [value])})] if value else []
    return [tool.with_defaults({})]


def _main_product(cause: Found) -> str:
    named = Counter(t.product for t in cause.tickets if t.product)
    return named.most_common(1)[0][0] if named else ""


# --- a tool taken for another ----------------------------------------------------------------------------------------


def mistaken(memory: Memory, need: str, tool: Offered) -> dict[str, Any]:
    """Arguments for a tool that only seems to serve the need: the names are its own, the values those of the need."""
    ticket = next(iter(memory.tickets.values()), Seen(""))
    wanted = {"read": ticket.id, "incidents": ticket.product}.get(need) or "all"
    ours = re.compile("|".join((_TICKET, _PRODUCT, _CUSTOMER, _QUERY)), re.I)
    return tool.with_defaults({name: ids.packed(tool, name, [wanted]) for name, schema in tool.properties.items()
                               if ours.fullmatch(name) and not schema.get("enum")
                               and "object" not in kinds(items_of(schema))})
