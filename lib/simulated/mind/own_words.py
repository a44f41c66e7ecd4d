"""A cause in the ticket's own words, for topics that the lexicon does not know: the thing at fault and what it does."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from lib.simulated.mind.text import Sentence, plain, words

_WORDS, _LENGTH = 6, 60     # of a cause
NOTHING_TOLD = "no problem described"
UNREADABLE = "ticket in unknown language"
VAGUE = ("problem with", "question about", NOTHING_TOLD)       # how a cause begins that names no fault

_ENGLISH = frozenset(words("""
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
_USELESS = frozenset(("not working", "broken", "stuck", "closed", "failure", "frozen", "stopped", "refused"))
_NOT = frozenset("won't doesn't don't isn't aren't didn't wouldn't never refuses not".split())
_SAYINGS = frozenset("matter doubt idea wonder".split())        # no matter, no doubt: nothing is lacking
_CANNOT = frozenset("can't cannot couldn't".split())
_ADVERBS = frozenset("really even properly always any anymore longer yet working work help".split())
_BEING = frozenset("is are was were be".split())
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
    topic = next((t for s in told if s.in_body and (t := _thing(s, len(s.words), language))), "")
    for sentence in told_best_first:
        found = _complaint(sentence, language, topic)
        if found:
            return " ".join(found.split()[:_WORDS])[:_LENGTH].strip(), sentence
    sentence, thing = next(((s, t) for s in told_best_first if (t := _thing(s, len(s.words), language))), (None, ""))
    if not thing:
        return NOTHING_TOLD, None
    asks = any(_ASKS.search(s.text) for s in told if s.weight > 0.3)
    return f"{'question about' if asks else 'problem with'} {thing}", sentence


def fault_of(label: str) -> tuple[str, frozenset[str]]:
    """What a label says is wrong ("" where it does not), and the words that say so."""
    spoken = words(label)
    for i in range(len(spoken)):
        found = _fault(spoken, i)
        if found:
            name, length = found
            return "not working" if name in _USELESS else name, frozenset((*spoken[i:i + length], *words(name)))
    for i, word in enumerate(spoken[:-1]):
        if word in ("not", "cannot"):
            return "not working", frozenset(spoken[i:i + 2])
    return "", frozenset()


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


def _complaint(sentence: Sentence, language: str, topic: str) -> str:
    """"gate not opening", "cannot book spinning", "no foam from machine"; "" for a sentence without a failure."""
    spoken = sentence.words
    for i in range(len(spoken)):
        if spoken[i] == "no" and language == "en" and _fault(spoken, i + 1) and (noun := _noun_after(spoken, i + 2, 1)):
            return f"no {spoken[i + 1]} {noun}"
        fault = _fault(spoken, i)
        thing = _thing(sentence, i, language) if fault else ""
        if fault and thing:
            known = language == "en" or thing in _SAME_THING
            return f"{thing} {fault[0]}" if known else f"problem with {thing}"
    return _lacking(sentence, topic) if language == "en" else ""


def _lacking(sentence: Sentence, topic: str) -> str:
    spoken = sentence.words
    for i, (word, after) in enumerate(pairwise(spoken)):
        if not _tells(after, "en") or after in _ADVERBS:
            continue
        if word in _CANNOT and (thing := _noun_after(spoken, i + 2)):
            return f"cannot {after} {thing}"
        if word in _NOT and (thing := _thing(sentence, i, "en", besides=after)):
            described = i and spoken[i - 1] in _BEING or word in ("isn't", "aren't") or after.endswith(("ed", "en"))
            return f"{thing} not {after if described else _gerund(after)}"
        if word == "no" and after not in _SAYINGS:
            thing = _thing(sentence, i, "en", besides=after) or topic
            return f"no {after} from {thing}" if thing else f"no {after} given"
    return ""


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
    for name, terms in _FAULTS.items():
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
    ranked = [(term, (i, name)) for i, (name, terms) in enumerate(_FAULTS.items()) for term in terms.split()]
    return dict(reversed(ranked))


def _thing(sentence: Sentence, i: int, language: str, besides: str = "") -> str:
    """What is at fault: the noun nearest before word i of the sentence, else after it. "" if none can be told."""
    spoken = sentence.words
    if language != "en":
        known = next((_THINGS[w] for w in spoken if w in _THINGS), "")
        if known:
            return known
    if language == "de":
        nouns = [plain(noun) for noun in _CAPITALISED.findall(sentence.text)]
        return next((n[:24] for n in nouns if _tells(n, "de") and not _fault_word(n)), "")
    nouns = [(at, noun) for at, w in enumerate(spoken[:-1]) if w in _DETERMINERS
             and (noun := _noun(spoken, at + 1, language, besides))]
    before = [noun for at, noun in nouns if at < i]
    if before:
        return before[0]
    bare = [w[:24] for w in spoken[:i] if _tells(w, language) and not _fault_word(w) and w != besides]
    bare_after = [w[:24] for w in spoken[i + 1:] if _tells(w, language) and not _fault_word(w) and w != besides]
    return " ".join(bare[-2:]) or next((noun for _, noun in nouns), "") or " ".join(bare_after[:1])


def _noun(spoken: Sequence[str], at: int, language: str, besides: str) -> str:
    """One or two words from position `at` that can be a noun: "coffee machine", not "door opens"."""
    if not _tells(spoken[at], language) or _fault_word(spoken[at]) or spoken[at] == besides:
        return ""
    first, second = spoken[at], spoken[at + 1] if at + 1 < len(spoken) else ""
    if first in _THINGS:
        return _THINGS[first]
    is_noun = language == "en" and _tells(second, language) and not _fault_word(second) and second != besides
    if is_noun and not re.search(r"(?:[^s]s|ed|ly|ing|'\w+)$", second):
        return f"{first[:24]} {_THINGS.get(second, second)[:24]}"
    return first[:24]


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
