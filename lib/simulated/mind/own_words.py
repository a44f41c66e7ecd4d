"""A cause in the ticket's own words, for topics that the lexicon does not know: the thing at fault and what it does."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from lib.simulated.mind.text import Sentence, plain, sentences, words
from lib.simulated.mind.things import FUNCTION_WORDS as _ENGLISH
from lib.simulated.mind.things import Topic, key, mentions, singular, topics

_WORDS, _LENGTH = 6, 60     # of a cause
NOTHING_TOLD = "no problem described"
UNREADABLE = "ticket in unknown language"
VAGUE = ("problem with", "question about", NOTHING_TOLD)       # how a cause begins that names no fault

_FOREIGN = {                # function words that tell the language and are never a thing
    "de": frozenset(words("""
        der die das den dem des ein eine einen einer eines und oder aber ich wir sie er es mein meine meinem meinen
        meiner unser unsere unserer ihr ihre ihrer ihnen ist sind war wird werden wurde hat habe haben nicht kein keine
        auf aus bei bis bitte danke fur im in mit nach noch nur ob schon sehr seit sich so uber um vom von vor was wann
        warum weil wenn wie wieder wo zu zum zur am an als auch da dass mir mich doch mehr hallo guten tag morgen abend
        frage geehrte geehrter damen herren heute gestern immer einfach kann konnen mochte gruss grusse lg mfg leider
    """)),
    "fr": frozenset(words("""
        le la les un une des du de et ou mais je j'ai nous vous il elle ils mon ma mes notre nos votre vos est sont
        etait a ont avons ne n'ai n'est pas plus sur dans avec pour par depuis que qui quoi quand comment pourquoi ce
        cette ces mme bonjour bonsoir merci au aux en y se si toujours jour jours c'est fait rien encore tres
    """)),
    "es": frozenset(words("""
        el la los las un una unos de del y o pero yo nosotros mi mis nuestro nuestra su sus es son esta estan fue ha he
        hemos han no ni con por para desde que cuando como donde porque este hola buenos buenas dias tardes gracias al
        en se si ya muy me lo le puede puedo hay tengo
    """)),
    "pt": frozenset(words("""
        o a os as um uma de do da dos das e ou mas eu nos meu minha nosso nossa seu sua foi esta estao nao sem com por
        para desde que quando como onde porque este ola bom boa dia tarde obrigado obrigada ao em no na se ja muito me
    """)),
    "it": frozenset(words("""
        il lo la i gli le un una di del della dell e o ma io noi mio mia nostro nostra sono era ha ho abbiamo non con
        per da che quando come dove perche questo questa ciao buongiorno grazie al alla in si gia molto mi
    """)),
}
_DETERMINERS = frozenset(words("the my our your this these his her their a an mein meine meinem meinen der die das dem "
                               "den unser unsere unserer le la les mon ma notre votre un une el los mi nuestro nuestra "
                               "o meu minha nosso nossa il mio mia"))
_SAME_THING = {             # plain word -> what it is called in a label, also across languages
    name: words for name, words in (
        ("lift", "lift lifts elevator aufzug fahrstuhl ascenseur ascensor elevador ascensore"),
        ("heating", "heating heater heaters radiator radiators heizung radiateur chauffage calefaccion aquecimento"),
        ("air conditioning", "aircon klimaanlage climatisation climatiseur climatizacion condicionado"),
        ("door", "door doors tur eingang porte puerta porta entrance"),
        ("gate", "gate gates barrier schranke tor barriere barrera cancela turnstile drehkreuz"),
        ("room", "zimmer chambre habitacion quarto camera"), ("key", "key keys schlussel cle llave chave"),
        ("water", "wasser eau agua"), ("light", "lamp lamps licht lampe lumiere luz"),
        ("bill", "rechnung facture factura fatura"), ("account", "konto kundenkonto compte cuenta conta"),
        ("machine", "maschine automat maquina"), ("phone", "telefon handy telephone telefono movil telefone"),
        ("website", "webseite internetseite"), ("card", "karte carte tarjeta cartao"),
        ("car", "auto wagen voiture coche carro"), ("bike", "fahrrad velo bicicleta"),
        ("bed", "bett lit cama"), ("shower", "showers dusche douche ducha chuveiro"),
        ("lesson", "lessons stunde mathestunde cours clase aula"), ("timetable", "stundenplan"),
        ("seat", "seats sitz sitzplatz siege asiento"), ("ticket", "eintrittskarte fahrkarte billet entrada"),
        ("staff", "personal mitarbeiter personnel"),
        ("wi-fi", "wifi wlan"), ("driver", "fahrer chauffeur conductor motorista"))}
_THINGS = {word: name for name, alike in _SAME_THING.items() for word in alike.split()}

_FAULTS = {                 # what a label calls it -> words (`*`: any ending) and phrases (`_`) for it
    "not working": "doesn't_work don't_work won't_work not_work not_working isn't_working stopped_working out_of_order "
                   "out_of_service does_nothing funktioniert_nicht geht_nicht ne_marche ne_fonctionne no_funciona "
                   "nao_funciona non_funziona dead inoperable",
    "broken": "brok* break breaks breaking kaputt* defekt* defect* cass* quebrad* roto rota averiad*",
    "snapped": "snap snapped snaps", "cracked": "crack* riss*",
    "leaking": "leak* undicht*", "stuck": "stuck jam jammed jams klemm* atascad* steckengeblieben bloque*",
    "closed": "closed shut locked gesperrt verschlossen ferme fermee cerrad* fechad*",
    "missing": "missing fehlt fehlen falta* lost manque*", "late": "late delayed delay* overdue verspat* retard*",
    "wrong": "wrong* incorrect* falsch* equivocad* errad*", "failure": "fail* error* fehler*", "crash": "crash*",
    "frozen": "freez* froz*", "slow": "slow* langsam*", "stopped": "stopped stops stop",
    "refused": "refus* reject* denied declin*", "torn": "torn tear tears rip ripped rips", "bent": "bent bend*",
    "loose": "loose wobbl*", "noisy": "noise noises noisy squeak* creak* rattl* hum* buzz* grind* bruit larm ruido",
    "smell": "smell* stink*", "faded": "fade* discolo*", "rusty": "rust* corro*", "mouldy": "mould* mold*",
    "too hot": "hot overheat*", "too cold": "cold freezing kalt froid froide frio fria",
    "dirty": "dirty filthy schmutzig sucio suja",
    "melted": "melt*", "allergic reaction": "itch* rash allerg*", "empty": "empty blank leer vide",
    "peeling": "peel* flak*", "doubled": "doubled doppelt duplicad*", "greyed out": "grey greyed gray",
}
_EVENTS = {                 # what happened to a thing: what a label calls it -> words and phrases for it
    "given away": "given_away gave_away given_to gave_my gave_our handed lent",
    "cancelled": "cancelled canceled called_off", "kept": "kept_my kept_our ate_my swallow* withheld",
    "taken": "took_my took_our",
    "not received": "never_came never_arrived not_arrived hasn't_arrived didn't_arrive hasn't_come not_come "
                    "haven't_come never_received not_received didn't_receive haven't_received never_got haven't_got "
                    "hasn't_got not_got didn't_come",
}
_USELESS = frozenset(("not working", "broken", "stuck", "closed", "failure", "frozen", "stopped", "refused"))
_LACKING = frozenset(("missing", "not received", "empty"))
_NOT = frozenset("won't doesn't don't isn't aren't didn't wouldn't never refuses not".split())
_SAYINGS = frozenset("matter doubt idea wonder".split())        # no matter, no doubt: nothing is lacking
_CANNOT = frozenset("can't cannot couldn't".split())
_ADVERBS = frozenset("really even properly always any anymore longer yet working work help".split())
_DONE = frozenset("was were been being got gets is are wasn't weren't isn't aren't".split())
_DONE_NOT = frozenset("wasn't weren't isn't aren't".split())
_DUES = frozenset("fee fees fine fines charge charges notice penalty".split())      # where a late one is told of
_SAME_EVENT = frozenset(("given away", "cancelled", "kept"))    # much the same cause whatever it happened to
_OWNERS = frozenset("my our the".split())
_NONE = frozenset("none neither nobody never".split())
_DOING = (("do",), ("does",), ("did",))
_PARTICIPLES = frozenset("paid sent given sold thrown stolen put set cut built drawn written taken kept lent".split())
_FEELINGS = frozenset("interested pleased annoyed disappointed surprised confused worried delighted supposed allowed "
                      "tired excited concerned needed related located based married".split())
_CLOSE = 4                  # words before a fault that tell what is at fault
_MAIN = 1.6                 # times as much told of: what the ticket is about rather than what its sentence is about
_LETTERS = 24               # of a word that a label keeps
_ASKS = re.compile(r"\?|\b(would like to know|question|frage|pregunta|pergunta|want to know|wondering)\b", re.I)
_CAPITALISED = re.compile(r"(?<=[^\W_] )[A-ZÄÖÜ][a-zäöüß]{2,}|(?<=[^\W_], )[A-ZÄÖÜ][a-zäöüß]{2,}"
                          r"|(?<=^Der )\w+|(?<=^Die )\w+|(?<=^Das )\w+")


def own_words(told: Sequence[Sentence]) -> tuple[str, Sentence | None]:
    """The cause, and the sentence that it comes from, where there is one."""
    if not any(s.words for s in told):
        return NOTHING_TOLD, None
    told_best_first = sorted(told, key=lambda s: -s.weight * (1.0 if s.in_body else 0.8))
    language = _language(told)
    if language == "?":
        return UNREADABLE, None
    about = topics(told, _fault_word) if language == "en" else {}
    for sentence in told_best_first:
        found = _complaint(sentence, language, about)
        if found:
            return " ".join(found.split()[:_WORDS])[:_LENGTH].strip(), sentence
    asks = any(_ASKS.search(s.text) for s in told if s.weight > 0.3)
    sentence, thing = _main_thing(told_best_first, language, about)
    return (f"{'question about' if asks else 'problem with'} {thing}", sentence) if thing else (NOTHING_TOLD, None)


def _main_thing(told: Sequence[Sentence], language: str, about: Mapping[str, Topic]) -> tuple[Sentence | None, str]:
    """What the ticket is about most, and the weightiest sentence that speaks of it."""
    if about:
        main = max(about, key=lambda k: about[k].score)
        said = (s for s in told if any(singular(w[:_LETTERS]) == main for w in s.words))
        return next(said, told[0]), _called(about[main].name)
    return next(((s, t) for s in told if (t := _thing(s, len(s.words), language))), (None, ""))


def language_of(subject: str, body: str) -> str:
    """The ISO code of the language that a ticket is mostly in, "unknown" for one that the rules cannot read."""
    language = _language(sentences(subject, body))
    return "unknown" if language == "?" else language


def fault_of(label: str) -> tuple[str, frozenset[str]]:
    """What a label says is wrong ("" where it does not), and the words that say so."""
    spoken = words(label)
    for i in range(len(spoken)):
        found = _fault(spoken, i)
        if found:
            name, length = found
            same = "not working" if name in _USELESS else "missing" if name in _LACKING else name
            return same, frozenset((*spoken[i:i + length], *words(name)))
    for i, word in enumerate(spoken[:-1]):
        if word in ("not", "cannot"):
            return "not working", frozenset(spoken[i:i + 2])
    if len(spoken) > 1 and (spoken[-1].endswith("ed") or spoken[-1] in _PARTICIPLES):
        return spoken[-1], frozenset(spoken[-1:])
    return "", frozenset()


def told_apart(one: str, other: str) -> bool:
    """Whether two faults by `fault_of` are of different kinds, as noisy and torn are; what merely happened to a thing,
    or that something is wrong with it, may be the same thing told in other words."""
    return one != other and one in _FAULTS and other in _FAULTS


def tells_enough(fault: str) -> bool:
    """Whether a fault by `fault_of` tells the cause nearly by itself, where few others speak of it."""
    return fault in _SAME_EVENT


def _language(told: Sequence[Sentence]) -> str:
    """"en", a key of _FOREIGN, or "?" for a script that the rules cannot read."""
    spoken = [w for s in told for w in s.words if s.weight > 0.25]
    if not all(map(str.isascii, spoken)):
        letters = [c for w in spoken for c in w if c.isalpha()]
        if sum(map(_is_latin, letters)) < 0.5 * len(letters):
            return "?"
    counts = {name: sum(map(known.__contains__, spoken)) for name, known in _FOREIGN.items()}
    foreign = max(counts, key=lambda name: counts[name])
    return foreign if counts[foreign] > sum(map(_ENGLISH.__contains__, spoken)) else "en"


def _complaint(sentence: Sentence, language: str, about: Mapping[str, Topic]) -> str:
    """"gate not opening", "cannot book spinning", "hold given away"; "" for a sentence without a failure."""
    spoken = sentence.words
    for i in range(len(spoken)):
        if spoken[i] == "no" and language == "en" and _fault(spoken, i + 1) and (noun := _noun_after(spoken, i + 2, 1)):
            return f"no {spoken[i + 1]} {noun}"
        fault = _fault(spoken, i) or (_happened(spoken, i) if language == "en" else None)
        if not fault:
            continue
        if language != "en":
            if thing := _thing(sentence, i, language):
                return f"{thing} {fault[0]}" if thing in _SAME_THING else f"problem with {thing}"
        elif fault[0] == "late" and (noun := _noun_after(spoken, i + 1, 1)):
            return f"late {'fee' if noun in _DUES else noun}"
        elif thing := _done_to(sentence, i + fault[1], fault[0]) or _told_of(sentence, i, about):
            return f"{thing} {fault[0]}"
    return _lacking(sentence, about) if language == "en" else ""


def _done_to(sentence: Sentence, after: int, fault: str) -> str:
    """What stands behind an event as its object: "swallowed my card", "took our money"."""
    if fault not in _EVENTS or not _OWNERS.intersection(sentence.words[after - 1:after + 1]):
        return ""
    return next((_called(m.name) for m in mentions(sentence.words, _fault_word) if after <= m.at <= after + 3), "")


def _happened(spoken: Sequence[str], i: int) -> tuple[str, int] | None:
    """What was done to a thing, "was changed", "were not executed", as a fault of it."""
    if spoken[i] not in _DONE:
        return None
    denied = spoken[i] in _DONE_NOT or spoken[i + 1:i + 2] == ("not",) or not _NONE.isdisjoint(spoken[:i])
    at = i + 1 + (spoken[i + 1:i + 2] == ("not",))
    while at < len(spoken) and (spoken[at] in _ADVERBS or spoken[at].endswith("ly")):
        at += 1
    word = spoken[at] if at < len(spoken) else ""
    if known := _fault(spoken, at):
        return known[0], at - i + known[1]
    if not (word.endswith("ed") or word in _PARTICIPLES) or not _tells(word, "en") or word in _FEELINGS:
        return None
    return f"{'not ' if denied else ''}{word}", at - i + 1


def _told_of(sentence: Sentence, i: int, about: Mapping[str, Topic], besides: str = "") -> str:
    """The thing that word i of a sentence is said of: of those in it what the ticket is about most, rather one before;
    what the whole ticket is about, where none in it is nearly as much."""
    spoken = sentence.words
    here = {key(m.name): 0.5 * (m.at < i) + (i - _CLOSE <= m.at < i and not m.placed)
            for m in mentions(spoken, _fault_word) if m.name != besides}
    likely = max(here, key=lambda k: about[k].score + here[k], default="") if about else ""
    main = max(about, key=lambda k: about[k].score, default="")
    if not likely or about[main].score >= _MAIN * (about[likely].score + here[likely]):
        likely = main
    return _called(about[likely].name) if likely else ""


def _called(thing: str) -> str:
    *first, last = thing.split()
    return " ".join((*first, _THINGS.get(last, last)))


def _lacking(sentence: Sentence, about: Mapping[str, Topic]) -> str:
    spoken = sentence.words
    for i, (word, after) in enumerate(pairwise(spoken)):
        if not _tells(after, "en") or after in _ADVERBS:
            continue
        if word in _CANNOT and (thing := _told_after(sentence, i + 2)):
            return f"cannot {after} {thing}"
        if word in _NOT and (thing := _told_of(sentence, i, about, besides=after)):
            described = word in ("not", "isn't", "aren't") and spoken[i - 1:i] not in _DOING
            return f"{thing} not {after if described or after.endswith(('ed', 'en')) else _gerund(after)}"
        if word == "no" and after not in _SAYINGS:
            lacked = next((m.name for m in mentions(spoken, _fault_word) if i < m.at <= i + 2), after)
            thing = _told_of(sentence, i, about, besides=lacked)
            if not thing or key(thing) == key(lacked):
                return f"{_called(lacked)} missing"
            return f"no {lacked} from {thing}"
    return ""


def _told_after(sentence: Sentence, at: int) -> str:
    """The first thing from word `at` on."""
    found = next((m.name for m in mentions(sentence.words, _fault_word) if at <= m.at <= at + 5), "")
    return _called(found) if found else _noun_after(sentence.words, at)


def _fault(spoken: Sequence[str], i: int) -> tuple[str, int] | None:
    """The name of the fault that begins at word i, and how many words say it; None for no fault or no such word."""
    if i >= len(spoken):
        return None
    phrases = _phrases().get(spoken[i], {})
    for n in (3, 2) if phrases else ():
        name = phrases.get("_".join(spoken[i:i + n])) if i + n <= len(spoken) else None
        if name:
            return name, n
    name = _fault_word(spoken[i])
    return (name, 1) if name else None


@lru_cache(maxsize=1)
def _phrases() -> Mapping[str, Mapping[str, str]]:
    """First word -> phrase -> what it is called."""
    found: dict[str, dict[str, str]] = {}
    for name, terms in (_FAULTS | _EVENTS).items():
        for term in terms.split():
            found.setdefault(term.split("_")[0], {}).update({term: name} if "_" in term else {})
    return found


@lru_cache(maxsize=32_768)
def _fault_word(word: str) -> str:
    """The first name that has the word, or its beginning where at most five letters follow."""
    terms, beginnings = _fault_terms(), (f"{word[:n]}*" for n in range(max(0, len(word) - 5), len(word) + 1))
    _, name = min((terms[term] for term in (word, *beginnings) if term in terms), default=(0, ""))
    return name


@lru_cache(maxsize=1)
def _fault_terms() -> Mapping[str, tuple[int, str]]:
    """Term -> the place and name of the first that has it."""
    named = enumerate((_FAULTS | _EVENTS).items())
    ranked = [(term, (i, name)) for i, (name, terms) in named for term in terms.split()]
    return dict(reversed(ranked))


def _thing(sentence: Sentence, i: int, language: str) -> str:
    """What is at fault in a language other than English: a thing known by name, else the noun nearest before word i of
    the sentence, else after it. "" if none can be told."""
    spoken = sentence.words
    known = next((_THINGS[w] for w in spoken if w in _THINGS), "")
    if known:
        return known
    if language == "de":
        nouns = [plain(noun) for noun in _CAPITALISED.findall(sentence.text)]
        return next((n[:_LETTERS] for n in nouns if _tells(n, "de") and not _fault_word(n)), "")
    nouns = [(at, after[:_LETTERS]) for at, (word, after) in enumerate(pairwise(spoken)) if word in _DETERMINERS
             and _tells(after, language) and not _fault_word(after)]
    before = [noun for at, noun in nouns if at < i]
    if before:
        return before[0]
    bare = [w[:_LETTERS] for w in spoken[:i] if _tells(w, language) and not _fault_word(w)]
    bare_after = [w[:_LETTERS] for w in spoken[i + 1:] if _tells(w, language) and not _fault_word(w)]
    return " ".join(bare[-2:]) or next((noun for _, noun in nouns), "") or " ".join(bare_after[:1])


def _noun_after(spoken: Sequence[str], at: int, within: int = 4) -> str:
    return next((_THINGS.get(w, w)[:24] for w in spoken[at:at + within] if _tells(w, "en") and not _fault_word(w)), "")


def _tells(word: str, language: str) -> bool:
    known = _ENGLISH if language == "en" else _FOREIGN[language]
    return len(word) > 2 and word not in known and word[0].isalpha() and all(map(_is_latin, word))


def _is_latin(letter: str) -> bool:
    """Whether a letter of a word in plain form is one; a label of mixed alphabets would be refused."""
    return letter.isascii() or letter in "æøœđłıþð"


def _gerund(verb: str) -> str:
    if verb.endswith("ing"):
        return verb
    verb = re.sub(r"(?<=[^s])s$", "", verb)
    if re.fullmatch(r"[^aeiou]+[aeiou][bdgmnpt]", verb):
        return f"{verb}{verb[-1]}ing"
    return f"{verb.removesuffix('e') if not verb.endswith('ee') else verb}ing"
