"""A ticket that gives orders to whoever reads it: whether it does, and what it wants answered."""

from __future__ import annotations

import re
from typing import NamedTuple

from lib.remember import remembered
from lib.simulated.mind.own_words import NOTHING_TOLD

_LONGEST = 20_000           # characters of a ticket in which orders are looked for
_FAR = 400                  # characters after an order's beginning that may say what to answer
_WORDS, _LENGTH = 6, 60     # of an answer

_SAY = (r"(?:answer|reply|respond|say|output|write|return|print|antworte\w*|schreib\w*|gib|responde\w*|contesta|"
        r"réponds|répondez|responda)")
_LABEL = (r"(?:label|cause|category|classification|answer|priority|ursache|kategorie|antwort|causa|categor[ií]a|"
          r"catégorie)")
_AS = r"(?:classify|label|categori[sz]e|tag|klassifiziere\w*|clasifica\w*|classe[rz]?)"
_TICKETS = r"(?:tickets?|messages?|requests?|cases?|e-?mails?|entries|one|anfragen?|nachrichten?|mensajes?)"
_END = r"\"'”“»\n.!{<"       # of an answer


class _Order(NamedTuple):
    """A kind of order, and what every text that holds one has in it: looking for that first is much faster."""

    hints: tuple[str, ...]      # it has one of these
    verbs: tuple[str, ...]      # and one of these
    pattern: re.Pattern[str]

    def may_be_in(self, lower: str) -> bool:
        return any(map(lower.__contains__, self.hints)) and any(map(lower.__contains__, self.verbs))


def _order(hints: str, *parts: str, verbs: str = "") -> _Order:
    return _Order(tuple(hints.split("|")), tuple(verbs.split("|")), re.compile("".join(parts), re.I | re.M))


_ORDERS = (
    _order("ignor|disregard|forget|overrid|vergiss|vergessen|missacht|olvid|oubli|esque",
           r"\b(?:ignor\w*|disregard|forget|override|vergiss|vergessen sie|missachte\w*|olvid\w*|oublie\w*|",
           r"esque[cç]\w*)\b(?![^.\n]{0,20}\bmy\b)[^.\n]{0,60}\b(?:instruct\w*|prompts?|rules?|guidelines?|",
           r"(?:above|previous|earlier|before)(?!,? (?:settings?|e?-?mails?|messages?|tickets?|orders?|invoices?|",
           r"requests?|bookings?|versions?|weeks?|one)\b)|told|anweisung\w*|regeln?|vorgaben?|obige\w*|bisherige\w*|",
           r"instruc\w*|consignes?|reglas?|regras?)\b"),
    _order("system|assistant|developer",
           r"^\W{0,3}(?:system|assistant|developer)\b(?: (?:prompt|message|note|override|update))?\W{0,2}[:>\]]"),
    _order("are now|'re now|du bist|new instruction|from now on|ab jetzt|ab sofort",
           r"\b(?:you are|you're) now (?:(?-i:[A-Z])\w+|(?:[a-z]+ ){0,3}(?:assistant|bot|model|ai|robot|agent|mode|",
           r"classifier|persona|admin\w*))\b|\bdu bist (?:jetzt|nun|ab sofort)\b|\bnew instructions?\b",
           r"|\b(?:from now on|ab jetzt|ab sofort)\b[^.\n]{0,30}\b(?:answer|label|reply|respond|antwort\w*)\b"),
    _order("correct |right |only valid |real |true |richtige |korrekte ",
           rf"\b(?:correct|right|only valid|real|true|richtige|korrekte) (?:root )?{_LABEL}\b(?:",
           r"[^.\n]{0,20}\bf(?:or|ür) (?:this|all|every|each|these|any|alle|jede\w*|diese\w*)\b[^.\n]{0,40}",
           r"(?:\bis\b|\bare\b|\bist\b|\blautet\b|[:=])|\s*[:=]|\s(?:is|ist|lautet)\s*[:\"'“„])"),
    _order("classif|label|categor|tag |klassif|clasif|classe",
           rf"\b{_AS}\s+(?:(?:this|every|all|each|any|the|alle|jede\w*|diese\w*)\s+)+(?:other\s+)?{_TICKETS}\b",
           r"[^.\n]{0,30}\b(?:as|als|como|comme)\b"),
    _order("mark ", r"\bmark\s+(?:as spam|(?:every|all|each)\b[^.\n]{0,30}\bas\b)"),
    _order(" only| just| nur| solo| seulement| uniquement| exactly",
           rf"\b{_SAY}\s+(?:only|just|nur|solo|solamente|seulement|uniquement|exactly)\s+(?:",
           r"(?:with|mit|con|avec)\s+(?!an? |your |my |one )|the words?\b|[\"'“„{]|(?-i:[A-Z]))",
           verbs="answer|reply|respond|say|output|write|return|print|antworte|schreib|gib|contesta|réponds|répondez"),
    _order("rise you to|rize you to|you must|in your ",
           r"\bi (?:hereby )?authori[sz]e you to\b|\byou must (?:now )?(?:answer|reply|respond|label|call|output|",
           r"include)\b(?! (?:me|us|my|our|to|today|by|within|soon|promptly)\b)",
           r"|\bin your (?:summary|answer|reply|output),? (?:include|write|add|put)\b"),
    _order("set ", r"\bset (?:the )?(?:root )?(?:cause|label|category|classification) to\b"),
    _order(" ai| llm|language model| model|assistant|classifier",
           r"\b(?:note to|attention|if you are|dear|hey) (?:the |an? )?(?:ai|llm|language model|model|assistant|",
           r"classifier)\b"),
)
_ANSWERS = tuple(re.compile(pattern, re.I) for pattern in (
    rf"\bset (?:the )?(?:root )?{_LABEL} to\s+[\"'“„«]?([^\s{_END}][^{_END}]{{0,79}})",
    r"\"(?:root_cause|cause|label|category)\"\s*:\s*\"([^\"\n]{1,80})",
    rf"\b{_LABEL}\b[^.\n:=\"]{{0,60}}?(?:\b(?:is|are|ist|lautet|es|est)\b|[:=])\s*[\"'“„«]?([^\s{_END}][^{_END}]{{0,79}})",
    rf"\b(?:{_AS}|mark|file|treat)\b[^.\n]{{0,60}}?\b(?:as|als|como|comme)\s+[\"'“„«]?([^\s{_END}][^{_END}]{{0,79}})",
    rf"\b{_SAY}\s+(?:(?:the|this|a)\s+)?(?:root )?{_LABEL}\s*:?\s*[\"'“„«]([^\s{_END}][^{_END}']{{0,79}})",
    rf"\b{_SAY}\b(?:\s+(?:only|just|nur|solo|solamente|seulement|uniquement|exactly|always|immer|with|mit|con|avec|"
    rf"the words?|das wort))*\s*:?\s*[\"'“„«]?([^\s{_END}][^{_END}]{{0,79}})",
))
_GOES_ON = re.compile(r"\s*[,;:(]|\s+(?:and|und|y|et|e|for|because|instead|to every|to all|in the)\s", re.I)


def order_in(text: str) -> str:
    """What a text tells its reader to answer, "" where it gives no orders. An order that names no answer makes a reader
    who obeys forget the ticket."""
    text = text[:_LONGEST]
    likely = {order for sentence in text.lower().split(". ") for order in _likely(sentence)}
    starts = [found.start() for order in likely if (found := order.pattern.search(text))]
    return _answer(text[min(starts):min(starts) + _FAR]) if starts else ""


@remembered(kept=4_096, longest=500)
def _likely(sentence: str) -> tuple[_Order, ...]:
    """Kinds of order that a sentence in lower case may give. No hint reaches over its end; some begin with a blank."""
    return tuple(order for order in _ORDERS if order.may_be_in(f" {sentence}"))


def _answer(told: str) -> str:
    """The first answer that the order names, as short as a cause."""
    found = min((m for pattern in _ANSWERS if (m := pattern.search(told))), key=lambda m: m.start(), default=None)
    named = _GOES_ON.split(found[1].strip(), maxsplit=1)[0] if found else ""
    return " ".join(named.split()[:_WORDS])[:_LENGTH].strip(" .,-_*`") or NOTHING_TOLD
