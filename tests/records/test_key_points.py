import re

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.records import (
    KeyPoint,
    KeyPointSet,
    Problems,
    key_point_ids,
    key_point_set_row,
    nugget_ids,
    read_key_point_sets,
)

TIDES = ["Turbines turn with the tide.", "Silt wears them down."]


@pytest.mark.parametrize(
    "row",
    [
        {"qid": "12", "query": "tidal power", "key_points": TIDES},
        {"topic_id": 12, "query": "tidal power", "key_points": [{"text": t} for t in TIDES]},
        {"query_id": "12", "title": "tidal power", "key_points": [{"key_point": t} for t in TIDES]},
        {"qid": "12", "query": "tidal power",
         "key_points": [{"text": t, "id": None, "spans": None, "sources": []} for t in TIDES]},
    ],
)  # fmt: skip
def test_every_layout_gives_the_same_key_points(row, write, problems):
    named = zip(key_point_ids(TIDES), TIDES, strict=True)
    points = tuple(KeyPoint(id=name, text=text) for name, text in named)
    assert read_key_point_sets(write(row), problems) == {
        "12": KeyPointSet(topic_id="12", query="tidal power", key_points=points)
    }
    assert len(problems) == 0


def test_an_id_depends_on_the_text_alone_and_tells_key_points_from_nuggets():
    one, two = key_point_ids(TIDES)
    assert key_point_ids(["Silt  wears\nthem down."]) == [two]
    assert one.startswith("k")
    assert [name[1:] for name in nugget_ids(TIDES)] == [one[1:], two[1:]]
    assert key_point_ids([TIDES[0]] * 3) == [one, f"{one}-2", f"{one}-3"]


def test_ids_spans_and_sources_of_the_file_are_kept(write, problems):
    point = {"id": "k1", "text": "Silt.", "spans": ["silt wears", "of silt"], "sources": ["d1", 2]}
    row = {"qid": "12", "query": "q", "key_points": [point]}
    (found,) = read_key_point_sets(write(row), problems)["12"].key_points
    assert found == KeyPoint(
        id="k1", text="Silt.", spans=("silt wears", "of silt"), sources=("d1", "2")
    )
    assert len(problems) == 0


def test_what_is_odd_is_read_around_and_listed(write, problems, kinds):
    points = [
        " ",
        {"text": "a", "spans": "a", "sources": 3},
        {"text": "b", "spans": ["b", "", 7], "sources": ["d", None, "e"]},
        "a",
    ]
    found = read_key_point_sets(write({"qid": "1", "key_points": points}), problems)["1"]
    assert [(p.text, p.spans, p.sources) for p in found.key_points] == [
        ("a", (), ()),
        ("b", ("b",), ("d", "e")),
        ("a", (), ()),
    ]
    assert found.key_points[2].id == f"{found.key_points[0].id}-2"
    assert kinds() == [
        (1, "no_query", "kept"),
        (1, "empty_key_point", "skipped"),
        (1, "bad_spans", "kept"),
        (1, "bad_sources", "kept"),
        (1, "bad_spans", "kept"),
        (1, "bad_sources", "kept"),
        (1, "duplicate_key_point", "kept"),
    ]
    assert "key_points[2].spans: 2 of 3 are empty or no text; left out" in str(problems.rows[4])
    assert "key_points[3] has the text of a key point before it" in str(problems.rows[6])


def test_a_topic_without_key_points_is_there_and_mentioned(write, problems, kinds):
    found = read_key_point_sets(write({"qid": "1", "query": "q", "key_points": []}), problems)
    assert found["1"].key_points == ()
    assert kinds() == [(1, "no_key_points", "kept")]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"key_points": ["a"]}], ":1: field 'qid' or"),
        ([{"qid": "1", "nuggets": ["a"]}], ":1: field 'key_points' is missing"),
        ([{"qid": "1", "key_points": "a"}], ":1: field 'key_points' is 'a', wanted a list"),
        ([{"qid": "1", "key_points": [3]}], r"'key_points\[0\]' is 3, wanted text or an object"),
        ([{"qid": "1", "key_points": [{"id": "k"}]}], r"'key_points\[0\].text' or .* is missing"),
        (
            [{"qid": "1", "key_points": [{"id": "k", "text": "a"}, {"id": "k", "text": "b"}]}],
            r":1: key_points\[1\] has the id 'k', which key_points\[0\] has too",
        ),
        ([{"qid": "1", "key_points": ["a"]}] * 2, ":2: topic '1' has key points already"),
    ],
)
def test_what_is_no_set_of_key_points_is_an_error_with_its_place(rows, message, write, problems):
    read_key_point_sets(write(*rows), problems)
    errors = [str(problem) for problem in problems if problem.action == "error"]
    assert re.search(message, errors[0])


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)
POINTS = st.builds(
    KeyPoint,
    id=st.text("abk7-", min_size=1),
    text=TEXTS,
    spans=st.lists(TEXTS, max_size=2).map(tuple),
    sources=st.lists(st.text("d0:#", min_size=1), max_size=2).map(tuple),
)


@given(
    sets=st.dictionaries(
        st.text("ab7-", min_size=1),
        st.tuples(TEXTS, st.lists(POINTS, max_size=3, unique_by=lambda point: point.id)),
        max_size=3,
    )
)
def test_key_points_are_read_as_they_were_written(sets, tmp_path_factory):
    given_sets = {
        topic: KeyPointSet(topic_id=topic, query=query, key_points=tuple(points))
        for topic, (query, points) in sets.items()
    }
    path = tmp_path_factory.mktemp("points") / "keypoints.jsonl"
    rows = [orjson.dumps(key_point_set_row(one)) + b"\n" for one in given_sets.values()]
    path.write_bytes(b"".join(rows))
    problems = Problems()
    assert read_key_point_sets(path, problems) == given_sets
    problems.raise_errors()
