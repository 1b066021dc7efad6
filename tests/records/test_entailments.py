import re

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.records import Entailment, Problems, entailment_row, read_entailments

IDS = {"topic_id": "1", "run_id": "r", "key_point_id": "k"}


@pytest.mark.parametrize(
    ("written", "label"),
    [("yes", "yes"), (" Neutral ", "neutral"), ("NO", "no"), (None, None)],
)
def test_labels_are_read_in_any_case_and_null_is_not_judged(written, label, write, problems):
    (found,) = read_entailments(write({**IDS, "label": written}), problems)
    assert found == Entailment(**IDS, label=label)
    assert len(problems) == 0


@pytest.mark.parametrize("written", ["partly", "", 1, True, ["yes"]])
def test_any_other_label_is_not_judged_and_never_no(written, write, problems, kinds):
    (found,) = read_entailments(write({**IDS, "label": written}), problems)
    assert found.label is None
    assert kinds() == [(1, "label", "kept")]
    assert "wanted no, neutral, yes; not judged" in str(problems.rows[0])


def test_an_answer_to_the_question_whether_it_is_quoted_is_true_or_false(write, problems, kinds):
    rows = [
        {**IDS, "key_point_id": i, "label": "yes", "evidence": "Ebb.", "is_quoted": written}
        for i, written in enumerate((True, False, None, "yes"))
    ]
    found = list(read_entailments(write(*rows), problems))
    assert [one.is_quoted for one in found] == [True, False, None, None]
    assert {one.evidence for one in found} == {"Ebb."}
    assert kinds() == [(4, "is_quoted", "kept")]


def test_a_key_point_again_is_mentioned_and_with_another_label_an_error(write, problems, kinds):
    rows = [{**IDS, "label": label} for label in ("yes", "yes", "no")]
    rows += [{**IDS, "run_id": "other", "label": "no"}]
    found = list(read_entailments(write(*rows), problems))
    assert [(one.run_id, one.label) for one in found] == [("r", "yes"), ("other", "no")]
    assert kinds() == [(2, "duplicate_entailment", "kept"), (3, "duplicate_entailment", "error")]
    assert "has 'no' here and 'yes' before, wanted one label" in str(problems.rows[1])


@pytest.mark.parametrize("field", [*IDS, "label"])
def test_a_missing_field_is_an_error_and_the_line_is_not_read(field, write, problems):
    row = {name: value for name, value in {**IDS, "label": "yes"}.items() if name != field}
    assert list(read_entailments(write(row), problems)) == []
    assert re.search(rf":1: field '.*{field}.* is missing", str(problems.rows[0]))


SHARES = st.none() | st.floats(0, 1)
FOUND = st.builds(
    Entailment,
    run_id=st.text("ab7-", min_size=1),
    topic_id=st.text("ab7-", min_size=1),
    key_point_id=st.text("k7-", min_size=1),
    label=st.sampled_from(["yes", "neutral", "no", None]),
    evidence=st.text(st.characters(exclude_categories=["Cs"])),
    is_quoted=st.sampled_from([True, False, None]),
    score=SHARES,
    probabilities=st.none() | st.dictionaries(st.sampled_from(["yes", "no"]), st.floats(0, 1)),
)


@given(found=st.lists(FOUND, unique_by=lambda one: (one.run_id, one.topic_id, one.key_point_id)))
def test_entailments_are_read_as_they_were_written(found, tmp_path_factory):
    path = tmp_path_factory.mktemp("entailments") / "entailments.jsonl"
    path.write_bytes(b"".join(orjson.dumps(entailment_row(one)) + b"\n" for one in found))
    problems = Problems()
    assert list(read_entailments(path, problems)) == found
    assert len(problems) == 0
