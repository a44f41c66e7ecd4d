"""What an English text is about, by form alone: its nouns, most of all those that it comes back to."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from lib.remember import remembered
from lib.simulated.mind.text import Sentence, words

_LETTERS = 24               # of a noun that a label keeps
FUNCTION_WORDS = frozenset(words("""
    a about after again all almost already also always am an and any anything are as at be because been before being
    bit both but by can could dear did do does doing done during each ever every everything few first for from get gets
    getting go goes going gone good got had happen happened happens has have having he hello help her hey hi him his
    hope how i i'd i'll i'm i've if in into is isn't it it's its just keep keeps kind know last let like lot made make
    makes making many may maybe me might more most much my need needs never new next no nobody not nothing now of off on
    once one only or other our out over own per perhaps please quite rather really regards said same say says she should
    since so some something still such sure team tell than thank thanks that that's the their them then there these they
    they're thing things this those though through to today together told tomorrow too tried try trying two under until
    up us use used using very want wanted was way we we're we've week weeks day days month months year years well went
    were what when where which while who why will with without would yes yesterday yet you your yours
    issue issues problem problems question questions support ticket customer morning afternoon evening night monday
    tuesday wednesday thursday friday saturday sunday third second twice time times came come comes back another even
    minute minutes hour hours pm stay stays show shows appear appears look looks seem seems remain remains
    mr mrs ms dr sir madam he's she's who's there's here's it'd they'd we'd you'd they've you've she'll he'll they'll
    become becomes give gives take takes took think thinks believe expect find found leave leaves left run
    runs start starts
"""))
# A thing only behind an article, as in "my hold".
_VERBS = frozenset(words("""
    accept accepts add allow allows answer arrive arrives ask asks ate begin began begun belong belongs book bought
    bring brought build buy call calls carry change changes charge check choose chose click clicks close closes
    concentrate contact continue decide deliver drive driven drove eat empties explain fall fallen fell feel felt
    fetch fill fits fine fix fixes follow forget forgot gave given grew grow hang hangs hear heard hold holds include
    includes install keep kept kick kicks knew learn lend lent lie lies listen live lives load lost mean means meant
    meet met move moves notice offer open opens order paid pay pays pick picks prefer press provide pull push put puts
    ran rang reach read reads receive refer reject rejects remember remove repair replace report request reserve
    resolve return returns ring sat save saw scan scans see seen sell send sends sent set sign signs sing sit sits
    sold solve speak spend spent spoke spread stand stands steal stole stood stop stops switch talk talks threw throw
    thrown transfer turn turns type understand wait waits walk wear wears wire wish woke won wonder wore work works
    worn write writes written wrote
"""))
# Tells of a thing, or when, where and how; no thing that goes wrong.
_NEVER = frozenset(words("""
    able ago ahead although anybody anyone anyway apart april around aside asleep august available away bad best
    better between beyond big black blue brown cheap clear common correct december dear different difficult double
    eight either eleven else empty enough entire euro euros everybody everyone everywhere exact except extra far
    february five forward four free front full glad green grey half happy hard here high important impossible inside
    instead january july june kinda large late later least less little long longer loose loud low main march middle
    near neither nice nine none nor normal november october often old onto outside otherwise past piece pieces
    possible previous quick quickly quiet ready real red right seven several shall short similar simple single six
    small somebody someone somewhere soon sorry special straight strange strong sudden ten terrible therefore till
    toward towards twelve twenty unless upon usual valid via weird whatever whenever whereas whether white whole wide
    within worse worst wrong yellow young zero guy guys girl man woman lady people person husband wife son daughter
    mother father mum dad brother sister family friend friends colleague colleagues dollar dollars pound pounds
    percent fact reason matter doubt idea couple dozen due mine three cold warm hot ice number part place side spring
    summer autumn winter christmas weekend weekends season date
"""))
_DETERMINERS = frozenset(words("the my our your this these his her their a an its no any another every each"))
_PLACES = frozenset("at in on by near outside inside through from behind beside under over into onto without".split())
_HARDLY = 0.05              # weight of what is told as an aside or a guess
_IS_VERB = re.compile(r"(?:ed|ly|n't|'\w+)$")


class Topic(NamedTuple):
    name: str                   # one or two words
    score: float                # how much the text is about it


class Mention(NamedTuple):
    at: int                     # place of its last word in the sentence
    name: str                   # one or two words
    determined: bool            # an article or the like stands before it
    placed: bool                # it only tells where: "at the desk"


def topics(told: Sequence[Sentence], is_fault: Callable[[str], object]) -> dict[str, Topic]:
    """What a text is about, by `key`."""
    scores: dict[str, float] = defaultdict(float)
    named: dict[str, Counter[str]] = defaultdict(Counter)
    for sentence in told:
        for mention in mentions(sentence.words, is_fault):
            scores[key(mention.name)] += _counts(sentence, mention)
            named[key(mention.name)][mention.name] += 1
    return {k: Topic(max(named[k], key=lambda name: (named[k][name] + 0.6 * name.count(" "), name)), score)
            for k, score in scores.items()}


@remembered(kept=4_096, longest=100)
def mentions(spoken: tuple[str, ...], is_fault: Callable[[str], object]) -> tuple[Mention, ...]:
    """Everything in a sentence that can be a thing."""
    return tuple(_mentions(spoken, is_fault))


def _mentions(spoken: Sequence[str], is_fault: Callable[[str], object]) -> Iterator[Mention]:
    run: list[str] = []
    for i, word in enumerate((*spoken, "")):
        sure = i > 0 and (spoken[i - 1] in _DETERMINERS or bool(run) and spoken[i - 1].endswith("ing"))
        if _can_be_thing(word, sure) and not is_fault(word):
            run.append(word[:_LETTERS])
            continue
        if run and (len(run) > 1 or not run[0].endswith("ing")):
            yield _mention(spoken, i - 1, i - len(run), run)
        run = []


def key(name: str) -> str:
    """A thing's last word in the singular: "library cards" and "my card" are the same thing."""
    return singular(name.rpartition(" ")[2])


def _mention(spoken: Sequence[str], at: int, start: int, run: Sequence[str]) -> Mention:
    before = start - 1
    while before >= 0 and spoken[before] in _NEVER:
        before -= 1
    determined = before >= 0 and spoken[before] in _DETERMINERS
    before -= determined
    return Mention(at, " ".join(run[-2:]), determined, before >= 0 and spoken[before] in _PLACES)


def _counts(sentence: Sentence, mention: Mention) -> float:
    """How much a mention counts."""
    if not sentence.in_body:
        return 1.1 * sentence.weight
    return max(sentence.weight, _HARDLY) * (1.4 if mention.determined else 1.0) * (0.6 if mention.placed else 1.0)


@lru_cache(maxsize=32_768)
def singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 5:
        return f"{word[:-3]}y"
    return word[:-1] if re.search(r"[^su]s$", word) and len(word) > 3 else word


@lru_cache(maxsize=32_768)
def _can_be_thing(word: str, after_article: bool) -> bool:
    if len(word) < 3 or word in FUNCTION_WORDS or word in _NEVER or not word.isascii() or not word[0].isalpha():
        return False
    return not _IS_VERB.search(word) and (after_article or word not in _VERBS)
