"""Scores again from files: what can be scored, and that no run vanishes."""

import json

import pytest

import nuggetjudge as nj
from nuggetjudge.programs.scoring.score import score_path
from nuggetjudge.records.reading.problems import InputError, Problems


def rows(*objects):
    return "".join(json.dumps(row) + "\n" for row in objects)


def answer(run_id, topic):
    sentence = {"text": "The moon pulls the sea.", "citations": []}
    return {"run_id": run_id, "topic_id": topic, "references": [], "answer": [sentence]}


@pytest.fixture
def result(tmp_path):
    """Run c answers the second topic alone, which the limit leaves out."""
    (tmp_path / "topics.tsv").write_text("t1\twhy tides\nt2\twhy waves\n")
    (tmp_path / "runs.jsonl").write_text(rows(answer("a", "t1"), answer("c", "t2")))
    nugget = {"text": "The moon pulls the sea", "importance": "vital"}
    (tmp_path / "bank.jsonl").write_text(rows({"qid": "t1", "query": "-", "nuggets": [nugget]}))
    return nj.run(
        program="nuggets",
        topics=tmp_path / "topics.tsv",
        runs=str(tmp_path / "runs.jsonl"),
        nuggets=tmp_path / "bank.jsonl",
        out=tmp_path / "out",
        limit=1,
    )


def test_a_run_without_an_answer_to_any_topic_has_0_in_the_run_and_when_scored_again(result):
    again = score_path(result.folder, Problems())
    assert again == result.scores
    assert {row.run_id: row.value for row in again if row.measure == "A"} == {"a": 1.0, "c": 0.0}


def test_other_topics_can_be_demanded_of_a_folder(result, tmp_path):
    scores = score_path(result.folder, Problems(), topics=tmp_path / "topics.tsv")
    (mean,) = (r for r in scores if (r.run_id, r.topic_id, r.measure) == ("a", "all", "A"))
    assert (mean.value, mean.n_topics) == (0.5, 2)


def test_a_file_that_does_not_say_what_its_judgements_weigh_is_not_scored_alone(tmp_path):
    path = tmp_path / "entailments.jsonl"
    ids = {"topic_id": "t", "run_id": "a", "key_point_id": "k"}
    path.write_text(rows({**ids, "label": "yes", "evidence": "x", "is_quoted": True}))
    with pytest.raises(InputError, match="holds entailments, wanted nugget assignments"):
        score_path(path, Problems())


def test_a_folder_without_the_files_of_its_programs_is_told(result):
    (result.folder / "assignments.jsonl").unlink()
    with pytest.raises(InputError, match="has none of the files that a run leaves"):
        score_path(result.folder, Problems())
