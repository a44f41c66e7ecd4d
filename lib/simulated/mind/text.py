"""A ticket's text as sentences with weights: what the customer reports counts; guesses, asides, old mail hardly do."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from itertools import combinations, pairwise
from typing import NamedTuple

from lib.remember import remembered

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_BARE_WORD = re.compile(r"[^\W_]+")     # twice as fast where no apostrophe is
_READ = 20_000              # characters of a body that are read; no run of white space or digits may take for ever
_TOLD_BY = 200              # characters of a line that tell what part of a mail it is
_PARAGRAPH_END = re.compile(r"\n\s{0,40}\n")
_CLAUSE_END = re.compile(r"(?<=,)\s+(?=\S+\s+\S+\s+\S+)")
_SENTENCE_END = re.compile(             # begins with a set of characters, so that most places are passed over at once
    r"[.!?;…。！？,\s](?:(?<=[.!?;…])(?<!\b[MD]r\.)(?<!\bMrs\.)(?<!\bM[sx]\.)(?<!\bSt\.)\s+|(?<=[。！？])"
    r"|(?<=,)(?:\n|\s{1,4}(?:but|pero|aber|mais|mas)\s+)|(?<=\s)\s{0,3}(?:but|pero|aber|mais|mas)\s+"
    r"|(?<=\n)(?=\s{0,20}(?:[-*•>\[]|\d{1,3}[.)])))")


@dataclass(frozen=True)
class _Manner:
    """A way of telling: the pattern that shows it, by the words of which every text that shows it so holds one."""

    patterns: Mapping[str, re.Pattern[str]]

    def of(self, lower: str, signs: frozenset[str]) -> bool:
        """Looking at the words first spares most searches, and these run on every sentence."""
        return bool(signs) and any(self.patterns[word].search(lower) for word in self.patterns.keys() & signs)


def _manner(*signs: tuple[str, str]) -> _Manner:
    """Of text in lower case. Each sign is words in plain form and a pattern."""
    by_word: dict[str, list[str]] = {}
    for spoken, pattern in signs:
        for word in spoken.split():
            by_word.setdefault(word, []).append(pattern)
    return _Manner({word: re.compile("|".join(patterns)) for word, patterns in by_word.items()})


def _any(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives), re.I)


_HISTORY = _any(
    r"^\s*-{2,}\s*(original message|forwarded message|ursprüngliche nachricht|mensaje original|message d'origine)",
    r"^\s*(on|am|el|le|em)\b.{5,120}\b(wrote|schrieb|escribió|a écrit|escreveu)\s*:\s*$",
    r"^\s*from:\s.+@")
_SIGNATURE = _any(
    r"^\s*--+\s*$",
    r"^\s*(kind|best|warm|many)?\s*(regards|wishes|thanks)\b.{0,12}$",
    r"^\s*(best\s*[,.!]?|cheers\b.{0,10}|thank(s| you)\b.{0,25}|sincerely\b.{0,10})$",
    r"^\s*sent from my\b",
    r"^\s*((mit )?(freundliche|viele|beste|liebe)\w* gr(ü|ue)(ß|ss)e\b.{0,10}|lg\s*,?)$",
    r"^\s*((un )?(cordial )?saludos?\b.{0,15}|gracias\b.{0,15}|(bien )?cordialement\b.{0,8})$",
    r"^\s*(atenciosamente\b|obrigad[oa]\b.{0,10}$)")
_LOG_LINE = _any(
    r"^\s*\[?(\d{4}-\d\d-\d\d[ T]|\d\d:\d\d:\d\d|(info|warn|warning|error|debug|trace|fatal)\b[\]: ])",
    r"^\s*(at [\w.$]+\(|traceback|(get|post|put|http)[ /]\S*/|\w+error:|[\w.]+exception\b|<\?xml|[{}]\s*$)")
_GUESS = _manner(
    ("maybe may perhaps probably possibly presumably must could might",
     r"\b(may ?be|perhaps|probably|possibly|presumably|must have been|could (it|this|that) be)\b"
     r"|\bmight (it )?(be|have)\b"),
    ("guess assume suspect imagine wonder bet reckon", r"\bi (guess|assume|suspect|imagine|wonder|bet|reckon)\b"),
    ("guessing wondering sure", r"\bi'?m guessing|\bwondering if|\bwas sure it\b"),
    ("guess theory hunch thought concern", r"\bmy (guess|theory|hunch)\b|\bfirst (thought|concern|guess)\b"),
    ("says", r"\bmy (husband|wife|boss|son|daughter|nephew|brother|sister|mum|dad|friend|partner|colleague|accountant) "
             r"says\b"),
    ("think thinks thought reckons figured assumed wondered suspected convinced blame blamed",
     r"\b(think|thinks|thought|reckons|figured|assumed|wondered|suspected|convinced|blamed?)\b"),
    ("vielleicht vermutlich verdacht glaube vermute liegt",
     r"\b(vielleicht|vermutlich|verdacht|ich (glaube|vermute)|liegt es (vielleicht )?an)\b"),
    ("quizas tal creo supongo puede penso", r"\b(quizás|tal vez|creo que|supongo|puede ser|pensó que)\b"),
    ("peut pense crois suppose cru", r"\b(peut-être|je (pense|crois|suppose)|cru qu)"),
    ("talvez acho", r"\b(talvez|acho que)\b"))
_ASIDE = _any(
    r"^\W*(also|p\.?\s?s|btw|by the way|unrelated|separately|side note|oh,? and|oh\b.{0,12}\b(double|other))\b",
    r"^\W*(one more|another|(the )?second) (thing|point|issue)\b|^\W*(smaller|minor)\b|^\W*(and )?(last|finally),",
    r"^\W*(while i('?m| am| have)|on (another|a different) note|before you ask|separate from|not urgent)\b",
    r"^\W*(außerdem|übrigens|nebenbei|además|por cierto|aprovecho|au fait|par ailleurs|aliás|além disso)\b")
_ASIDE_WITHIN = _any(
    r".*?\b(not (so )?urgent|unrelated|lower priority|separate (issue|topic|ticket|matter)|while you'?re at it)\b")
_ASIDE_HINTS = ("urgent", "unrelated", "priority", "separate", "while you")      # each such text holds one
_DENIAL = _manner(
    ("not isn't", r"\b((is|are|was|were|'?s) not|isn'?t) (the|a|an|about|caused|related|due)\b"),
    ("nothing ruled ruling", r"\bnothing to do with\b|\brul(ed|ing) out\b"),
    ("fine ok okay good correct normal",
     r"\b(works?|worked|working|is|are|was|were|looks?|been) (all )?(fine|ok|okay|good|correct|normal)\b"),
    ("not", r"\bnot an? .{0,20}(problem|issue)\b|\bnot (because|blaming)\b"),
    ("no", r"\bno (problem|issue|trouble)s? with\b|\bno es (un|el|la)\b"),
    ("unlike apart other nicht pas", r"\b(unlike|apart from|other than|liegt nicht an|ce n'est pas)\b"))
_PAST = _manner(
    ("last previous", r"\b(last|previous) (year|time)\b"),
    ("ago", r"\b(years?|months?) ago\b"),
    ("past voriges pasado", r"\bin the past\b|\bvoriges jahr\b|\bel año pasado\b"),
    ("fixed resolved solved sorted refunded",
     r"\b(already|was|were|got) (fixed|resolved|solved|sorted|refunded)\b"),
    ("closed", r"\bclosed, thank"),
    ("thank thanks", r"\bthanks? (you )?for the\b"))
_SIGNS = frozenset((*_GUESS.patterns, *_DENIAL.patterns, *_PAST.patterns))

_GUESSED = 0.3
_LOG, _QUOTED, _SIGNED, _OLDER = 0.6, 0.2, 0.1, 0.12       # weights of the parts of a mail beside the report itself


# These begin with a set of characters as well: \d and a look back say "a digit after no such character".
_FIGURE = re.compile(r"\d")
_TIME = re.compile(r"(\d(?<![\d:.,]\d)\d?)(?:[:.h](\d\d)(?![\d:]|[.,]\d)(?:\s?[ap]m)?|\s?([ap]m)\b)", re.I)
_BARE_HOURS = re.compile(
    r"(\d(?<!\w\d)\d?) (?:instead of|becomes|turns into|has become|statt|en vez de|au lieu de|em vez de) (\d{1,2})\b")
_AMOUNT = re.compile(r"[$€£\d](?:(?<=[$€£])\s?\d[\d.,]{0,14}\d|(?<=\d)(?<!\w\d)[\d.,]{0,14}[.,]\d\d\b(?!\s?[ap]m\b))")
_AMOUNTS_KEPT = 20
_SOME_OF = re.compile(r"\b\d[\d,.]{2,14} of \d[\d,.]{2,14}")
_DAY = re.compile(r"\d(?<!\w\d)\d?(?:st|nd|rd|th)\b")
_ROUND = re.compile(r"(?<![\d.,$€£])\d{1,3}[,.]?000(?![\d,.]\d)")
_SAME_NUMBER = re.compile(
    r"(\d(?<![\d.,:/-]\d)\d{1,4})(?![\d:/-]|[.,]\d)\D{1,30}(?<![\d.,:/-])\1(?![\d:/-]|[.,]\d)")


class Sentence(NamedTuple):
    text: str                   # an exact piece of the ticket
    words: tuple[str, ...]      # in plain form, and what its figures show: #hour_apart, #same_amount …
    weight: float               # 1 = reported plainly at the beginning
    in_body: bool = True


def words(text: str) -> tuple[str, ...]:
    """Words in plain form: lower case, no accents, straight apostrophes."""
    text = plain(text)
    return tuple((_WORD if "'" in text else _BARE_WORD).findall(text))


def plain(text: str) -> str:
    text = text.replace("’", "'").casefold()
    if text.isascii():
        return text
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


def sentences(subject: str, body: str) -> list[Sentence]:
    """The subject, then the body's sentences in order, each with its weight."""
    told = list(_told(body[:_READ]))
    found, amounts = [], _amounts(subject)
    before = _Numbers.of(subject)
    for i, (clause, weight) in enumerate(told):
        now = clause.numbers
        spoken = clause.words
        if now.any:
            spoken += _figures(now, before, amounts)
            amounts = (amounts + now.amounts)[-_AMOUNTS_KEPT:]
        found.append(Sentence(clause.text, spoken, weight * (1 - 0.25 * i / len(told))))
        before = now
    if subject.strip():
        found.insert(0, Sentence(subject, words(subject), _weight_of_subject(subject), in_body=False))
    return found


def pick(options: tuple[str, ...], seed: str) -> str:
    """One of the options, always the same for a seed; the first comes up about half the time."""
    number = int(sha256(seed.encode()).hexdigest()[:8], 16) % (2 * len(options) - 1)
    return options[max(0, number - len(options) + 1)]


def _weight_of_subject(subject: str) -> float:
    lower, signs = subject.lower(), _SIGNS.intersection(words(subject))
    return 1.15 * _how_told(lower, signs) * (_GUESSED if _GUESS.of(lower, signs) else 1.0)


@dataclass(frozen=True)
class _Numbers:
    any: bool
    times: tuple[int, ...]      # of day, in minutes
    amounts: tuple[str, ...]    # of money, digits only
    bare_hour_apart: bool       # "8 instead of 9"
    alone: tuple[str, ...]      # what they show whatever else is told

    @staticmethod
    def of(text: str) -> _Numbers:
        if not _FIGURE.search(text):
            return _NO_NUMBERS
        return _Numbers(True, _times(text), _amounts(text), _bare_hour_apart(text), _figures_alone(text))


_NO_NUMBERS = _Numbers(False, (), (), False, ())


def _figures(now: _Numbers, before: _Numbers, earlier: tuple[str, ...]) -> tuple[str, ...]:
    """What the numbers of a sentence show: on their own, against the sentence before, against all earlier amounts."""
    return tuple(name for name, shown in (
        ("#hour_apart", _hour_apart(now.times, before.times) or now.bare_hour_apart),
        ("#same_amount", _repeats(now.amounts, before.amounts)),
        ("#double_amount", _doubles(now.amounts, earlier)),
    ) if shown) + now.alone


def _figures_alone(text: str) -> tuple[str, ...]:
    return tuple(name for name, shown in (
        ("#some_of", " of " in text and bool(_SOME_OF.search(text))),
        ("#day", bool(_DAY.search(text))),
        ("#round", "000" in text and bool(_ROUND.search(text))),
        ("#same_number", bool(_SAME_NUMBER.search(text))),
    ) if shown)


def _hour_apart(times: tuple[int, ...], before: tuple[int, ...]) -> bool:
    if len(times) == 1 and len(before) == 1:
        times = times + before
    return any(abs(a - b) in (60, 660) for a, b in combinations(times[:8], 2))


def _bare_hour_apart(text: str) -> bool:
    return any(abs(int(a) - int(b)) == 1 for a, b in _BARE_HOURS.findall(text))


def _times(text: str) -> tuple[int, ...]:
    """Times of day in minutes. 12-hour and 24-hour clocks are not told apart, only differences matter."""
    found = []
    for hour, minute, half in _TIME.findall(text):
        hours, minutes = int(hour), int(minute or 0)
        if hours < 24 and minutes < 60:
            found.append(hours * 60 + minutes + (720 if half.lower() == "pm" and hours < 12 else 0))
    return tuple(found)


def _amounts(text: str) -> tuple[str, ...]:
    return tuple(re.sub(r"\D", "", amount) for amount in _AMOUNT.findall(text))


def _repeats(amounts: tuple[str, ...], before: tuple[str, ...]) -> bool:
    """The same amount stands twice in a row, as in a list of bookings, not just twice anywhere."""
    if len(amounts) == 1 and len(before) == 1:
        return len(amounts[0]) > 3 and amounts == before
    return any(a == b and len(a) > 3 for a, b in pairwise(amounts))


def _doubles(amounts: tuple[str, ...], earlier: tuple[str, ...]) -> bool:
    return any(int(a) == 2 * int(b) for a in amounts[:8] for b in amounts[:8] + earlier if len(b) > 3)


class _Clause(NamedTuple):
    """A sentence or a part of one, as it is read wherever it stands."""

    text: str
    words: tuple[str, ...]
    shares: tuple[float, ...]   # of the weight of its place, one after the other, by the manner in which it is told
    numbers: _Numbers


def _told(body: str) -> Iterator[tuple[_Clause, float]]:
    """What a body says in order, and how much it weighs."""
    for part, weight in _parts(body):
        for paragraph in _PARAGRAPH_END.split(part):
            aside = False
            for piece in _pieces(paragraph):
                is_aside, clauses = _read(piece)
                aside = aside or is_aside
                for clause in clauses:
                    told = weight * (0.3 if aside else 1.0)
                    for share in clause.shares:
                        told *= share
                    yield clause, told


@remembered(kept=4_096, longest=500)    # one label reads its ticket several times, and tickets share sentences
def _read(piece: str) -> tuple[bool, tuple[_Clause, ...]]:
    """Whether a sentence begins an aside, and its clauses: none where there is no word."""
    return (_is_aside(piece), tuple(_clauses(piece))) if _WORD.search(piece) else (False, ())


def _is_aside(text: str) -> bool:
    if _ASIDE.match(text):
        return True
    lower = text.lower()
    return any(hint in lower for hint in _ASIDE_HINTS) and bool(_ASIDE_WITHIN.match(text))


def _pieces(paragraph: str) -> Iterator[str]:
    """Its sentences, with their closing mark."""
    start = 0
    for end in _SENTENCE_END.finditer(paragraph):
        at = end.start()
        yield paragraph[start:at + (paragraph[at] not in ", \t\n")].strip()
        start = end.end()
    yield paragraph[start:].strip()


def _clauses(text: str) -> Iterator[_Clause]:
    """A sentence whole; one with a guess in it clause by clause, since the rest of it may be a plain report."""
    lower, spoken = text.lower(), words(text)
    signs = _SIGNS.intersection(spoken)
    if not _GUESS.of(lower, signs):
        yield _Clause(text, spoken, (_how_told(lower, signs),), _Numbers.of(text))
        return
    for clause in filter(_WORD.search, _CLAUSE_END.split(text)):
        lower, spoken = clause.lower(), words(clause)
        signs = _SIGNS.intersection(spoken)
        told = _GUESSED if _GUESS.of(lower, signs) else 0.8
        yield _Clause(clause, spoken, (told, _how_told(lower, signs)), _Numbers.of(clause))


def _how_told(lower: str, signs: frozenset[str]) -> float:
    """1 for a plain report, less for a denial or an old story."""
    if _DENIAL.of(lower, signs):
        return 0.15
    return 0.35 if _PAST.of(lower, signs) else 1.0


def _parts(body: str) -> Iterator[tuple[str, float]]:
    """The parts of a mail in order, each with its weight: the report, logs, quoted lines, signature, older mail."""
    weight, lines = 1.0, []
    for line in body.splitlines():
        now = _weight_of_line(line, weight)
        if now != weight and lines:
            yield "\n".join(lines), weight
            lines = []
        weight = now
        lines.append(line)
    yield "\n".join(lines), weight


def _weight_of_line(line: str, before: float) -> float:
    """The weight of the part that a line belongs to, given the part before it; older mail goes on to the end."""
    line = line.strip()[:_TOLD_BY]
    if before == _OLDER or _HISTORY.match(line):
        return _OLDER
    if line.startswith(">"):
        return _QUOTED
    if _LOG_LINE.match(line):
        return _LOG
    if _SIGNATURE.match(line):
        return _SIGNED
    return _SIGNED if before == _SIGNED and not _is_aside(line) else 1.0
