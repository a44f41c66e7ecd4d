"""A ticket's cause as the prompt wants it: from its list, in few words, and swayed by a ticket that gives orders."""

from __future__ import annotations

import re
from dataclasses import replace

from lib.simulated.mind import reading
from lib.simulated.mind.labelling import Label, label, label_from, shortened
from lib.simulated.mind.text import pick

_GRAVE = re.compile(
    r"\b(urgent\w*|asap|immediately|nobody can|everyone|whole (office|team|street|company)|all (our|my|of)|completely|"
    r"down|lost|allergic|safety|audit|legal|hacked|dringend|sofort|urgente|stopped|standstill|cannot work)\b", re.I)
_SLIGHT = re.compile(r"\b(wish|feature request|nice if|would be great|not urgent|no rush|question|wondering|"
                     r"small thing|minor|suggestion|keine eile|frage)\b", re.I)


def judge(system: str, subject: str, body: str, tagged: bool) -> Label:
    """The label that a prompt gets for a ticket."""
    allowed = reading.allowed_causes(system)
    found = label_from(allowed, subject, body) if allowed else shortened(label(subject, body),
                                                                         reading.words_allowed(system))
    ordered, guards = reading.takeover(system, tagged, f"{subject}\n{body}")
    if ordered and (guards == 0 or guards == 1 and pick(("obey", "label"), subject + body) == "obey"):
        return replace(found, cause=ordered)
    return found


def severity(subject: str, body: str) -> str:
    """low, medium or high, by a few words."""
    text = f"{subject}\n{body}"
    grave, slight = len(_GRAVE.findall(text)), len(_SLIGHT.findall(text))
    return "low" if slight > grave else "high" if grave > 1 else "medium"
