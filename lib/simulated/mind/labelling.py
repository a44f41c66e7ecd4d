"""Which root cause a ticket is about, and the words that show so: a lexicon first, else the ticket's own words."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from lib.simulated.mind.lexicon import CONCEPTS
from lib.simulated.mind.text import Sentence, pick, sentences, words

_ENOUGH = 2.4               # score below which no concept of the lexicon is believed
_FITS = 0.25                # fit below which an allowed cause is not believed
_QUOTE_LIMIT = 140          # characters of evidence


@dataclass(frozen=True)
class Label:
    cause: str
    evidence: str           # an exact piece of the ticket; "" only for a ticket without words
    concept: str            # the lexicon's concept, "" where the cause is in the ticket's own words


@lru_cache(maxsize=8_192)
def label(subject: str, body: str) -> Label:
    """The main root cause of a ticket. The same text always gets the same label."""
    told = sentences(subject, body)
    totals, best = _scores(told)
    if not totals or max(totals.values()) < _ENOUGH:
        return _own_words(told)
    concept = max(totals, key=lambda c: (totals[c], -c))
    cause = pick(CONCEPTS[concept].names, subject + body)
    shown = told[best[concept]]
    return Label(cause, _quote(shown if shown.in_body else _main(told)), CONCEPTS[concept].name)


def label_from(allowed: Sequence[str], subject: str, body: str) -> Label:
    """The cause of `allowed` that fits the ticket best; one called "other" or the like where none fits."""
    told = sentences(subject, body)
    totals, _ = _scores(told)
    free = label(subject, body)
    spoken = frozenset(stem(w) for s in told if s.weight > 0.25 for w in s.words)
    fits = {cause: _fit(cause, free.concept, totals, spoken) for cause in allowed}
    chosen = max(allowed, key=lambda cause: fits[cause])
    if fits[chosen] < _FITS:
        chosen = next((c for c in allowed if re.search(r"\b(other|else|none|unclear|misc)", c, re.I)), chosen)
    return Label(chosen, free.evidence, free.concept)


def concept_of(name: str) -> str:
    """The lexicon's concept that a cause's name stands for, "" for none."""
    known = _names().get(" ".join(words(name)))
    if known is not None:
        return known
    totals, _ = _scores([Sentence(name, words(name), 1.0)])
    sure = totals and max(totals.values()) >= _ENOUGH
    return CONCEPTS[max(totals, key=lambda c: (totals[c], -c))].name if sure else ""


def speaks_of(cause: str, text: str) -> float:
    """How much a text has to say about a cause of the lexicon, 0 for nothing or for a cause in other words."""
    about = concept_of(cause)
    totals, _ = _scores(sentences("", text))
    return next((score for c, score in totals.items() if CONCEPTS[c].name == about), 0.0)


def stem(word: str) -> str:
    """A word without its commonest English endings, so that charged, charges and charge meet."""
    for ending in ("ations", "ation", "ings", "ing", "ies", "ed", "es", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def _fit(cause: str, main: str, totals: Mapping[int, float], spoken: frozenset[str]) -> float:
    """How well an allowed cause fits: the same concept best, then its names, its area, the ticket's own words."""
    own = {stem(w) for w in words(cause) if w not in _STOP}
    concept = next((c for c in CONCEPTS if c.name == main), None)
    about = concept_of(cause)
    scores = {CONCEPTS[c].name: score for c, score in totals.items()}
    same = scores.get(about, 0.0) / max(scores.values(), default=1)
    named = own & _stems(" ".join(concept.names)) if concept else ()
    near = own & _stems(concept.area) if concept else ()
    return 2 * same + (len(named) + 0.8 * len(near) + 0.5 * len(own & spoken)) / max(1, len(own))


@lru_cache(maxsize=256)
def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(w) for w in words(text))


@lru_cache(maxsize=1)
def _names() -> dict[str, str]:
    return {" ".join(words(name)): c.name for c in CONCEPTS for name in c.names}


# --- the lexicon against a ticket ------------------------------------------------------------------------------------


class _Index:
    """Every term of the lexicon by its text, so that a sentence is matched in one pass over its words."""

    def __init__(self) -> None:
        self.exact: dict[str, list[tuple[int, int]]] = defaultdict(list)    # term -> (cue, the term's bit in it)
        self.prefix: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self.cues: list[tuple[int, float, int]] = []                        # concept, weight, all bits
        self.phrase_starts: set[str] = set()
        for concept, weight, terms in ((i, w, t) for i, c in enumerate(CONCEPTS) for w, t in c.cues):
            for place, alternatives in enumerate(terms):
                for term in alternatives:
                    self._add(term, (len(self.cues), 1 << place))
            self.cues.append((concept, weight, (1 << len(terms)) - 1))
        self.lengths = sorted({len(p) for p in self.prefix})

    def _add(self, term: str, where: tuple[int, int]) -> None:
        if "_" in term.strip("_"):
            self.phrase_starts.add(term.split("_")[0])
        (self.prefix[term[:-1]] if term.endswith("*") else self.exact[term]).append(where)

    def terms(self, spoken: Sequence[str]) -> dict[int, int]:
        """Cue -> bits of those of its terms that are among the words."""
        met: dict[int, int] = defaultdict(int)
        for token in self._tokens(spoken):
            for cue, bit in _places(token):
                met[cue] |= bit
        return met

    def places(self, token: str) -> tuple[tuple[int, int], ...]:
        """(cue, bit) of every term that the token fits."""
        prefixes = (token[:length] for length in self.lengths if length <= len(token))
        return (*self.exact.get(token, ()), *(where for p in prefixes for where in self.prefix.get(p, ())))

    def _tokens(self, spoken: Sequence[str]) -> set[str]:
        tokens = set(spoken)
        for i, word in enumerate(spoken):
            if word in self.phrase_starts:
                tokens.update("_".join(spoken[i:i + n]) for n in (2, 3, 4))
        return tokens


@lru_cache(maxsize=1)
def _index() -> _Index:
    return _Index()


@lru_cache(maxsize=32_768)
def _places(token: str) -> tuple[tuple[int, int], ...]:
    return _index().places(token)


def _scores(told: Sequence[Sentence]) -> tuple[dict[int, float], dict[int, int]]:
    """Concept -> its score, and concept -> the sentence that speaks for it most.

    A cue counts once, where it weighs most: in one sentence, or for less when its terms spread over two in a row.
    """
    index = _index()
    met = [index.terms(sentence.words) for sentence in told]
    best: dict[int, float] = {}
    spoken: dict[tuple[int, int], float] = defaultdict(float)
    for i, sentence in enumerate(told):
        after = met[i + 1] if i + 1 < len(met) else {}
        for cue, bits in met[i].items():
            concept, weight, whole = index.cues[cue]
            if bits == whole:
                score = weight * sentence.weight
            elif bits | after.get(cue, 0) == whole:
                score = weight * 0.5 * min(sentence.weight, told[i + 1].weight)
            else:
                continue
            best[cue] = max(best.get(cue, 0.0), score)
            spoken[concept, i] += score if sentence.in_body else score / 100    # quotes are taken from the body
    totals: dict[int, float] = defaultdict(float)
    for cue, score in best.items():
        totals[index.cues[cue][0]] += score
    return dict(totals), _loudest(spoken)


def _loudest(spoken: Mapping[tuple[int, int], float]) -> dict[int, int]:
    places: dict[int, int] = {}
    for (concept, i), score in spoken.items():
        if concept not in places or score > spoken[concept, places[concept]]:
            places[concept] = i
    return places


def _quote(sentence: Sentence) -> str:
    """The sentence, or its beginning up to a word's end."""
    text = sentence.text.strip()
    if len(text) <= _QUOTE_LIMIT:
        return text
    return text[:_QUOTE_LIMIT].rsplit(None, 1)[0]


# --- the ticket's own words ------------------------------------------------------------------------------------------

_STOP = frozenset(words("""
    sehr geehrte geehrter damen herren hallo guten tag hola buenos dias buenas bonjour bom dia a an and any are
    as at be been being but by can could did do does doing done for from get gets getting got had has have
    having he hello help her hey hi him his how i i'd i'll i'm i've if in into is it it's its just keep keeps
    kind let like made make makes making many may me might more most much my need needs no not now of off on
    once one only or our out over own please really same she should since so some still such than thank thanks
    that that's the their them then there these they this those through to too try trying tried two under until
    up us use used using very want was we we're we've were what when where which while who why will with would
    yet you your yours dear team regards today yesterday tomorrow week weeks day days month year again also
    after before because about all every each even ever both few first last next new old other another well way
    thing things lot bit quite rather almost already always never maybe perhaps sure hope problem problems issue
    issues question support ticket customer something anything everything nothing since during back went goes
    going gone came come comes says said tell told happened happens happen am pm der die das und ist nicht ein
    eine ich wir mit auf zu im in es den dem von fur sie bei el la los las un una y de que en no con por para mi
    se lo al es nos le les des du et est pas je nous vous une sur dans o os as um uma e do da em com nao meu
    minha
"""))
_FAULTS = {
    "broken": "brok* break* kaputt* defekt* defect* cass* quebrad*", "snapped": "snap*", "cracked": "crack* riss*",
    "leaking": "leak* undicht*", "stuck": "stuck jam* klemm* atascad*", "missing": "missing fehlt* falta* lost",
    "late": "late delayed delay* overdue", "wrong": "wrong* incorrect* falsch* equivocad* errad*",
    "failure": "fail* error* fehler*", "crash": "crash*", "frozen": "freez* froz*", "slow": "slow* langsam*",
    "stopped": "stop*", "refused": "refus* reject* denied declin*",
    "torn": "torn tear* rip* ripped", "bent": "bent bend*",
    "loose": "loose wobbl*", "noisy": "nois* squeak* creak* rattl* hum* buzz*", "smell": "smell* stink*",
    "faded": "fade* discolo*", "rusty": "rust* corro*", "mouldy": "mould* mold*", "too hot": "hot overheat*",
    "melted": "melt*", "allergic reaction": "itch* rash allerg*", "empty": "empty blank", "peeling": "peel* flak*",
}
_NOT = frozenset("won't doesn't don't can't cannot isn't didn't couldn't never refuses nicht not".split())
_NO = frozenset("no kein keine keinen".split())
_BEING = frozenset("is are was were be ist sind".split())


def _own_words(told: Sequence[Sentence]) -> Label:
    """A label from the noun beside the first word of failure; else from the subject's main words."""
    weights = Counter()
    for sentence in told:
        emphasis = sentence.weight * (1 if sentence.in_body else 2)
        weights.update({w: emphasis for w in sentence.words if _tells(w)})
    candidates = [(s.weight * (1.0 if s.in_body else 0.8), -i, found, s) for i, s in enumerate(told)
                  if (found := _fault_phrase(s.words, weights).strip())]
    if candidates:
        _, _, phrase, sentence = max(candidates, key=lambda c: c[:2])
        return Label(phrase, _quote(sentence if sentence.in_body else _main(told)), "")
    if not weights:
        return Label("no problem described", _quote(told[0]) if told else "", "")
    order = [w for s in told for w in s.words]
    ranked = sorted([w for w, _ in weights.most_common(3)], key=order.index)
    return Label(" ".join([*_unlike(ranked, "")[:2], "request"]), _quote(_main(told)), "")


def _main(told: Sequence[Sentence]) -> Sentence:
    """The weightiest sentence of the body, the subject where there is no body."""
    return max(told, key=lambda s: (s.in_body, s.weight * min(1.0, len(s.words) / 6)))


def _tells(word: str) -> bool:
    return len(word) > 2 and word not in _STOP and word[0].isalpha()


def _fault_phrase(spoken: Sequence[str], weights: Counter) -> str:
    for i, word in enumerate(spoken):
        fault = _fault(word)
        if fault:
            return f"{_thing(spoken, i, weights)} {fault}"
    for i, (word, after) in enumerate(pairwise(spoken)):
        if word in _NOT | _NO and _tells(after):
            return f"{_thing(spoken[:i + 1], i, weights, after)} {_lacking(spoken[i - 1] if i else '', word, after)}"
    return ""


def _lacking(before: str, word: str, after: str) -> str:
    """no spark, not readable, not closing: "no" takes a noun, "is not" an adjective, all others a verb."""
    if word in _NO:
        return f"no {after}"
    described = before in _BEING or word == "isn't"
    return f"not {after if described else _gerund(after)}"


@lru_cache(maxsize=8_192)
def _fault(word: str) -> str:
    for name, patterns in _FAULTS.items():
        for pattern in patterns.split():
            open_end = pattern.endswith("*") and len(word) < len(pattern) + 4
            if word == pattern or (open_end and word.startswith(pattern[:-1])):
                return name
    return ""


def _thing(spoken: Sequence[str], i: int, weights: Counter, besides: str = "") -> str:
    """One or two words that say what is at fault: close before word `i`, else close after it, else the main topic."""
    before = _unlike([w for w in spoken[max(0, i - 6):i] if _tells(w) and not _fault(w)], besides)
    after = _unlike([w for w in spoken[i + 1:i + 4] if _tells(w) and not _fault(w)], besides)
    near = before[-3:] or after[:2] or [w for w, _ in weights.most_common(3) if not _fault(w) and w not in spoken][:1]
    chosen = sorted(near, key=lambda w: -weights[w])[:2]
    return " ".join(w for w in near if w in chosen)


def _unlike(found: Sequence[str], besides: str) -> list[str]:
    """The words without repetitions of one stem, shortened to what a label can hold."""
    first = {stem(w): w[:24] for w in reversed(found)}
    return [w for w in dict.fromkeys(w[:24] for w in found) if first.get(stem(w)) == w and stem(w) != stem(besides)]


def _gerund(verb: str) -> str:
    if verb.endswith("ing"):
        return verb
    if re.fullmatch(r"[a-z]*[^aeiou][aeiou][bdgmnpt]", verb) and len(verb) < 5:
        return f"{verb}{verb[-1]}ing"
    return f"{verb.removesuffix('e') if not verb.endswith('ee') else verb}ing"
