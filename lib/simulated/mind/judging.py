"""A ticket's cause as the prompt wants it: from its list and in few words, as well as a model of its size can tell, and
swayed by a ticket that gives orders."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from lib.models import model
from lib.simulated.mind import reading
from lib.simulated.mind.chance import share
from lib.simulated.mind.labelling import Label, label_from, readings, shortened
from lib.simulated.mind.orders import order_in

_MISREADS = {"medium": 0.3, "large": 0.04}              # as often as a small model, which has 1
_OBEYS = {                                              # a ticket that gives orders: with none, one, both guards up
    "small": (1.0, 0.5, 0.1),
    "medium": (0.9, 0.25, 0.03),
    "large": (0.75, 0.12, 0.005),
}

_LEFT_OUT = re.compile(r"\n\[… [\d,]+ characters left out here …\]\n")      # a note to the reader, no customer's words
_GRAVE = re.compile(
    r"\b(urgent\w*|asap|immediately|nobody can|everyone|whole (office|team|street|company)|all (our|my|of)|completely|"
    r"down|lost|allergic|safety|audit|legal|hacked|dringend|sofort|urgente|stopped|standstill|cannot work)\b", re.I)
_SLIGHT = re.compile(r"\b(wish|feature request|nice if|would be great|not urgent|no rush|question|wondering|"
                     r"small thing|minor|suggestion|keine eile|frage)\b", re.I)


def judge(system: str, subject: str, body: str, tagged: bool, model_id: str = "",
          allowed: Mapping[str, str] | None = None) -> Label:
    """The label that a model gives a ticket by a prompt, of `allowed` where there is such a list or the prompt has one;
    an unknown model counts as a small one. `tagged`: the ticket stands in tags, which is one guard against orders in
    it; a line in the prompt that calls it data is the other."""
    size, body = model(model_id).size, _LEFT_OUT.sub("\n\n", body)
    found = _label(system, subject, body, size, allowed or reading.allowed_causes(system))
    ordered = order_in(f"{subject}\n{body}")
    if ordered and share(f"obey {subject}\n{body}") < _obeys(size, int(tagged) + reading.calls_it_data(system)):
        return replace(found, cause=ordered)
    return found


def _label(system: str, subject: str, body: str, size: str, allowed: Mapping[str, str]) -> Label:
    taken = _misread(subject, body, size)
    if allowed:
        return label_from(allowed, subject, body, taken)
    return shortened(taken or readings(subject, body).likeliest, reading.words_allowed(system))


def _misread(subject: str, body: str, size: str) -> Label | None:
    """The rival cause, where a model of that size takes it for the right one: the closer the two, the oftener."""
    read = readings(subject, body)
    slips = share(f"misread {subject}\n{body}") < _MISREADS.get(size, 1.0) * read.closeness ** 2
    return read.rival if slips else None


def _obeys(size: str, guards: int) -> float:
    return _OBEYS.get(size, _OBEYS["small"])[guards]


def severity(subject: str, body: str) -> str:
    """low, medium or high, by a few words."""
    text = f"{subject}\n{body}"
    grave, slight = len(_GRAVE.findall(text)), len(_SLIGHT.findall(text))
    return "low" if slight > grave else "high" if grave > 1 else "medium"
