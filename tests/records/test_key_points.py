import re

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.records import (
    Claim,
    ClaimSet,
    Entailment,
    KeyPoint,
    KeyPointSet,
    Problems,
    claims_row,
    entailment_row,
    key_point_ids,
    key_point_set_row,
    nugget_ids,
    read_claims,
    read_entailments,
    read_key_point_sets,
)
from nuggetjudge.records.judgements import Evidence, make_quote

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
    (key_point,) = read_key_point_sets(write(row), problems)["12"].key_points
    assert key_point == KeyPoint(
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
    point_set = read_key_point_sets(write({"qid": "1", "key_points": points}), problems)["1"]
    assert [(p.text, p.spans, p.sources) for p in point_set.key_points] == [
        ("a", (), ()),
        ("b", ("b",), ("d", "e")),
        ("a", (), ()),
    ]
    assert point_set.key_points[2].id == f"{point_set.key_points[0].id}-2"
    assert kinds() == [
        (1, "no_query", "kept"),
        (1, "empty_key_point", "skipped"),
        (1, "bad_spans", "kept"),
        (1, "bad_sources", "kept"),
        (1, "bad_spans", "kept"),
        (1, "bad_sources", "kept"),
        (1, "duplicate_key_point", "kept"),
    ]
    assert "key_points[2].spans: 2 of 3 are empty or not text; left out" in str(problems.rows[4])
    assert "key_points[3] has the text of a key point before it" in str(problems.rows[6])


def test_a_topic_without_key_points_is_there_and_mentioned(write, problems, kinds):
    point_sets = read_key_point_sets(write({"qid": "1", "query": "q", "key_points": []}), problems)
    assert point_sets["1"].key_points == ()
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
            r":1: key_points\[1\] has the id 'k', the id of key_points\[0\]",
        ),
        ([{"qid": "1", "key_points": ["a"]}] * 2, ":2: topic '1' already has key points"),
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


CELL = {"topic_id": "1", "run_id": "r", "key_point_id": "k"}


@pytest.mark.parametrize(
    ("written", "label"),
    [("yes", "yes"), (" Neutral ", "neutral"), ("NO", "no"), (None, None)],
)
def test_labels_of_entailments_are_read_in_any_case_and_null_is_not_judged(
    written, label, write, problems
):
    (entailment,) = read_entailments(write({**CELL, "label": written}), problems)
    assert entailment == Entailment(**CELL, label=label)
    assert len(problems) == 0


@pytest.mark.parametrize("written", ["partly", "", 1, True, ["yes"]])
def test_any_other_label_of_an_entailment_is_not_judged_and_never_no(
    written, write, problems, kinds
):
    (entailment,) = read_entailments(write({**CELL, "label": written}), problems)
    assert entailment.label is None
    assert kinds() == [(1, "label", "kept")]
    assert "wanted no, neutral, yes; not judged" in str(problems.rows[0])


def test_an_answer_to_the_question_whether_it_is_quoted_is_true_or_false(write, problems, kinds):
    rows = [
        {**CELL, "key_point_id": i, "label": "yes", "evidence": "Ebb.", "is_quoted": written}
        for i, written in enumerate((True, False, None, "yes"))
    ]
    entailments = list(read_entailments(write(*rows), problems))
    assert [one.is_quoted for one in entailments] == [True, False, None, None]
    assert {(e.of, e.quote, e.start) for one in entailments for e in one.evidence} == {
        ("response", "Ebb.", None)
    }
    assert kinds() == [(4, "is_quoted", "kept")]


def test_a_key_point_again_is_mentioned_and_with_another_label_an_error(write, problems, kinds):
    rows = [{**CELL, "label": label} for label in ("yes", "yes", "no")]
    rows += [{**CELL, "run_id": "other", "label": "no"}]
    entailments = list(read_entailments(write(*rows), problems))
    assert [(one.run_id, one.label) for one in entailments] == [("r", "yes"), ("other", "no")]
    assert kinds() == [(2, "duplicate_entailment", "kept"), (3, "duplicate_entailment", "error")]
    assert "has 'no' here and 'yes' before, wanted one label" in str(problems.rows[1])


TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
SHARES = st.none() | st.floats(0, 1)
ENTAILMENTS = st.builds(
    Entailment,
    run_id=st.text("ab7-", min_size=1),
    topic_id=st.text("ab7-", min_size=1),
    key_point_id=st.text("k7-", min_size=1),
    label=st.sampled_from(["yes", "neutral", "no", None]),
    evidence=st.lists(
        st.builds(
            Evidence,
            of=st.sampled_from(["", "response"]),
            quote=TEXTS,
            is_quoted=st.sampled_from([True, False, None]),
        )
        | st.builds(make_quote, st.just("response"), TEXTS, st.just(0), st.integers(1, 9)),
        max_size=2,
    ).map(tuple),
    rationale=st.none() | TEXTS,
    score=SHARES,
    probabilities=st.none() | st.dictionaries(st.sampled_from(["yes", "no"]), st.floats(0, 1)),
)


@given(
    written=st.lists(
        ENTAILMENTS, unique_by=lambda one: (one.run_id, one.topic_id, one.key_point_id)
    )
)
def test_entailments_are_read_as_they_were_written(written, tmp_path_factory):
    path = tmp_path_factory.mktemp("entailments") / "entailments.jsonl"
    path.write_bytes(b"".join(orjson.dumps(entailment_row(one)) + b"\n" for one in written))
    problems = Problems()
    assert list(read_entailments(path, problems)) == written
    assert len(problems) == 0


ANSWER = {"topic_id": "1", "run_id": "r"}


def test_claims_are_texts_or_objects_with_a_label(write, problems):
    claims = ["Ebb.", {"text": "Flow.", "label": "Yes"}, {"claim": "Silt.", "label": None}]
    (claim_set,) = read_claims(write({**ANSWER, "claims": claims}), problems)
    assert claim_set.claims == (
        Claim(text="Ebb.", label=None),
        Claim(text="Flow.", label="yes"),
        Claim(text="Silt.", label=None),
    )
    assert len(problems) == 0


def test_claims_that_nobody_extracted_are_not_an_answer_without_claims(write, problems):
    rows = [{**ANSWER, "claims": None}, {**ANSWER, "run_id": "s", "claims": []}]
    assert [claim_set.claims for claim_set in read_claims(write(*rows), problems)] == [None, ()]
    assert len(problems) == 0


def test_any_other_label_of_a_claim_is_not_judged_and_an_empty_claim_left_out(
    write, problems, kinds
):
    claims = [{"text": "Ebb.", "label": "neutral"}, {"text": " ", "label": "yes"}]
    (claim_set,) = read_claims(write({**ANSWER, "claims": claims}), problems)
    assert claim_set.claims == (Claim(text="Ebb.", label=None),)
    assert kinds() == [(1, "label", "kept"), (1, "empty_claim", "skipped")]
    assert "claims[0].label is 'neutral', wanted no, yes; not judged" in str(problems.rows[0])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"run_id": "r", "claims": []}], ":1: field .*'topic_id' is missing"),
        ([{"topic_id": "1", "claims": []}], ":1: field 'run_id' is missing"),
        ([ANSWER], ":1: field 'claims' is missing"),
        ([{**ANSWER, "claims": "Ebb."}], ":1: field 'claims' is 'Ebb.', wanted a list"),
        ([{**ANSWER, "claims": [1]}], r":1: field 'claims\[0\]' is 1, wanted text or an object"),
        (
            [{**ANSWER, "claims": None}] * 2,
            ":2: the claims of run 'r', topic '1' are already in line 1",
        ),
    ],
)
def test_what_is_no_set_of_claims_is_an_error_with_its_place(rows, message, write, problems):
    list(read_claims(write(*rows), problems))
    errors = [str(problem) for problem in problems if problem.action == "error"]
    assert re.search(message, errors[0])


CLAIMS = st.builds(
    Claim,
    text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip),
    label=st.sampled_from(["yes", "no", None]),
)


@given(
    by_answer=st.dictionaries(
        st.tuples(st.text("ab7-", min_size=1), st.text("ab7-", min_size=1)),
        st.none() | st.lists(CLAIMS, max_size=3).map(tuple),
    )
)
def test_claims_are_read_as_they_were_written(by_answer, tmp_path_factory):
    claim_sets = [
        ClaimSet(run_id=run_id, topic_id=topic_id, claims=claims)
        for (run_id, topic_id), claims in by_answer.items()
    ]
    path = tmp_path_factory.mktemp("claims") / "claims.jsonl"
    path.write_bytes(b"".join(orjson.dumps(claims_row(one)) + b"\n" for one in claim_sets))
    problems = Problems()
    assert list(read_claims(path, problems)) == claim_sets
    assert len(problems) == 0
