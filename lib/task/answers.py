"""Reading what the models answer: each function returns checked values or raises ValueError with the exact reason.

The reasons are sent back to the model, so they say what to change. Fields nobody asked for are ignored.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from html import unescape
from typing import Any

from lib.phrases import some
from lib.replies import parse_object
from lib.task.spelling import one_spelling

CAUSE_LIMIT = 60            # characters of a cause's name
NOT_A_CAUSE = {"none", "null", "nan", "n/a", "na", "undefined"}
_AROUND = " \"'`*_#.:;!?-"    # what models put around a name without meaning it


@dataclass(frozen=True)
class Label:
    cause: str
    evidence: str = ""      # as the model quoted it; "" = none given


@dataclass(frozen=True)
class Summary:
    text: str
    tickets: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClaimedCause:
    """One cause of the agent's answer, as stated; None where a number was not stated."""

    name: str
    tickets: tuple[str, ...]
    count: int | None
    customers: int | None
    summary: str


def parse_label(text: str) -> Label:
    """`{"cause": …, "evidence": …}`; a missing or null evidence counts as none given."""
    answer = parse_object(text)
    return Label(tidy_cause(_field(answer, "cause")), _text(answer, "evidence"))


def parse_groups(text: str, labels: Iterable[str]) -> dict[str, str]:
    """`{"groups": [{"cause", "labels"}]}` as label -> cause: each of `labels` exactly once and none besides."""
    placed = _placed(text)
    times = Counter(label for label, _ in placed)
    wanted = set(labels)
    faults = [f"{what}: {_some_quoted(found)}" for what, found in (
        ("labels missing", sorted(wanted - times.keys())),
        ("labels that were not given", sorted(times.keys() - wanted)),
        ("labels given twice", sorted(label for label, n in times.items() if n > 1))) if found]
    if faults:
        raise ValueError("every label must be in exactly one group; " + "; ".join(faults))
    return dict(placed)


def usable_groups(text: str, labels: Iterable[str]) -> dict[str, str]:
    """What is left of an answer that `parse_groups` refuses: the first cause of each label that it does place."""
    try:
        placed = _placed(text)
    except ValueError:
        return {}
    wanted = set(labels)
    return {label: cause for label, cause in reversed(placed) if label in wanted}


def _placed(text: str) -> list[tuple[str, str]]:
    return [(_bare(label), cause) for cause, members in _groups(parse_object(text)) for label in members]


def _groups(answer: dict[str, Any]) -> list[tuple[str, list[str]]]:
    groups = []
    for i, group in enumerate(_list(answer, "groups"), start=1):
        if not isinstance(group, dict):
            raise ValueError(f'group {i} must be an object with "cause" and "labels", not {_kind(group)}')
        try:
            groups.append((tidy_cause(_field(group, "cause")), _strings(group, "labels")))
        except ValueError as fault:
            raise ValueError(f"group {i}: {fault}") from None
    return groups


def parse_summary(text: str) -> Summary:
    """`{"summary": …, "ticket_ids": […]}`; missing ids count as none given."""
    answer = parse_object(text)
    summary = _text(answer, "summary")
    if not summary:
        raise ValueError('"summary" is empty; write 2-3 sentences')
    return Summary(summary, tuple(_strings(answer, "ticket_ids", optional=True)))


ANSWER = '{"causes": [{"cause": "…", "count": 2, "ticket_ids": ["id", "id"], "customers": 2, "summary": "…"}]}'


def parse_answer(text: str) -> tuple[ClaimedCause, ...]:
    """The agent's `{"causes": […]}`, in its own order."""
    try:
        given = _list(parse_object(text), "causes")
    except ValueError as fault:
        raise ValueError(f"{fault}. It is to be {ANSWER}") from None
    causes = []
    for i, cause in enumerate(given, start=1):
        if not isinstance(cause, dict):
            raise ValueError(f"cause {i} must be an object, not {_kind(cause)}")
        try:
            causes.append(_claimed(cause))
        except ValueError as fault:
            raise ValueError(f"cause {i}: {fault}") from None
    twice = [name for name, n in Counter(c.name for c in causes).items() if n > 1]
    if twice:
        raise ValueError(f"causes given twice: {_some_quoted(twice)}; give each cause once, with all its tickets")
    if not causes:
        raise ValueError('"causes" is an empty list; give at least one cause')
    return tuple(causes)


def _claimed(cause: dict[str, Any]) -> ClaimedCause:
    tickets = tuple(_strings(cause, "ticket_ids"))
    if not tickets:
        raise ValueError('"ticket_ids" is empty; give the id of every ticket of this cause')
    return ClaimedCause(tidy_cause(_field(cause, "cause")), tickets, _count(cause, "count"),
                        _count(cause, "customers"), _text(cause, "summary"))


def tidy_cause(cause: Any) -> str:
    """A cause in the one form it is counted in: `one_spelling`, without entities, and without marks around it.

    ValueError when it is no text, empty, longer than 60 characters, several causes at once, or spelled with letters
    that only look alike (Latin and Cyrillic in one word).
    """
    if not isinstance(cause, str):
        raise ValueError(f'"cause" must be one text, not {_kind(cause)}')
    name = _bare(cause)
    if not name or name in NOT_A_CAUSE:
        raise ValueError(f'"cause" is {_quoted(cause)}, which names no cause; name the most likely one in 2-5 words')
    if len(name) > CAUSE_LIMIT:
        raise ValueError(f'"cause" has {len(name)} characters, at most {CAUSE_LIMIT} are allowed; use 2-5 words')
    if re.search(r"[/|;,]", name) or re.search(r"[\r\n]", cause.strip()):
        raise ValueError(f'"cause" is {_quoted(cause)}, which looks like several; give one cause in plain words')
    mixed = next((word for word in name.split() if len(_scripts(word)) > 1), None)
    if mixed:
        raise ValueError(f'"cause" mixes {" and ".join(sorted(_scripts(mixed)))} letters in the word {mixed!r}')
    return name


def _bare(name: str) -> str:
    """A name as it is counted: the same again for its own result, so that a label copied from a prompt is known."""
    if len(name) > 20 * CAUSE_LIMIT:
        return one_spelling(name)      # no name, and too long to look at it again and again
    while (bare := one_spelling(unescape(name)).strip(_AROUND)) != name:
        name = bare
    return name


def _quoted(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:80] + "…")


def _scripts(word: str) -> set[str]:
    return {unicodedata.name(c, "").split(" ")[0] for c in word if c.isalpha()} & {"LATIN", "CYRILLIC", "GREEK"}


def _field(answer: dict[str, Any], name: str) -> Any:
    if name not in answer:
        raise ValueError(f'"{name}" is missing')
    return answer[name]


def _text(answer: dict[str, Any], name: str) -> str:
    value = answer.get(name)
    if value is not None and not isinstance(value, str):
        raise ValueError(f'"{name}" must be a text, not {_kind(value)}')
    return (value or "").strip()


def _list(answer: dict[str, Any], name: str) -> list[Any]:
    value = _field(answer, name)
    if not isinstance(value, list):
        raise ValueError(f'"{name}" must be a list, not {_kind(value)}')
    return value


def _strings(answer: dict[str, Any], name: str, optional: bool = False) -> list[str]:
    """A list of texts; whole numbers are taken for the texts they are written as, since ids may look like numbers."""
    if optional and answer.get(name) is None:
        return []
    values = _list(answer, name)
    wrong = next((v for v in values if not isinstance(v, str) and type(v) is not int), None)
    if wrong is not None or None in values:
        raise ValueError(f'"{name}" must hold only texts, not {_kind(wrong)}')
    return [str(v).strip() for v in values]


def _count(answer: dict[str, Any], name: str) -> int | None:
    value = answer.get(name)
    if value is not None and type(value) is not int:
        raise ValueError(f'"{name}" must be a whole number, not {_kind(value)}')
    if value is not None and value < 0:
        raise ValueError(f'"{name}" is {value}; it must be 0 or more')
    return value


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    shown = names.get(type(value), "a number")
    return f"{shown} ({value!r})" if isinstance(value, (str, int, float)) and len(repr(value)) <= 40 else shown


def _some_quoted(names: list[str]) -> str:
    return some([_quoted(name) for name in names])
