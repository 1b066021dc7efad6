import re

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.records import Claim, ClaimSet, Problems, claims_row, read_claims

IDS = {"topic_id": "1", "run_id": "r"}


def test_claims_are_texts_or_objects_with_a_label(write, problems):
    claims = ["Ebb.", {"text": "Flow.", "label": "Yes"}, {"claim": "Silt.", "label": None}]
    (found,) = read_claims(write({**IDS, "claims": claims}), problems)
    assert found.claims == (
        Claim(text="Ebb.", label=None),
        Claim(text="Flow.", label="yes"),
        Claim(text="Silt.", label=None),
    )
    assert len(problems) == 0


def test_claims_that_nobody_extracted_are_not_an_answer_without_claims(write, problems):
    rows = [{**IDS, "claims": None}, {**IDS, "run_id": "s", "claims": []}]
    assert [found.claims for found in read_claims(write(*rows), problems)] == [None, ()]
    assert len(problems) == 0


def test_any_other_label_is_not_judged_and_an_empty_claim_left_out(write, problems, kinds):
    claims = [{"text": "Ebb.", "label": "neutral"}, {"text": " ", "label": "yes"}]
    (found,) = read_claims(write({**IDS, "claims": claims}), problems)
    assert found.claims == (Claim(text="Ebb.", label=None),)
    assert kinds() == [(1, "label", "kept"), (1, "empty_claim", "skipped")]
    assert "claims[0].label is 'neutral', wanted no, yes; not judged" in str(problems.rows[0])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"run_id": "r", "claims": []}], ":1: field .*'topic_id' is missing"),
        ([{"topic_id": "1", "claims": []}], ":1: field 'run_id' is missing"),
        ([IDS], ":1: field 'claims' is missing"),
        ([{**IDS, "claims": "Ebb."}], ":1: field 'claims' is 'Ebb.', wanted a list"),
        ([{**IDS, "claims": [1]}], r":1: field 'claims\[0\]' is 1, wanted text or an object"),
        ([{**IDS, "claims": None}] * 2, ":2: the claims of run 'r', topic '1' are in line 1"),
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
    found = [
        ClaimSet(run_id=run_id, topic_id=topic_id, claims=claims)
        for (run_id, topic_id), claims in by_answer.items()
    ]
    path = tmp_path_factory.mktemp("claims") / "claims.jsonl"
    path.write_bytes(b"".join(orjson.dumps(claims_row(one)) + b"\n" for one in found))
    problems = Problems()
    assert list(read_claims(path, problems)) == found
    assert len(problems) == 0
