import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.records import (
    Problems,
    ScoreRow,
    read_scores,
    write_scores,
)

NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=8)
VALUES = st.floats(allow_nan=False, allow_infinity=False)


def row(run="sys2", topic="all", measure="V_strict", value=0.5, **counts):
    return ScoreRow(run_id=run, topic_id=topic, measure=measure, value=value, **counts)


@given(cells=st.dictionaries(st.tuples(NAMES, NAMES, NAMES), st.none() | VALUES, max_size=5))
def test_both_layouts_are_read_as_they_were_written(cells, tmp_path_factory):
    rows = [row(*names, value, n=3, n_unjudged=0, low=0.1) for names, value in cells.items()]
    folder = tmp_path_factory.mktemp("scores")
    write_scores(folder / "scores.jsonl", folder / "scores.eval.txt", iter(rows))
    problems = Problems()
    assert read_scores(folder / "scores.jsonl", problems, "jsonl") == rows
    columns = read_scores(folder / "scores.eval.txt", problems, "ir_measures")
    assert columns == [
        row(r.run_id, r.topic_id, r.measure, r.value) for r in rows if r.value is not None
    ]
    assert len(problems) == 0


@pytest.mark.parametrize(
    ("layout", "line"),
    [
        ("ir_measures", "sys2\tall\tV_strict\t0.5"),
        ("tot", "sys2 V_strict all 0.5"),
        ("rag4reports", "all sys2 V_strict 0.5"),
        ("ranking", "all Q0 sys2 1 0.5 V_strict"),
        ("trec_eval", "V_strict  all  0.5"),
    ],
)
def test_each_column_layout_of_other_tools_is_read_when_named(layout, line, write, problems):
    assert read_scores(write(line, name="sys2.txt"), problems, layout) == [row()]
    assert len(problems) == 0


def test_three_columns_are_trec_eval_with_the_run_named_by_the_file(write, problems, kinds):
    path = write("P_5 all 0.5", "runid all bm25", "map all 0.25", name="sys2.txt")
    assert read_scores(path, problems) == [row(measure="P_5"), row(measure="map", value=0.25)]
    assert kinds() == [(2, "header", "skipped")]


def test_a_header_is_mentioned_and_no_value_is_none(write, problems, kinds):
    path = write("run topic measure value", "sys2 1 V nan", "sys2 2 V None", name="x.txt")
    assert [score.value for score in read_scores(path, problems)] == [None, None]
    assert kinds() == [(1, "header", "skipped")]


def test_rows_that_are_no_scores_are_errors(write, problems, kinds):
    path = write("a 1 V 0.5", "a 1 V 0.6", "a 2 V inf", "a 2 V", "a 2 V high", name="x.txt")
    assert len(read_scores(path, problems)) == 1
    assert sorted(kinds()) == [
        (2, "duplicate_score", "error"),
        (3, "bad_score", "error"),
        (4, "bad_score", "error"),
        (5, "bad_score", "error"),
    ]


def test_json_rows_of_other_tools_need_four_fields(write, problems, kinds):
    good = {"run_id": "sys2", "topic_id": "all", "measure": "V_strict", "value": "0.5"}
    path = write(good, {**good, "topic_id": 1, "value": True}, {"run_id": "x", "value": 1})
    assert read_scores(path, problems)[0] == row()
    assert kinds() == [
        (2, "bad_field", "error"),
        (3, "missing_field", "error"),
        (3, "missing_field", "error"),
    ]


def test_a_name_with_a_space_leaves_neither_layout_half_written(tmp_path):
    with pytest.raises(ValueError, match="white space"):
        write_scores(tmp_path / "s.jsonl", tmp_path / "s.txt", [row(), row(run="my run")])
    assert list(tmp_path.iterdir()) == []


def test_only_mean_rows_say_over_how_many_topics(tmp_path):
    path = tmp_path / "scores.jsonl"
    write_scores(path, tmp_path / "s.txt", [row(topic="1"), row(n_topics=12)])
    assert ["n_topics" in line for line in path.read_text(encoding="utf-8").splitlines()] == [
        False,
        True,
    ]
