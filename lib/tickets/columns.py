"""Which column holds what: by the names that help desks and spreadsheets use, then by what the cells hold."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial

from lib.tickets.comments import names_in
from lib.tickets.names import named, plain, words
from lib.tickets.table import Table

SAMPLE = 300        # rows looked at


@dataclass(frozen=True)
class Columns:
    """For each part of a ticket the column that holds it, or None."""

    id: str | None = None
    subject: str | None = None
    body: str | None = None
    customer: str | None = None
    product: str | None = None
    created: str | None = None
    label: str | None = None    # what a person said each ticket is about: never sent, only held against answers

    @property
    def used(self) -> set[str]:
        return {value for f in fields(self) if (value := getattr(self, f.name)) is not None}


# Plain names (see names.plain), most telling first.
_NAMES = {
    "id": words(
        "ticket id, ticket key, issue key, hs ticket id, case number, case id, ticket number, ticket no, "
        "ticket nr, ticketnummer, ticket nummer, conversation id, request id, incident number, "
        "vorgangsnummer, vorgangs nr, fallnummer, id du ticket, id de ticket, numero de ticket, number, key, "
        "id, identifiant, reference, ref, nr, no, nummer, numero, ticket, vorgang, issue id, display id, "
        "record id, complaint id, uuid, external id"),
    "subject": words(
        "subject, ticket subject, betreff, ticket name, title, titel, summary, short description, objet, "
        "sujet, asunto, oggetto, onderwerp, assunto, temat, headline, thema, topic, issue title, "
        "zusammenfassung, kurzbeschreibung, titre, titulo"),
    "body": words(
        "body, plain body, description text, ticket description, description, message, message body, body "
        "text, nachricht, beschreibung, inhalt, anliegen, mitteilung, text, content, ticket body, first "
        "message, details, comment body, issue, problem, question, request, feedback, review, complaint, "
        "ticket text, nachrichtentext, contenu, corps, mensaje, descripcion, cuerpo, messaggio, testo, "
        "descrizione, omschrijving, bericht, mensagem, descricao, tresc, long description, html body, "
        "problembeschreibung, fehlerbeschreibung, consumer complaint narrative, comment, comments, conversation, "
        "transcript, preview"),
    "customer": words(
        "customer id, customer number, customer no, customer nr, kundennummer, kunden nr, kunden id, kundennr, kd nr, "
        "kdnr, client id, client no, client number, "
        "account id, account number, id client, id cliente, numero client, klantnummer, organization id, "
        "organisation id, company id, associated company ids, requester id, contact id, associated contact ids, "
        "primary customer id, user login, user id, customer, customer name, kunde, firma, "
        "client, cliente, klant, account, account name, organization, organisation, company, company name, "
        "requester, requester email, caller, caller id, reporter, contact, contact email, customer email, email, "
        "e mail, email address, from, "
        "sender, author, absender, user, author login, author email, author id, reporter display "
        "name, reporter email address, associated company, associated contact, full name, name, "
        "via source from address, associated company ids primary, associated contact ids primary"),
    "product": words(
        "product id, product, product name, produkt, produkt id, produktname, sku, product sku, item, item "
        "id, article, artikel, artikelnummer, artikel nr, art no, art nr, produit, producto, prodotto, "
        "prodotto id, produto, component, components, component s, module, app, application, service, product "
        "area, affected product, product purchased, cmdb ci, configuration item, business service"),
    "created": words(
        "created at, created, created time, created on, created date, create date, createdate, creation date, "
        "date created, opened, opened at, open date, submitted, submitted at, received, received at, "
        "requested, reported at, date time opened, opened date, date received, sys created on, "
        "timestamp, erstellt, erstellt am, erstelldatum, erstellungsdatum, eingang, "
        "eingangsdatum, eingegangen am, angelegt am, datum, cree le, date de creation, fecha, fecha de "
        "creacion, data, aangemaakt, date, time"),
    "label": words(
        "root cause, rootcause, gold label, gold, gold cause, true label, ground truth, label, cause, root cause "
        "category, category, ticket category, problem category, contact reason, reason for contact, reason, case "
        "reason, issue category, intent, class, topic, subcategory, sub category, problem type, ursache, kategorie, "
        "grund, anliegen art, categorie, motif, categoria, causa, motivo, oorzaak, labels, label names, labels nodes, "
        "hs ticket category, tags, tag, ticket tags, tags tags"),
}
_LONGEST_LABEL = 80     # characters, on average

_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{1,2}/\w{3}/\d{2}")

_CODE = re.compile(r"(?![\d,]*[.,]\d+$)(?=\D*\d)[^\s@]+")

# What a question in a form asks for, in plain words.
_ASKED = {
    "customer": re.compile(r".*\b(customer|client|account|kunden?)\b.*\b(id|number|no|nr|nummer)\b.*|"
                           r".*\b(kundennummer|email|e mail)\b.*|.*\byour (full )?name\b.*"),
    "product": re.compile(r".*\b(which|what|welche\w*|affected|betroffene\w*)( \w+)? "
                          r"(product|produkt|app|service|module|modul)s?\b.*"),
}
_NO_SUBJECT = set("name email mail agent assignee owner group team queue status priority type channel via".split())


def guess_columns(table: Table) -> Columns:
    """The columns by name; where no name tells, the body is the longest text and the id is short and never repeated."""
    shapes = _shapes(table)
    filled = [shape.column for shape in shapes]
    found: dict[str, str | None] = {}
    for part in ("id", "subject", "body", "customer", "product", "created"):
        names = _NAMES[part]        # a column that is empty all the way down only where there is no other
        likely = [shape.column for shape in shapes if not shape.counts] if part == "body" else filled
        found[part] = named(likely, names, found.values()) or named(table.columns, names, found.values())
    full = [shape.column for shape in shapes if shape.filled >= 0.5]
    found["customer"] = named(full, _NAMES["customer"], {c for p, c in found.items() if p != "customer"}) \
        or found["customer"]
    for part, asked in _ASKED.items():
        found[part] = found[part] or next(
            (c for c in filled if c not in found.values() and asked.fullmatch(plain(c))), None)
    found["label"] = named(filter(partial(_is_short, table), filled), _NAMES["label"], found.values())
    if not found["body"] or found["body"] not in filled:
        found["body"] = _longest_text(found, shapes) or found["body"]
    if not found["id"]:
        found["id"] = _pick(shapes, found, lambda s: s.codes and s.varied == 1 and s.filled == 1 and s.dated < 0.5)
    if not found["created"]:
        found["created"] = _pick(shapes, found, lambda s: s.dated > 0.8)
    if not found["subject"]:
        found["subject"] = _pick(shapes, found, lambda s: 8 <= s.length <= 120 and s.spaced > 0.5 and s.varied > 0.5
                                 and s.dated < 0.5 and not _NO_SUBJECT & set(plain(s.column).split()))
    return Columns(**found)


def _is_short(table: Table, column: str) -> bool:
    at = table.columns.index(column)
    cells = [names_in(row[at]) for row in table.rows[:SAMPLE] if row[at]]
    return sum(map(len, cells)) <= _LONGEST_LABEL * len(cells)


# Letters of scripts without spaces between words; each says as much as three of an alphabet.
_DENSE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_WRITTEN = re.compile(rf" |{_DENSE.pattern}{{6}}")


@dataclass(frozen=True)
class _Shape:
    """What the sampled cells of one column look like; shares are of the cells that hold something."""

    column: str
    filled: float
    length: float       # mean characters, as if written in an alphabet
    spaced: float       # share that is text of several words, and no JSON
    varied: float       # different values : cells
    dated: float        # share that begins like a date
    counts: bool        # every cell is digits only, as GitHub's "comments"
    codes: bool         # every cell is one short word with a digit, and no price


def _shapes(table: Table) -> list[_Shape]:
    found = []
    for at, column in enumerate(table.columns):
        cells = [text for row in table.rows[:SAMPLE] if (text := row[at].strip())]
        n = len(cells)
        if n:
            found.append(_Shape(column, n / min(SAMPLE, len(table.rows)), sum(map(_length, cells)) / n,
                                sum(bool(_WRITTEN.search(c)) and c[0] not in "[{" for c in cells) / n,
                                len(set(cells)) / n,
                                sum(bool(_DATE.match(c)) for c in cells) / n,
                                all(c.isdecimal() for c in cells),
                                all(len(c) <= 40 and _CODE.fullmatch(c) for c in cells)))
    return found


def _length(cell: str) -> int:
    return len(cell) if cell.isascii() else len(cell) + 2 * len(_DENSE.findall(cell))


def _longest_text(found: dict[str, str | None], shapes: list[_Shape]) -> str | None:
    """The column of the longest texts that is nothing else."""
    texts = [s for s in shapes if s.column not in found.values() and s.length >= 20 and s.spaced > 0.5
             and s.dated < 0.5]
    return max(texts, key=lambda s: s.length).column if texts else None


def _pick(shapes: list[_Shape], found: dict[str, str | None], fits: Callable[[_Shape], bool]) -> str | None:
    return next((s.column for s in shapes if s.column not in found.values() and fits(s)), None)
