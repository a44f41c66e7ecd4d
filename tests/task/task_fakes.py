"""Six tickets, a catalog, and models that answer from a table, for the tests of lib/task."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

from lib.catalog import open_catalog
from lib.messages import text_of
from lib.task.prompts import subject_of
from lib.tickets.ticket import Ticket, TicketSet

CUSTOMERS = b"""customer_id,name,plan,region,monthly_revenue
C-1,Oak Dental,Pro,North,900
C-2,Birch Gym,Free,South,0
C-3,Cedar Cafe,Team,North,250.5
"""
PRODUCTS = b"product_id,name,area\nP-1,Invoices,Billing\nP-2,Calendar,Scheduling\n"
INCIDENTS = (b"incident_id,product_id,started,ended,title,detail\n"
             b"I-1,P-1,2026-03-01,2026-03-02,Cards charged twice,The payment job ran two times\n")


def catalog():
    return open_catalog([("customers.csv", CUSTOMERS), ("products.csv", PRODUCTS), ("incidents.csv", INCIDENTS)])


def ticket(key: str, body: str = "", customer: str = "", product: str = "", subject: str = "") -> Ticket:
    return Ticket(key, key, subject or f"About {key}", body, customer, product, "2026-03-01")


def six_tickets() -> TicketSet:
    return TicketSet("six", (
        ticket("T-1", "You took my money two times.", "C-1", "P-1"),
        ticket("T-2", "Two payments for one invoice!", "C-2", "P-1"),
        ticket("T-3", "The clock is an hour off.", "C-1", "P-2"),
        ticket("T-4", "Charged again today.", "C-1", "P-1"),
        ticket("T-5", "All bookings moved by one hour.", "C-9", "P-2"),
        ticket("T-6", "Where is the manual?", "", ""),
    ))


LABELS = {"T-1": "duplicate charge", "T-2": "double payment", "T-3": "wrong time zone", "T-4": "duplicate charge",
          "T-5": "wrong time zone", "T-6": "missing manual"}
GROUPS = [("duplicate charge", ["duplicate charge", "double payment"]), ("wrong time zone", ["wrong time zone"]),
          ("missing manual", ["missing manual"])]
SUMMARIES = {"duplicate charge": ["T-1", "T-2"], "wrong time zone": ["T-3"], "missing manual": ["T-6"]}


class FakeModel:
    """A client that answers with `answer(request)`: a text, content blocks, or an exception to raise."""

    def __init__(self, answer: Callable[[dict[str, Any]], Any]):
        self.answer, self.requests, self.messages = answer, [], self
        self._lock = threading.Lock()

    def create(self, **request: Any) -> dict[str, Any]:
        with self._lock:
            self.requests.append(json.loads(json.dumps(request)))
        answer = self.answer(request)
        if isinstance(answer, Exception):
            raise answer
        content = [{"type": "text", "text": answer}] if isinstance(answer, str) else answer
        calls = any(block["type"] == "tool_use" for block in content)
        return {"role": "assistant", "content": content, "stop_reason": "tool_use" if calls else "end_turn",
                "usage": {"input_tokens": 1, "output_tokens": 1}}


def pipeline_model(labels=None, groups=None, summaries=None) -> FakeModel:
    """A model that labels, merges and summarises from tables; a value that is no such answer is sent as it is."""
    labels, groups, summaries = labels or LABELS, groups or GROUPS, summaries or SUMMARIES

    def answer(request):
        about, user = subject_of(request), first_text(request)
        if user.startswith("<ticket"):
            cause = labels[about]
            return json.dumps({"cause": cause, "evidence": quote(user)}) if isinstance(cause, str) else cause[0]
        if user.startswith("<labels"):
            return groups if not isinstance(groups, list) else json.dumps(
                {"groups": [{"cause": cause, "labels": members} for cause, members in groups]})
        named = summaries[about]
        return named if not isinstance(named, list) else json.dumps(
            {"summary": f"About {about}.", "ticket_ids": named})

    return FakeModel(answer)


def quote(user: str) -> str:
    return user.partition("<body>")[2].partition("</body>")[0][:20]


def first_text(request: dict[str, Any]) -> str:
    return text_of(request["messages"][0])


def agent_model(*turns: Any) -> FakeModel:
    """A model that gives one of `turns` after the other: ("tool name", {arguments}), or the text of an answer."""
    def answer(request):
        turn = turns[sum(m["role"] == "assistant" for m in request["messages"])]
        if isinstance(turn, (str, Exception)):
            return turn
        return [{"type": "tool_use", "id": f"toolu_{len(request['messages'])}", "name": turn[0], "input": turn[1]}]

    return FakeModel(answer)
