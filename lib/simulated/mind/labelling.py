"""Which root cause a ticket is about, and the words that show so: a lexicon first, else the ticket's own words."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import pairwise
from typing import NamedTuple

from lib.remember import remembered
from lib.simulated.mind.lexicon import CONCEPTS
from lib.simulated.mind.own_words import VAGUE, fault_of, own_words
from lib.simulated.mind.text import Sentence, pick, sentences, words

_ENOUGH = 2.4               # score below which no concept of the lexicon is believed
_HINT = 1.9                 # score from which one is believed where the ticket's own words name no fault either
_SURE = 4.2                 # score from which one is believed also where it shares all words met with many others
_SHARED_BY = 3              # concepts that a word of a concept's own has at most
_CLOSE = 0.5                # of the best score: from there on the second best is a reading as well
_FITS = 0.3                 # fit below which an allowed cause is not believed
_SHORT = 4                  # words of an allowed cause that is a name, rather than a name with an explanation
_KIN = 0.5                  # from there on a word of an allowed cause points to a concept: few others have it
_QUOTE_LIMIT = 140          # characters of evidence
_REST = re.compile(r"\b(other|else|none|unclear|misc|rest\b|sonst|ander|autre|otr[oa]s?|outr[oa]s?)", re.I)
_SMALL = frozenset("a an and at by for from in is not of on or problem problems issue issues the to with".split())


_NAMELESS = frozenset(("error", "failur", "fail", "wrong", "not", "cannot", "get"))     # stems that tell no fault apart


@dataclass(frozen=True)
class Label:
    cause: str
    evidence: str           # an exact piece of the ticket; "" only for a ticket without words
    concept: str            # the lexicon's concept, "" where the cause is in the ticket's own words
    confidence: float = 0.8


@dataclass(frozen=True)
class Readings:
    """How a ticket can be read."""

    likeliest: Label
    rival: Label | None     # another cause that nearly as much speaks for
    closeness: float        # of the two: 0 where there is no rival, 1 where nothing tells them apart


def label(subject: str, body: str) -> Label:
    """The main root cause of a ticket. The same text always gets the same label."""
    return readings(subject, body).likeliest


@lru_cache(maxsize=8_192)
def readings(subject: str, body: str) -> Readings:
    told = sentences(subject, body)
    totals, best = _scores(told)
    ranked = sorted(totals, key=lambda c: (-totals[c], c))[:2]
    while ranked and _ENOUGH <= totals[ranked[0]] < _SURE and not _has_a_word_of_its_own(told, ranked[0]):
        del ranked[0]
    if not ranked or totals[ranked[0]] < _ENOUGH:
        own = _own_words(told)
        if not ranked or totals[ranked[0]] < _HINT or not own.cause.startswith(VAGUE):
            return Readings(own, None, 0.0)
    likeliest, *rivals = (partial(_of_concept, c, told, best[c], subject + body) for c in ranked)
    closeness = totals[ranked[1]] / totals[ranked[0]] if rivals else 0.0
    if closeness < _CLOSE:
        return Readings(likeliest(), None, 0.0)
    return Readings(replace(likeliest(), confidence=round(0.8 - 0.4 * closeness, 2)), rivals[0](), closeness)


def _has_a_word_of_its_own(told: Sequence[Sentence], concept: int) -> bool:
    """Whether the cues met say anything that few other concepts' cues hold: "card" and "rejects" alone do not tell."""
    index = _index()
    met = [_met(sentence.words) for sentence in told]
    for i, sentence in enumerate(told):
        cues = {cue for cue, _ in _spoken(met[i], met[i + 1] if i + 1 < len(told) else _NOTHING_MET)
                if index.cues[cue][0] == concept}
        after = told[i + 1].words if i + 1 < len(told) else ()
        for token in index.tokens((*sentence.words, *after)) if cues else ():
            held = _places(token)
            if any(cue in cues for cue, _ in held) and len({index.cues[cue][0] for cue, _ in held}) <= _SHARED_BY:
                return True
    return False


def _of_concept(concept: int, told: Sequence[Sentence], loudest: int, seed: str) -> Label:
    shown = told[loudest]
    quote = _quote(shown if shown.in_body else _main(told))
    return Label(pick(CONCEPTS[concept].names, seed), quote, CONCEPTS[concept].name)


def shortened(found: Label, limit: int) -> Label:
    """The label with at most `limit` words in its cause: another name of its concept, else its first telling words."""
    if not limit or len(found.cause.split()) <= limit:
        return found
    names, area = next(((c.names, c.area) for c in CONCEPTS if c.name == found.concept), ((found.cause,), ""))
    fitting = next((name for name in names if len(name.split()) <= limit), "")
    telling = [w for w in min(names, key=lambda name: len(name.split())).split() if w not in _SMALL]
    if limit == 1:
        telling.sort(key=lambda word: _stems(area).isdisjoint(_stems(word)))
    return replace(found, cause=fitting or " ".join(telling[:limit]))


def label_from(allowed: Mapping[str, str], subject: str, body: str, free: Label | None = None) -> Label:
    """The cause of `allowed`, each with what is said of it, that fits the ticket best; one called "other" or the like
    where none fits. `free` is how the ticket is read where that is not the likeliest way."""
    told = sentences(subject, body)
    totals, _ = _scores(told)
    if free:
        totals = {c: score for c, score in totals.items() if CONCEPTS[c].name == free.concept}
    free = free or label(subject, body)
    spoken = frozenset(stem(w) for s in told if s.weight > 0.25 for w in s.words)
    fits = {cause: _fit(said, free.concept, totals, spoken) for cause, said in allowed.items()}
    chosen = max(allowed, key=lambda cause: fits[cause])
    if fits[chosen] < _FITS:
        chosen = next((c for c in allowed if _REST.search(c)), chosen)
    return replace(free, cause=chosen)


@lru_cache(maxsize=4_096)
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
    """How well an allowed cause fits: the same concept best, then its names, its area, the ticket's own words. Where it
    says how the thing fails ("late delivery"), the ticket or its concept has to say so as well."""
    own = {stem(w) for w in words(cause) if w not in _SMALL}
    concept = next((c for c in CONCEPTS if c.name == main), None)
    about = concept_of(cause)
    scores = {CONCEPTS[c].name: score for c, score in totals.items()}
    same = scores.get(about, 0.0) / max(scores.values(), default=1)
    named = own & _stems(" ".join(concept.names)) if concept else frozenset()
    near = own & _stems(concept.area) if concept else frozenset()
    kin = _kin(cause).get(main, 0.0)
    kin = kin if kin >= _KIN else 0.0
    own_words = (len(named) + 0.5 * len(own & spoken)) / max(1, len(own))
    faults = _told_faults(cause)
    if about != main and faults and faults.isdisjoint(spoken | named):
        return 2 * same if about else 0.0
    return 2 * same + kin + own_words + 0.8 * len(near) / max(1, len(own))


@lru_cache(maxsize=256)
def _told_faults(cause: str) -> frozenset[str]:
    """Stems of the words of an allowed cause that tell how something fails, beside those for the thing."""
    spoken = words(cause)
    if len(spoken) > _SHORT:
        return frozenset()
    told = {w for w in spoken if w in fault_of(cause)[1] or len(spoken) > 1 and re.fullmatch(r"\w{3,}ed", w)}
    return frozenset(stem(w) for w in told) - _NAMELESS


@lru_cache(maxsize=256)
def _kin(cause: str) -> dict[str, float]:
    """Concept -> how much a word of the cause is its own: 1 where no other concept's cues have the word."""
    index, kin = _index(), defaultdict(float)
    for token in index.tokens([w for w in words(cause) if w not in _SMALL or w == "in"]):
        concepts = {CONCEPTS[index.cues[cue][0]].name for cue, _ in _places(token)}
        for concept in concepts:
            kin[concept] = max(kin[concept], 1 / len(concepts))
    return dict(kin)


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
        self.whole = [bits for _, _, bits in self.cues]
        self.lengths = sorted({len(p) for p in self.prefix})

    def _add(self, term: str, where: tuple[int, int]) -> None:
        if "_" in term.strip("_"):
            first, second, *_ = term.rstrip("*").split("_")
            self.phrases[first] = (*{*self.phrases[first], second},)
        (self.prefix[term[:-1]] if term.endswith("*") else self.exact[term]).append(where)

    def met(self, spoken: Sequence[str]) -> _Met:
        bits: dict[int, int] = {}
        for token in self.tokens(spoken):
            for cue, bit in _places(token):
                bits[cue] = bits.get(cue, 0) | bit
        return _Met(bits, tuple(cue for cue, found in bits.items() if found == self.whole[cue]))

    def places(self, token: str) -> tuple[tuple[int, int], ...]:
        """(cue, bit) of every term that the token fits, as it is or after an article: l'application, d'internet."""
        prefixes = (token[:length] for length in self.lengths if length <= len(token))
        bare = self.places(token[2:]) if token[1:2] == "'" and "_" not in token else ()
        return (*self.exact.get(token, ()), *(where for p in prefixes for where in self.prefix.get(p, ())), *bare)

    def tokens(self, spoken: Sequence[str]) -> Iterable[str]:
        """Each once, in an order that is always the same: sums of floats depend on it."""
        tokens = list(spoken)
        if not self.phrases.keys().isdisjoint(spoken):
            for i, (word, after) in enumerate(pairwise(spoken)):
                if word in self.phrases and after.startswith(self.phrases[word]):
                    tokens += ["_".join(spoken[i:i + n]) for n in (2, 3, 4)]
        return dict.fromkeys(tokens)


class _Met(NamedTuple):
    """What words have of the lexicon's cues."""

    bits: Mapping[int, int]     # cue -> bits of those of its terms that are among the words
    whole: tuple[int, ...]      # the cues of which all terms are


_NOTHING_MET = _Met({}, ())


@lru_cache(maxsize=1)
def _index() -> _Index:
    return _Index()


@remembered(kept=4_096, longest=100)
def _met(spoken: tuple[str, ...]) -> _Met:
    return _index().met(spoken)


@lru_cache(maxsize=32_768)
def _places(token: str) -> tuple[tuple[int, int], ...]:
    return _index().places(token)


def _scores(told: Sequence[Sentence]) -> tuple[dict[int, float], dict[int, int]]:
    """Concept -> its score, and concept -> the sentence that speaks for it most.

    A cue counts once, where it weighs most: in one sentence, or for less when its terms spread over two in a row.
    """
    index = _index()
    met = [_met(sentence.words) for sentence in told]
    best: dict[int, float] = {}
    spoken: dict[tuple[int, int], float] = defaultdict(float)
    for i, sentence in enumerate(told):
        for cue, share in _spoken(met[i], met[i + 1] if i + 1 < len(met) else _NOTHING_MET):
            concept, weight, _ = index.cues[cue]
            score = weight * (sentence.weight if share == 1 else share * min(sentence.weight, told[i + 1].weight))
            if score > best.get(cue, -1.0):
                best[cue] = score
            spoken[concept, i] += score if sentence.in_body else score / 100    # quotes are taken from the body
    totals: dict[int, float] = defaultdict(float)
    for cue, score in best.items():
        totals[index.cues[cue][0]] += score
    return dict(totals), _loudest(spoken)


def _spoken(here: _Met, after: _Met) -> Iterator[tuple[int, float]]:
    """(cue, 1) where all of its terms are in a sentence, (cue, 0.5) where the rest of them is in the one after."""
    for cue in here.whole:
        yield cue, 1
    whole = _index().whole
    for cue in here.bits.keys() & after.bits.keys():
        if here.bits[cue] != whole[cue] == here.bits[cue] | after.bits[cue]:
            yield cue, 0.5


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
    return Label(cause, _quote(shown) if shown else "", "", confidence=0.6)


def _main(told: Sequence[Sentence]) -> Sentence:
    """The weightiest sentence of the body, the subject where there is no body."""
    return max(told, key=lambda s: (s.in_body, s.weight * min(1.0, len(s.words) / 6)))
