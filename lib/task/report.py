"""The answer to the question, the same for every shape: causes with tickets and customers, and what code checked."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from lib.errors import InputError


@dataclass(frozen=True)
class Customer:
    id: str
    name: str = ""
    plan: str = ""
    region: str = ""
    monthly_revenue: float | None = None    # in the database's own currency; None = not stated
    known: bool = True                      # False: a ticket names it, the database does not have it
    tickets: int = 0                        # of this cause


@dataclass(frozen=True)
class Evidence:
    ticket: str             # ticket key
    quote: str
    found: bool             # the quote stands in that ticket, white space aside


@dataclass(frozen=True)
class Cause:
    name: str
    tickets: tuple[str, ...]                # ticket keys, in input order
    customers: tuple[Customer, ...]         # joined by code from `tickets`, highest revenue first
    products: tuple[str, ...] = ()          # names, most frequent first
    summary: str = ""
    evidence: tuple[Evidence, ...] = ()
    claimed: int | None = None              # the count the model stated; None where code did the counting

    @property
    def count(self) -> int:
        return len(self.tickets)


CUSTOMERS_KNOWN = "customers in the database"      # the name of a check


@dataclass(frozen=True)
class Check:
    name: str               # "counts", "tickets exist", "quotes", "customers in the database" …
    passed: bool
    detail: str             # one plain line: claimed against found, or what is missing
    cause: str = ""         # empty = about the whole report

    @property
    def is_gap(self) -> bool:
        """Whether it tells of the data and not of the answer: what a database lacks is nobody's fault."""
        return self.name.endswith(" in the database") and not self.passed


@dataclass(frozen=True)
class Report:
    shape: str                              # pipeline | agent
    k: int
    causes: tuple[Cause, ...]               # ranked: count, then name; at most k
    checks: tuple[Check, ...]
    total: int                              # tickets in the data
    labels: dict[str, str]                  # ticket key -> final cause, for every ticket the shape placed
    failed: dict[str, str]                  # ticket key -> why it has no label
    other: int = 0                          # labelled tickets outside the top k
    partial: str = ""                       # why the shape did not get to its end; "" = it did

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_dict(data: dict[str, Any]) -> Report:
        """The report that `to_dict` made this of. Raises InputError for anything else."""
        try:
            return Report(**{**data, "causes": tuple(map(_cause, data["causes"])),
                             "checks": tuple(Check(**c) for c in data["checks"])})
        except (AttributeError, KeyError, TypeError) as fault:
            raise InputError(f"this is no report of this version: {type(fault).__name__}: {fault}") from fault


def _cause(data: dict[str, Any]) -> Cause:
    return Cause(**{**data, "tickets": tuple(data["tickets"]), "products": tuple(data["products"]),
                    "customers": tuple(Customer(**c) for c in data["customers"]),
                    "evidence": tuple(Evidence(**e) for e in data["evidence"])})
