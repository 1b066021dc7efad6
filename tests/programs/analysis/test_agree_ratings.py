"""Ratings of sub-questions against ratings, and against labels of people, in every layout."""

import json

import pytest

from nuggetjudge.programs.analysis.agree import agree
from nuggetjudge.records.reading.problems import Problems

LLM = [
    {"id": "t1", "docid": "t1:0#0", "rating": [5, 0, 3]},
    {"id": "t1", "docid": "t1:0#1", "rating": [4, -1, 1]},
    {"id": "t2", "docid": "t2:0#0", "rating": [0, 2]},
]
PEOPLE = [
    {"id": "t1", "document": "t1:0#0", "relevances": {"0": 5, "1": 1, "2": -1}},
    {"id": "t1", "document": "t1:0#1", "relevances": {"0": 3, "1": 0, "2": 1}},
    {"id": "t2", "document": "t2:0#0", "relevances": {"1": 2}},
]


def write(path, rows):
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def label_rows():
    """The labels of PEOPLE, each in a row."""
    for row in PEOPLE:
        for question, label in row["relevances"].items():
            ids = {"topic_id": row["id"], "docid": row["document"], "question_idx": question}
            yield {**ids, "label": None if label == -1 else label}


@pytest.fixture
def judged(tmp_path):
    """A results folder; a file in it is there too."""
    write(tmp_path / "results" / "ratings.jsonl", LLM)
    return tmp_path / "results"


def check(figures):
    """Five cells have both: 5-5, 1-0, 3-4, 1-1, 2-2; by chance .16 of them agree."""
    assert (figures["kind"], figures["n"], figures["n_topics"]) == ("ratings", 5, 2)
    assert figures["scale"] == ["0", "1", "2", "3", "4", "5"]
    assert figures["accuracy"] == 0.6
    assert figures["cohen_kappa"]["unweighted"] == pytest.approx((0.6 - 0.16) / (1 - 0.16))
    assert (figures["n_human_only"], figures["n_judged_only"]) == (1, 2)  # t1:0#1 1; t1:0#0 2, t2 0
    assert figures["n_judged_unlabelled"] == 1


def test_two_files_of_ratings_are_compared_by_topic_text_and_column(judged, tmp_path):
    people = write(tmp_path / "people.jsonl", PEOPLE)
    check(agree(people, judged / "ratings.jsonl", Problems(), resamples=0))


def test_a_results_folder_gives_its_ratings_to_label_rows(judged, tmp_path):
    people = write(tmp_path / "people.jsonl", label_rows())
    check(agree(people, judged, Problems(), resamples=0))
    check(agree(people, judged, Problems(), kind="ratings", resamples=0))


def test_two_folders_are_compared_by_their_ratings(judged, tmp_path):
    rows = [{**row, "rating": row["rating"][:1]} for row in LLM]
    other = write(tmp_path / "other" / "ratings.jsonl", rows).parent
    figures = agree(judged, other, Problems(), resamples=0)
    assert (figures["kind"], figures["n"], figures["accuracy"]) == ("ratings", 3, 1.0)


def test_annotators_of_the_same_questions_are_compared(judged, tmp_path):
    rows = [{**row, "annotator": name} for row in label_rows() for name in ("ann", "ben")]
    rows[0]["label"] = 2  # ann, where ben says 5
    people = write(tmp_path / "people.jsonl", rows)
    among = agree(people, None, Problems(), resamples=0)["annotators"]["among"]
    assert among["pairwise_kappa"]["n_pairs"] == 1
    figures = agree(people, judged, Problems(), resamples=0)
    assert (figures["n"], figures["n_human_unlabelled"]) == (4, 2)  # no majority, nobody labelled


def test_real_ratings_are_those_that_stand_beside_the_labels_of_people(shared_data, tmp_path):
    """human_t2.jsonl repeats the model's rating in a field of its own."""
    folder = shared_data / "crux_duc"
    rows = [json.loads(line) for line in (folder / "human_t2.jsonl").open(encoding="utf-8")]
    known = [
        row
        for row in rows
        if row["passage_available"] and row["llm_rating_llama33_70b"] is not None
    ]
    fields = ("qid", "docid", "question_idx")
    labels = [{**{f: r[f] for f in fields}, "label": r["llm_rating_llama33_70b"]} for r in known]
    figures = agree(
        write(tmp_path / "labels.jsonl", labels),
        folder / "llm_ratings.jsonl",
        Problems(),
        resamples=0,
    )
    assert figures["accuracy"] == 1.0
    assert figures["n"] == len(known) > 50
    assert figures["n_human_only"] == 0
