"""Which labels name the same root cause: the same concept of the lexicon, the same fault of much the same thing, or,
where one of them names no fault or another, the same thing as few other labels name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from lib.simulated.mind.labelling import concept_of, stem
from lib.simulated.mind.own_words import fault_of, tells_enough, told_apart
from lib.simulated.mind.text import words

_ENOUGH_SHARED = 0.6        # of the shorter label's telling words
_COMMON, _FEW = 0.4, 2      # a word of more than that share of the labels, and of more than a few, tells nothing
_EMPTY = frozenset(map(stem, (
    "problem issue error failure failed broken not wrong missing unable cannot customer user users after on in of the "
    "a an to for with from by is are and or at new request ticket cause question "
    "about given no bug fault trouble during when").split()))


@dataclass(frozen=True)
class Group:
    cause: str
    labels: tuple[str, ...]
    count: int


def merge(counts: Iterable[tuple[str, int]]) -> list[Group]:
    """Groups that hold every label exactly once, largest first, each named by its most frequent label."""
    given: dict[str, int] = {}
    for label, count in counts:
        given[label] = given.get(label, 0) + count
    known: dict[str, list[str]] = {}
    for label in given:
        known.setdefault(_concept(label), []).append(label)
    in_own_words, others = known.pop("", []), []
    common = _common(in_own_words)
    for label in in_own_words:
        _join(others, label, common)
    return sorted((_group(c, given) for c in (*known.values(), *others)), key=lambda g: -g.count)


def _join(clusters: list[list[str]], label: str, common: frozenset[str]) -> None:
    home = next((c for c in clusters if any(_share_words(label, other) for other in c)), None) or next(
        (c for c in clusters if any(_share_a_rare_thing(label, other, common) for other in c)), None)
    if home is None:
        clusters.append([label])
    else:
        home.append(label)


def _share_words(one: str, other: str) -> bool:
    """Whether both say the same is wrong with mostly the same thing."""
    (mine, my_fault), (theirs, their_fault) = _stems(one), _stems(other)
    if not mine or not theirs or my_fault != their_fault:
        return False
    return len(mine & theirs) / min(len(mine), len(theirs)) >= _ENOUGH_SHARED


def _share_a_rare_thing(one: str, other: str, common: frozenset[str]) -> bool:
    """Whether both name mostly the same thing, of which few labels speak, and nothing keeps their faults apart; or the
    same event, of which few speak."""
    (mine, my_fault), (theirs, their_fault) = _stems(one), _stems(other)
    shared = mine & theirs
    if my_fault == their_fault and tells_enough(my_fault) and my_fault not in common:
        return True
    if not shared - common or told_apart(my_fault, their_fault):
        return False
    return len(shared) / min(len(mine), len(theirs)) >= _ENOUGH_SHARED


def _common(labels: Sequence[str]) -> frozenset[str]:
    """Words for a thing, and faults, that too many of the labels name to tell their causes apart."""
    held = Counter(word for label in labels for word in (*_stems(label)[0], _stems(label)[1]))
    return frozenset(word for word, n in held.items() if n > max(_FEW, _COMMON * len(labels)))


def names_by_label(groups: Sequence[Group]) -> Mapping[str, str]:
    return {label: group.cause for group in groups for label in group.labels}


def _group(labels: Sequence[str], counts: Mapping[str, int]) -> Group:
    plainest = max(labels, key=lambda label: (counts[label], -len(label)))
    return Group(" ".join(plainest.lower().split()), tuple(labels), sum(counts[label] for label in labels))


@lru_cache(maxsize=4_096)
def _concept(label: str) -> str:
    return concept_of(label)


@lru_cache(maxsize=4_096)
def _stems(label: str) -> tuple[frozenset[str], str]:
    """Stems of the words for the thing, and what is wrong with it."""
    fault, said = fault_of(label)
    return frozenset(stem(w) for w in words(label) if w not in said) - _EMPTY, fault
