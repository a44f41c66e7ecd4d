"""Numbers and lists of names in words."""

from lib.phrases import few, plural, some


def test_one_is_singular_and_thousands_are_set_apart():
    assert [plural(n, "row") for n in (0, 1, 1_200)] == ["0 rows", "1 row", "1,200 rows"]
    assert plural(2, "query", "queries") == "2 queries"


def test_a_long_list_says_how_many_it_leaves_out():
    assert [some(["a", "b", "c"][:n], 2) for n in range(4)] == ["", "a", "a, b", "a, b and 1 more"]
    assert some(range(5_000), 3) == "0, 1, 2 and 4,997 more"
    assert (few(["a", "b"], 2), few(["a", "b", "c"], 2)) == (["a", "b"], ["a", "b", "and 1 more"])
