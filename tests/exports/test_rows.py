"""The rows of a group of runs: same columns in every file, every call's every figure, every ticket once."""

import dataclasses

import pytest

from lib.exports import rows
from lib.exports.tables import as_csv, as_xlsx
from lib.runs.store import CallRow, Store
from lib.task.answers import Label
from lib.tickets import guess_columns, read_table, to_tickets
from tests.exports import hostile


@pytest.fixture
def reports():
    return {"pipeline": hostile.report("pipeline"), "agent": hostile.report("agent", 2)}


def test_causes_are_ranked_and_hold_what_was_counted_and_claimed(reports):
    first = rows.cause_rows(reports)[0]
    assert tuple(first) == rows.CAUSES
    assert (first["shape"], first["rank"], first["tickets"], first["tickets_claimed"], first["customers"]) == \
        ("pipeline", 1, 3, 9, 2)
    assert (first["customers_not_in_database"], first["revenue_per_month"]) == (1, 129.5)
    assert first["evidence_not_found"] == 1
    assert first["ticket_keys"] == ["T0", "T1", "T2"]


def test_a_customer_stands_under_each_of_its_causes(reports):
    found = rows.customer_rows(reports)
    assert [(row["shape"], row["customer_id"], row["in_database"], row["revenue_per_month"]) for row in found] == [
        ("pipeline", "C1", True, 129.5), ("pipeline", "=C2", False, None),
        ("agent", "C1", True, 129.5), ("agent", "=C2", False, None)]


def test_every_ticket_has_one_row_with_each_shapes_cause_or_why_it_has_none(reports):
    found = rows.label_rows(reports, hostile.tickets(), {"T0": Label("before", "quoted")})
    assert [row["ticket_id"] for row in found] == ["T0", "T1", "T2", "T3"]
    assert all(tuple(row) == rows.label_columns(reports) for row in found)
    assert found[0]["pipeline_label_before_merge"] == "before" and found[0]["pipeline_quote"] == "quoted"
    assert found[1]["pipeline_label_before_merge"] is None
    assert found[2]["pipeline_cause"] and found[2]["agent_cause"] is None
    assert found[3]["pipeline_cause"] is None and found[3]["pipeline_failed_because"] == hostile.ALL


@pytest.mark.parametrize("name", ["labels.csv", "labels.xlsx"])
def test_the_labels_file_read_as_tickets_gives_the_tickets_again(reports, name):
    table = read_table("c.csv", as_csv([{"id": f"F{i}", "subject": text, "body": text, "customer": "=C",
                                         "created": "2026-01-01", "product": "-"}
                                        for i, text in enumerate(("=1+1", "-10.00", "-10.00 refund", "ok\n=3+3"))]))
    tickets = to_tickets(table, guess_columns(table))
    found = rows.label_rows(reports, tickets)
    again = read_table(name, as_csv(found) if name.endswith("csv") else as_xlsx({"labels": found}))
    told = to_tickets(again, guess_columns(again)).tickets
    assert [dataclasses.replace(t, extra={}) for t in told] == list(tickets.tickets)


def test_the_labels_before_merging_are_read_from_the_calls(tmp_path):
    store = Store(tmp_path / "runs.sqlite")
    run = hostile.run("pipeline")
    store.add_run(run)
    for subject, text in (("T1", "no JSON"), ("T1", '{"cause": "Late Reply", "evidence": "since May"}'), ("T2", "{}")):
        store.add_call(dataclasses.replace(hostile.call("pipeline", 1), subject=subject), {"messages": []},
                       {"role": "assistant", "content": [{"type": "text", "text": text}]})
    assert rows.given_labels(store, run) == {"T1": Label("late reply", "since May")}
    store.close()


def test_a_call_has_every_field_with_its_unit():
    call = hostile.call("agent", 2, write_5m=5, cached=1, waited=0.5, attempts=2, error="it broke", usd=None)
    early = dataclasses.replace(call, id=9, started=call.started - 1)
    found = rows.call_rows([(hostile.run("agent"), [call, early])])
    assert [row["number"] for row in found] == [1, 2] and found[0]["call_id"] == 9
    row = found[1]
    assert tuple(row) == rows.CALLS
    assert {"input_tokens": 205, "cache_write_5m_tokens": 5, "cached": True, "waited_seconds": 0.5, "usd": None,
            "attempts": 2, "error": "it broke", "started": "2001-09-09T01:46:42.000Z"}.items() <= row.items()
    held = {v for v in row.values() if not isinstance(v, bool)}
    for field in dataclasses.fields(CallRow):
        value = getattr(call, field.name)
        assert field.name in ("started", "cached") or value in held, field.name


def test_checks_tell_which_answer_they_are_of(reports):
    assert [(row["shape"], row["check"], row["passed"]) for row in rows.check_rows(reports)] == [
        ("pipeline", "counts", False), ("pipeline", "tickets exist", True),
        ("agent", "counts", False), ("agent", "tickets exist", True)]
