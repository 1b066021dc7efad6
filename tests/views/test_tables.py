"""Tables fit every window, keep every name apart, and lose nothing in files for machines."""

import csv
import io
import json
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from nuggetjudge.views.formats import view_html
from nuggetjudge.views.printing import Format, render
from nuggetjudge.views.table import Column, Estimate, Kind, Row, Style, Styled, Table, View
from nuggetjudge.views.terminal import Terminal, table_text

COLUMNS = [
    Column("rank", Kind.NAME, "#"),
    Column("run", Kind.NAME),
    Column("V_strict", Kind.SHARE),
    Column("interval", Kind.BAR),
    Column("A_strict", Kind.SHARE, optional=2),
    Column("words", Kind.COUNT, optional=1),
    Column("answered", Kind.RATIO),
]
ROWS = [
    Row(["1", "complete", 0.9132, Estimate(0.9132, 0.86, 0.96), 0.9, 188, (12, 12)], Style.LEADING),
    Row(["1=", "miscited", 0.83, Estimate(0.83, 0.73, 0.92), 0.8, 1147, (12, 12)]),
    Row(["3", "thin", None, None, None, 25, Styled((10, 12), Style.WARNING)], Style.TRAILING),
]
BOARD = Table("Nuggets", COLUMNS, ROWS, aside="12 topics", rule_after=2, notes=["10/12: two left."])
VIEW = View("complete leads.", [BOARD])

names = st.lists(st.text("abc._-", min_size=1, max_size=60), min_size=1, max_size=6, unique=True)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)


@example(["_"], "0", 60, True)
@given(names, texts, st.integers(60, 200), st.booleans())
def test_no_line_is_longer_than_the_window_and_names_stay_apart(runs, text, width, has_unicode):
    rows = [Row([f"{i}", run, 0.5, Estimate(0.5, 0.4, 0.6), 1.0, 10, (1, 2)])
            for i, run in enumerate(runs)]  # fmt: skip
    table = Table(text, COLUMNS, rows, aside=text, rule_after=1, notes=[text])
    lines = table_text(table, Terminal(width, has_unicode=has_unicode)).splitlines()
    assert max(map(cell_len, lines)) <= width or any(len(run) > 40 for run in runs)
    start = next(n for n, line in enumerate(lines) if line.startswith("#  run")) + 1
    body = [line for line in lines[start : start + len(runs) + 1] if line[:1].isdigit()]
    found = [line.split()[1] for line in body[: len(runs)]]
    assert len(set(found)) == len(runs)


def test_a_narrow_window_leaves_out_the_most_optional_column_and_names_it():
    wide, narrow = (table_text(BOARD, Terminal(width)) for width in (100, 66))
    assert "A_strict" in wide
    assert "not shown" not in wide
    assert ".900" not in narrow
    assert "columns that do not fit: A_strict" in narrow
    assert "1,147" in narrow  # less optional


def test_words_of_a_column_are_whole_and_optional_columns_go_first():
    columns = [
        Column("measure", Kind.TEXT),
        *(Column(f"first {n}", Kind.SHARE, optional=n) for n in range(6)),
    ]
    table = Table("", columns, [Row(["support_precision", *[0.5] * 6])])
    for width in (40, 60, 80):
        text = table_text(table, Terminal(width))
        assert "support_precision" in text
        assert max(map(len, text.splitlines())) <= width


def test_a_bar_grows_with_the_window_up_to_sixty_columns():
    lengths = []
    for width in (60, 80, 200):
        line = table_text(BOARD, Terminal(width)).splitlines()[1]
        axis = line[line.index("0") : line.index(" 1 ") + 2]
        lengths.append(len(axis))
    assert 20 <= lengths[0] < lengths[1] < lengths[2] == 60


def test_a_bar_has_its_value_where_the_axis_has_it():
    column = Column("share", Kind.BAR)
    rows = [Row([Estimate(v, v, v)]) for v in (0.0, 0.25, 0.5, 1.0)]
    text = table_text(Table("t", [column], rows), Terminal(61))
    axis, *bars = text.splitlines()[1:]
    at = [bar.index("●") for bar in bars]
    assert at == [0, 15, 30, 59]  # of 60 columns
    assert axis[0] == "0"
    assert axis.rstrip()[-1] == "1"
    assert axis[at[2] - 1 : at[2] + 1] == ".5"


def test_colour_and_box_characters_are_there_only_where_they_may_be():
    coloured = table_text(BOARD, Terminal(80, has_colour=True))
    plain = table_text(BOARD, Terminal(80, has_unicode=False))
    assert "\x1b[1mcomplete\x1b[0m" in coloured
    assert "\x1b[33m! 10/12\x1b[0m" in coloured
    assert plain.isascii()
    assert "! 10/12" in plain
    assert "|--" in plain
    assert re.sub(r"\x1b\[\d+m", "", coloured) == table_text(BOARD, Terminal(80))


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_window_may_refuse_colours(environment, monkeypatch):
    class Window(io.StringIO):
        encoding = "ascii"

        def isatty(self):
            return True

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert Terminal.of(Window()).has_colour
    assert not Terminal.of(Window()).has_unicode
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert not Terminal.of(Window()).has_colour
    assert not Terminal.of(io.StringIO()).has_colour


def test_a_text_that_steers_terminals_is_shown_as_text():
    table = Table("a\x1b[2Jb", [Column("run", Kind.NAME)], [Row(["\x1b]0;x\x07"])])
    view = View("v\x1b[0m", [table], ["n\x1b[0m"])
    for text in (*(render(view, format) for format in Format), view_html(view)):
        assert "\x1b" not in text


def test_csv_and_json_have_all_digits_and_both_bounds():
    first = next(csv.DictReader(io.StringIO(render(VIEW, Format.CSV))))
    assert (first["V_strict"], first["interval_low"], first["answered_total"]) == (
        "0.9132", "0.86", "12",
    )  # fmt: skip
    third = json.loads(render(VIEW, Format.JSON).splitlines()[2])
    assert third["V_strict"] is None
    assert third["interval_low"] is None
    assert (third["answered"], third["answered_total"]) == (10, 12)


def test_markdown_and_latex_keep_names_as_text():
    table = Table("t", [Column("run_id", Kind.NAME)], [Row(["a|b_c*d & 5%"], Style.LEADING)])
    view = View("", [table])
    assert r"| a\|b\_c\*d \& 5% |" in render(view, Format.MARKDOWN)
    latex = render(view, Format.LATEX)
    assert r"\textbf{a\textbar{}b\_c*d \& 5\%} \\" in latex
    assert r"\toprule" in latex
    assert latex.count("{") - latex.count(r"\{") == latex.count("}") - latex.count(r"\}")


def test_html_is_escaped_and_draws_the_interval_without_a_script():
    html = view_html(View("<b>", [BOARD], ["<script>"]))
    assert "&lt;b&gt;" in html
    assert "<script" not in html
    assert html.count("<svg") == 2


def test_a_row_with_another_number_of_cells_is_an_error():
    with pytest.raises(ValueError, match="row 0 of 't': 1 cells for 7 columns"):
        Table("t", COLUMNS, [Row(["1"])])


def test_an_interval_is_written_from_its_lower_end():
    assert Column("interval", Kind.INTERVAL).format((0.1, 0.25)) == "[.100, .250]"
    signed = Column("interval", Kind.INTERVAL, is_signed=True)
    assert signed.format((-0.1, 0.25)) == "[-.100, +.250]"
