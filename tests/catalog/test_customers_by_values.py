"""Finding the customers' column by the ids that tickets name."""

from lib.catalog import customers_by_values, open_catalog
from lib.errors import InputError

CRM = b"ref,company,contact mail\n1,Harbour,a@x.org\n2,Mill,b@x.org\n3,Quay,c@x.org\n"
VISITS = b"when,who\nMon,a@x.org\nTue,a@x.org\nWed,b@x.org\nThu,c@x.org\n"


def found(ids, **files):
    catalog = open_catalog([(f"{name}.csv", data) for name, data in files.items()])
    role = customers_by_values(catalog.query, {name: info.columns for name, info in catalog.tables.items()}, ids)
    return role and (role.table, role.key)


def test_the_column_that_holds_them_is_found():
    assert found(["A@x.org", "b@x.org", "z@x.org"], crm=CRM) == ("crm", "contact mail")


def test_a_column_where_each_stands_once_beats_one_that_repeats_them():
    assert found(["a@x.org", "b@x.org"], visits=VISITS, crm=CRM) == ("crm", "contact mail")


def test_less_than_half_is_chance():
    assert found(["a@x.org", "y@x.org", "z@x.org"], crm=CRM) is None


def test_without_ids_nothing_is_guessed():
    assert found([], crm=CRM) is None


def test_a_query_that_takes_too_long_is_passed_over():
    def slow(sql, ids):
        raise InputError("the query took longer than 5 s and was stopped")
    assert customers_by_values(slow, {"crm": ("ref",)}, ["1"]) is None
