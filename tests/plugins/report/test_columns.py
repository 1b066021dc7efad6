"""Long lists for a page: columns of codes, and texts as far as they fit."""

import pytest
from packed_columns import values_of

from nuggetjudge.plugins.report.packing import Column, Texts


@pytest.mark.parametrize(("n", "size"), [(256, 1), (257, 2), (65_537, 4)])
def test_every_value_comes_back_however_many_there_are(n, size):
    values = [f"x{i}" for i in range(n)] + [None, "x0"]
    packed = Column(values).packed()
    assert values_of(packed) == values
    assert packed["bytes"] == (size if n != 256 else 2)  # None is a value too


def test_codes_are_in_the_order_of_the_values_so_that_a_page_sorts_by_them():
    assert Column(["t10", None, "t9", "t10"]).packed()["values"] == ["t9", "t10", None]
    assert Column([0.5, 2, None, 0.25]).packed()["values"] == [0.25, 0.5, 2, None]
    assert Column([]).packed()["values"] == []


def test_texts_that_do_not_fit_are_left_out_and_counted():
    rows = [{"short": "ab", "long": "c" * 9}, {"short": "ab", "long": "c" * 9}, {"long": "d"}]
    texts = Texts(["short", "long", "none"], most=4)
    for row in rows:
        texts.add(row)
    columns, n_left = texts.packed()
    assert n_left == 2
    assert values_of(columns["short"]) == ["ab", "ab", None]  # one text, however many have it
    assert values_of(columns["long"]) == [None, None, "d"]
    assert set(columns) == {"short", "long"}


def test_texts_of_the_first_name_are_kept_where_both_would_fit_alone():
    texts = Texts(["nugget", "answer"], most=5)
    for row in ({"answer": "aaa", "nugget": "n"}, {"answer": "bb", "nugget": "mm"}) * 2:
        texts.add(row)
    columns, n_left = texts.packed()
    assert values_of(columns["nugget"]) == ["n", "mm"] * 2
    assert values_of(columns["answer"]) == [None, "bb"] * 2
    assert n_left == 2  # the rows that have it
