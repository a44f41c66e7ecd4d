"""From a table to tickets: the right columns without a click, a key for every row, texts that lose no word."""

import json
import random

import pytest

from lib.errors import InputError
from lib.tickets import Columns, Table, TicketSet, combine, guess_columns, read_table, to_tickets
from lib.tickets.html_text import html_to_text, looks_like_html


def table(header, *rows, name="t.csv"):
    return Table(name, tuple(header.split(",")), tuple(tuple(row.split(",")) for row in rows))


def tickets_of(header, *rows):
    found = table(header, *rows)
    return to_tickets(found, guess_columns(found))


EXPORTS = {     # header row of each product's export → what is what
    "zendesk api": ("url,id,external_id,created_at,updated_at,type,subject,raw_subject,description,priority,status,"
                    "requester_id,organization_id,tags",
                    ("id", "subject", "description", "organization_id", None, "created_at", "tags")),
    "freshdesk": ("Ticket ID,Subject,Status,Priority,Source,Type,Agent,Group,Created time,Due by Time,Description,"
                  "Full name,Email,Company", ("Ticket ID", "Subject", "Description", "Company", None, "Created time")),
    "jira": ("Summary,Issue key,Issue id,Issue Type,Status,Reporter,Created,Component/s,Description,Comment,Comment #2",
             ("Issue key", "Summary", "Description", "Reporter", "Component/s", "Created")),
    "jira api": ("expand,id,key,fields.summary,fields.description,fields.created,fields.reporter.displayName",
                 ("key", "fields.summary", "fields.description", "fields.reporter.displayName", None,
                  "fields.created")),
    "intercom": ("type,source.id,id,created_at,title,source.subject,source.body,source.author.email",
                 ("id", "source.subject", "source.body", "source.author.email", None, "created_at")),
    "hubspot": ("Ticket ID,Ticket name,Ticket description,Pipeline,Create date,Associated Company",
                ("Ticket ID", "Ticket name", "Ticket description", "Associated Company", None, "Create date")),
    "hubspot api": ("id,properties.subject,properties.content,properties.hs_ticket_id,createdAt",
                    ("properties.hs_ticket_id", "properties.subject", "properties.content", None, None, "createdAt")),
    "github": ("url,id,number,title,user.login,user.id,comments,created_at,body",
               ("number", "title", "body", "user.login", None, "created_at")),
    "german": ("Ticket-Nr.,Betreff,Nachricht,Kundennummer,Produkt,Erstellt am",
               ("Ticket-Nr.", "Betreff", "Nachricht", "Kundennummer", "Produkt", "Erstellt am")),
    "french": ("Numéro,Objet,Contenu,Client,Produit,Créé le",
               ("Numéro", "Objet", "Contenu", "Client", "Produit", "Créé le")),
    "zendesk full": ("Summation column,Id,Requester,Requester id,Group,Subject,Created at,Updated at,Organization,"
                     "Product [list]", ("Id", "Subject", None, "Requester id", "Product [list]", "Created at")),
    "zendesk view": ("Ticket status,ID,Subject,Requester,Requested,Type",
                     ("ID", "Subject", None, "Requester", None, "Requested")),
    "jira fields": ("Summary,Issue key,Reporter,Created,Components,Description,Custom field (Customer)",
                    ("Issue key", "Summary", "Description", "Custom field (Customer)", "Components", "Created")),
    "intercom attributes": ("id,created_at,source.body,source.author.email,custom_attributes.Product",
                            ("id", None, "source.body", "source.author.email", "custom_attributes.Product",
                             "created_at")),
    "hubspot with ids": ("Record ID,Ticket name,Create date,Ticket description,Associated Contact IDs,"
                         "Associated Company IDs,Associated Company",
                         ("Record ID", "Ticket name", "Ticket description", "Associated Company IDs", None,
                          "Create date")),
    "servicenow": ("number,caller_id,short_description,description,cmdb_ci,opened_at,sys_id",
                   ("number", "short_description", "description", "caller_id", "cmdb_ci", "opened_at")),
    "servicenow api": ("number,short_description,description,caller_id.link,caller_id.value,cmdb_ci.value,opened_at",
                       ("number", "short_description", "description", "caller_id.value", "cmdb_ci.value",
                        "opened_at")),
    "salesforce": ("Case Owner,Subject,Date/Time Opened,Account Name,Case Number,Description,Product",
                   ("Case Number", "Subject", "Description", "Account Name", "Product", "Date/Time Opened")),
    "salesforce loader": ("Id,CaseNumber,ContactId,AccountId,ProductId,Subject,Description,CreatedDate",
                          ("CaseNumber", "Subject", "Description", "AccountId", "ProductId", "CreatedDate")),
    "german excel": ("Ticket-Nr.,Eingangsdatum,Kd.-Nr.,Firma,Produkt,Kurzbeschreibung,Problembeschreibung",
                     ("Ticket-Nr.", "Kurzbeschreibung", "Problembeschreibung", "Kd.-Nr.", "Produkt",
                      "Eingangsdatum")),
    "sample": ("ticket_id,created_at,customer_id,product,subject,body",
               ("ticket_id", "subject", "body", "customer_id", "product", "created_at")),
}


@pytest.mark.parametrize("export", EXPORTS)
def test_known_exports_need_no_click(export):
    header, expected = EXPORTS[export]
    row = ",".join(f"x{i}" for i in range(header.count(",") + 1))
    assert guess_columns(table(header, row)) == Columns(*expected)


def test_unknown_names_are_told_apart_by_what_they_hold():
    found = guess_columns(table("aa,bb,cc,dd", "K1,2026-10-01,Lid is stuck,The lid will not open after I cleaned it",
                                "K2,2026-10-02,Late parcel,My parcel is ten days late and nobody answers me"))
    assert found == Columns(id="aa", created="bb", subject="cc", body="dd")


def test_an_empty_column_is_not_taken_where_a_filled_one_fits():
    assert guess_columns(table("id,body,description", "1,,real text", "2,,more")).body == "description"


def test_the_questions_of_a_form_tell_what_their_answers_are():
    found = guess_columns(table(
        "Timestamp,Email Address,What is your name?,Which product is this about?,Describe it,How urgent is it?",
        "2026/03/04 9:12:30,ann2@x.test,Anna Bergström,Mobile app,It crashes when I open the calendar,4",
        "2026/03/05 9:12:30,cy3@y.test,Cyril Ødegaard,Web portal,I cannot log in and nobody answers,5",
        "2026/03/05 9:13:30,dee4@z.test,Deeanna Rhodes,Mobile app,No,5"))
    assert found == Columns(None, None, "Describe it", "Email Address", "Which product is this about?", "Timestamp")


def test_a_customer_column_that_is_mostly_empty_gives_way_to_a_full_one():
    header = "id,organization_id,requester_id,description"
    assert guess_columns(table(header, "1,,8,x", "2,,9,x", "3,5,9,x")).customer == "requester_id"
    assert guess_columns(table(header, "1,5,8,x", "2,,9,x", "3,5,9,x")).customer == "organization_id"


def test_dates_and_addresses_are_neither_ids_nor_texts():
    found = guess_columns(table("a,b,c", "2026-10-01T09:12:00Z,u1@x.test,2026-03-04 10:12:00 +0100",
                                "2026-10-02T09:12:00Z,u2@x.test,2026-03-05 10:12:00 +0100"))
    assert (found.id, found.body, found.subject) == (None, None, None)


def test_named_things_in_a_list_are_called_by_their_names():
    found = tickets_of_json([{"id": 1, "body": "x", "components": [{"id": "7", "name": "Export"}, {"name": "Mail"}]}])
    assert found.tickets[0].product == "Export, Mail"


def test_comments_without_words_are_left_out_and_each_is_read_by_itself():
    parts = [{"body": "<p>Any news?</p>"}, {"part_type": "close", "body": None}, {"body": "line one\nline two"}]
    found = tickets_of_json([{"id": 1, "title": "<p>a &amp; b</p>", "body": "<p>x</p>", "comments": parts}])
    assert found.tickets[0].body == "x\n\nAny news?\n\nline one\nline two"
    assert found.tickets[0].subject == "a & b"


def tickets_of_json(records):
    found = read_table("a.json", json.dumps(records).encode())
    return to_tickets(found, guess_columns(found))


def test_repeated_ids_are_kept_apart():
    found = tickets_of("id,body", "1,a", "2,b", "2,b", "2,c", "2#2,d")
    assert [t.key for t in found.tickets] == ["1", "2", "2#3", "2#4", "2#2"]
    assert [t.id for t in found.tickets] == ["1", "2", "2", "2", "2#2"]
    assert any(note.startswith("repeated ids") for note in found.notes)


def test_rows_without_an_id_are_numbered():
    assert [t.key for t in tickets_of("id,body", "a,x", ",y").tickets] == ["a", "row 2"]
    found = tickets_of("body,mood", "this is some text,x", "this is other text,x")
    assert [t.key for t in found.tickets] == ["1", "2"]
    assert "no id column: tickets are numbered by row" in found.notes


def test_ids_stay_text_and_other_columns_are_kept():
    ticket = tickets_of("id,body,Betrag,leer", "0071,None,\"1.299\",").tickets[0]
    assert (ticket.id, ticket.body, ticket.extra) == ("0071", "None", {"Betrag": '"1.299"'})


def test_several_files_add_up_with_keys_of_their_own():
    january, february = tickets_of("id,body", "1,a", "2,b", "2,c"), tickets_of("id,body", "1,d", "2,e")
    both = combine([january, february])
    assert [t.key for t in both.tickets] == ["1", "2", "2#2", "1#2", "2#3"]
    assert len(both.by_key) == 5


def test_comments_follow_the_body_in_order():
    found = read_table("jira.csv", b"Issue key,Description,Comment,Comment,Comment\nS-1,Trips,first;9:30,,third\n")
    assert to_tickets(found, guess_columns(found)).tickets[0].body == "Trips\n\nfirst;9:30\n\nthird"


def test_comments_of_an_api_are_read_as_their_texts():
    comments = [{"id": 7, "body": "Photo?"}, {"id": 8, "body": "Attached."}]
    data = [{"id": 1, "description": "Trips", "comments": comments}]
    found = read_table("a.json", json.dumps(data).encode())
    assert to_tickets(found, guess_columns(found)).tickets[0].body == "Trips\n\nPhoto?\n\nAttached."


def test_a_count_of_comments_is_no_comment():
    found = tickets_of("number,title,body,comments", "1,a,text,3")
    assert found.tickets[0].body == "text"
    assert found.tickets[0].extra == {"comments": "3"}


def test_control_characters_can_be_seen_and_do_no_harm():
    rows = (("1", "a\x1b[31m\u202egpj.exe\x85"), ("2", "tab\tline\r\nemoji 👩‍💻"))
    found = to_tickets(Table("t", ("id", "body"), rows), Columns(id="id", body="body"))
    assert [t.body for t in found.tickets] == ["a␛[31m[U+202E]gpj.exe[U+0085]", "tab\tline\nemoji 👩‍💻"]
    assert "1 text held control characters, written so that they can be seen" in found.notes


def test_a_choice_of_a_column_that_does_not_exist_is_refused():
    with pytest.raises(InputError, match='no column "nope"'):
        to_tickets(table("id,body", "1,x"), Columns(id="id", body="nope"))


def test_tickets_survive_being_stored():
    found = tickets_of("id,body,x", "1,ä\u2028b,y")
    assert TicketSet.from_json(found.to_json()) == found


# --- HTML -------------------------------------------------------------------------------------------------------------


def test_html_becomes_text_and_loses_no_word():
    html = ("<html><head><style>p{color:red}</style><script>alert(1)</script></head><body><p>Crack on the&nbsp;base"
            "&nbsp;&ndash; see photo.</p><img src=\"data:image/png;base64," + "A" * 5000 + "\" alt=\"crack\">"
            "<p>My order is KT-1207 &amp; I paid £30 &lt;twice&gt;<br>or <KX-2></p></body></html>")
    assert html_to_text(html) == ("Crack on the base – see photo.\n[image: crack]\nMy order is KT-1207 & I paid £30 "
                                  "<twice>\nor <KX-2>")


def test_quoted_answers_and_signatures_stay():
    text = html_to_text("<div>Yes.</div><blockquote>Would Friday work?</blockquote>"
                        "<div>-- <br>Pia<br>Cancel order 77.</div>")
    assert text.split("\n") == ["Yes.", "", "Would Friday work?", "", "--", "Pia", "Cancel order 77."]


def test_lists_tables_and_links_keep_their_shape():
    assert html_to_text("<ul><li>a</li><li>b</li></ul>") == "- a\n\n- b"
    assert html_to_text("<tr><td>x</td><td>1</td></tr>") == "x\t1"
    assert html_to_text('<p>see <a href="https://e.test/x">this</a></p>') == "see this (https://e.test/x)"


@pytest.mark.parametrize("text", [
    "temp < 5 and pressure > 3 bar, model <KX-2>", "I use <b> in my template", "a <- b", ""])
def test_plain_text_with_angle_brackets_is_left_alone(text):
    assert not looks_like_html(text)


@pytest.mark.parametrize("text", ["<p>a <script>never closed, words here", "<p>a <!-- never closed, words here"])
def test_what_is_never_closed_swallows_nothing(text):
    assert "words here" in html_to_text(text)


def test_an_embedded_picture_in_plain_text_is_left_out_and_told():
    found = to_tickets(Table("t", ("id", "body"), (("1", "see data:image/png;base64," + "A" * 900 + " please"),)),
                       Columns(id="id", body="body"))
    assert found.tickets[0].body == "see [embedded file, 922 characters left out] please"
    assert "1 text held an embedded file, left out" in found.notes


TAGS = "p div b br i span table tr td th ul li a img blockquote pre code h1 font o:p center unknown x-y".split()


@pytest.mark.parametrize("seed", range(300))
def test_no_word_is_lost_among_tags_of_any_kind(seed):
    chance, parts = random.Random(seed), []
    words = [f"w{i}x" for i in range(9)]
    for word in words:
        for _ in range(chance.randrange(3)):
            tag = chance.choice(TAGS)
            parts.append(chance.choice((f"<{tag}>", f"</{tag}>", f'<{tag} class="a>b">', f"<{tag}/>", f"<{tag} ",
                                        f"<{tag} title='q", f"<{tag} and ")))
        parts.append(chance.choice(("", " ", "\n")) + word + chance.choice(("", " ", " &amp; ", " < ", " > ", "\n")))
    text = html_to_text("".join(parts))
    assert [word for word in words if word not in text] == []


def test_attributes_that_mail_programs_write_are_no_words():
    assert html_to_text('<table border=0 cellspacing="0"><td width=100 nowrap class=MsoNormal>a</td><br clear=all/>'
                        "<o:p></o:p><hr noshade size=1>b") == "a\n\nb"


def test_the_gold_label_is_carried_and_survives_being_stored():
    found = tickets_of("id,body,root cause", "1,x,late parcel", "2,y,")
    assert [t.label for t in found.tickets] == ["late parcel", ""]
    assert TicketSet.from_json(found.to_json()) == found


def test_tickets_without_a_label_are_stored_as_they_were_before_there_were_labels():
    assert '"label"' not in tickets_of("id,body", "1,x").to_json()
