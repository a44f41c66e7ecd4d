"""Which root cause a ticket is about, and the words that show so: a lexicon first, else the ticket's own words."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from lib.simulated.mind.lexicon import CONCEPTS
from lib.simulated.mind.own_words import own_words
from lib.simulated.mind.text import Sentence, pick, sentences, words

_ENOUGH = 2.4               # score below which no concept of the lexicon is believed
_FITS = 0.25                # fit below which an allowed cause is not believed
_QUOTE_LIMIT = 140          # characters of evidence
_SMALL = frozenset("a an and at by for from in is not of on or problem problems issue issues the to with".split())


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


def shortened(found: Label, limit: int) -> Label:
    """The label with at most `limit` words in its cause: another name of its concept, else its first telling words."""
    if not limit or len(found.cause.split()) <= limit:
        return found
    names = next((c.names for c in CONCEPTS if c.name == found.concept), (found.cause,))
    fitting = next((name for name in names if len(name.split()) <= limit), "")
    telling = [w for w in min(names, key=lambda name: len(name.split())).split() if w not in _SMALL]
    return replace(found, cause=fitting or " ".join(telling[:limit]))


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
    own = {stem(w) for w in words(cause) if w not in _SMALL}
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
        self.phrases: dict[str, tuple[str, ...]] = defaultdict(tuple)       # first word -> how second words begin
        for concept, weight, terms in ((i, w, t) for i, c in enumerate(CONCEPTS) for w, t in c.cues):
            for place, alternatives in enumerate(terms):
                for term in alternatives:
                    self._add(term, (len(self.cues), 1 << place))
            self.cues.append((concept, weight, (1 << len(terms)) - 1))
        self.lengths = sorted({len(p) for p in self.prefix})

    def _add(self, term: str, where: tuple[int, int]) -> None:
        if "_" in term.strip("_"):
            first, second, *_ = term.rstrip("*").split("_")
            self.phrases[first] += (second,)
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
        tokens = {*spoken, *(word[2:] for word in spoken if word[1:2] == "'")}      # l'application, d'internet
        for i, (word, after) in enumerate(pairwise(spoken)):
            if word in self.phrases and after.startswith(self.phrases[word]):
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


def _own_words(told: Sequence[Sentence]) -> Label:
    cause, sentence = own_words(told)
    shown = sentence if sentence and sentence.in_body else _main(told) if told else None
    return Label(cause, _quote(shown) if shown else "", "")


def _main(told: Sequence[Sentence]) -> Sentence:
    """The weightiest sentence of the body, the subject where there is no body."""
    return max(told, key=lambda s: (s.in_body, s.weight * min(1.0, len(s.words) / 6)))
