"""Fifteen tickets behind six tools, and the loop in which a simulated agent uses them."""

import json
from collections import Counter

from lib.simulated.protocol import handle
from lib.task import prompts

ONE_BY_ONE = {"type": "auto", "disable_parallel_tool_use": True}
SAID = {"duplicate charge": "I was charged twice for one booking, two payments of 80.00.",
        "export cut off": "The CSV export stops after 1,000 rows, the rest is missing.",
        "late delivery": "My parcel has still not arrived, the delivery is two weeks late.",
        "zipper failure": "The zip of the bag is stuck again."}
CAUSES = ["duplicate charge"] * 8 + ["export cut off"] * 4 + ["late delivery"] * 2 + ["zipper failure"]
TICKETS = {f"K-{i}": {"ticket_id": f"K-{i}", "subject": f"case {i}", "customer_id": f"C-{i % 5}", "product": "Desk",
                      "body": f"{SAID[cause]} This is case {i}."} for i, cause in enumerate(CAUSES)}


def tool(name, description, properties, fn, required=()):
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"name": name, "description": description, "input_schema": schema}, fn


def list_tickets(offset=0, limit=6):
    page = [{k: t[k] for k in ("ticket_id", "subject", "customer_id", "product")} for t in TICKETS.values()]
    after = offset + limit
    return {"total": len(page), "next_offset": after if after < len(page) else None, "tickets": page[offset:after]}


def list_from(start):
    return list_tickets(start)


def search(query):
    return {"tickets": [{"ticket_id": k, "subject": t["subject"]} for k, t in TICKETS.items() if query in t["body"]]}


def tally(assignments):
    counts = Counter(a["cause"] for a in assignments)
    return {"causes": [{"cause": c, "count": n, "customers": 1} for c, n in counts.most_common()]}


NUMBER, TEXT = {"type": "integer"}, {"type": "string"}
LIST = tool("list_tickets", "Lists tickets, one page at a time.", {"offset": NUMBER, "limit": {**NUMBER, "default": 6}},
            list_tickets)
ID = {**TEXT, "description": "One id, exactly as listed."}
READ = tool("read_ticket", "Returns one ticket with its full body.", {"ticket_id": ID},
            lambda ticket_id: TICKETS[ticket_id], ["ticket_id"])
SEARCH = tool("search_tickets", "Finds tickets whose text holds the words.", {"query": TEXT}, search, ["query"])
TALLY = tool("tally", "Counts the tickets per cause.", {"assignments": {"type": "array", "items": {
    "type": "object", "properties": {"ticket_id": TEXT, "cause": TEXT}}}}, tally, ["assignments"])
INCIDENTS = tool("list_incidents", "Returns the incidents of one product.", {"product": ID}, lambda product: {
    "incidents": [{"title": "Card retries sent twice", "detail": "Customers were charged twice for one payment."}]},
    ["product"])
CUSTOMER = tool("get_customer", "Returns one customer.", {"customer_id": TEXT}, lambda customer_id: {"name": "A"},
                ["customer_id"])
ALL = (LIST, READ, SEARCH, CUSTOMER, INCIDENTS, TALLY)


def investigate(tools, system=prompts.AGENT, most=60, **fields):
    """Runs the loop against the simulation; returns (final text, calls as (tool, input), turns)."""
    functions = {spec["name"]: fn for spec, fn in tools}
    messages = [{"role": "user", "content": prompts.question(5, len(TICKETS))}]
    calls = []
    for turn in range(1, most + 1):
        reply = handle({"model": "claude-haiku-5-5", "max_tokens": 8000, "system": system, "messages": messages,
                        "tools": [spec for spec, _ in tools], "tool_choice": ONE_BY_ONE, **fields})
        assert reply.status == 200, reply.body
        content = reply.body["content"]
        messages.append({"role": "assistant", "content": content})
        asked = [b for b in content if b["type"] == "tool_use"]
        if not asked:
            return content[-1]["text"], calls, turn
        calls += [(b["name"], b["input"]) for b in asked]
        messages.append({"role": "user", "content": [_result(b, functions) for b in asked]})
    raise AssertionError(f"no end after {most} turns: {calls[-5:]}")


def _result(block, functions):
    try:
        text, failed = json.dumps(functions[block["name"]](**block["input"])), False
    except Exception as error:  # what a tool loop does
        text, failed = f"{type(error).__name__}: {error}", True
    return {"type": "tool_result", "tool_use_id": block["id"], "content": text, "is_error": failed}


def causes_in(text):
    return json.loads(text)["causes"]
