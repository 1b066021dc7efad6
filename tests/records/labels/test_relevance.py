from collections import Counter

from nuggetjudge.records import RelevanceLabel, read_relevance, relevance_row

UMBRELA = {
    "model": "m",
    "query": "tidal power",
    "passage": "Turbines turn.",
    "prediction": "final score: 2",
    "judgment": 2,
    "result_status": 1,
    "qid": "12",
    "docid": "s1",
}


def test_a_reply_that_umbrela_could_not_parse_is_not_judged(write, problems, kinds):
    path = write(UMBRELA, {**UMBRELA, "docid": "s2", "judgment": 0, "result_status": 0})
    assert list(read_relevance(path, problems)) == [
        RelevanceLabel(topic_id="12", passage_id="s1", grade=2),
        RelevanceLabel(topic_id="12", passage_id="s2", grade=None),
    ]
    assert kinds() == [(2, "unparsed", "kept")]


def test_our_own_rows_are_read_as_they_were_written(write, problems):
    labels = [RelevanceLabel(topic_id="1", passage_id=str(g), grade=g) for g in (0, 3, None)]
    assert list(read_relevance(write(*map(relevance_row, labels)), problems)) == labels
    assert len(problems) == 0


def test_judgements_that_no_passage_can_be_found_for_are_errors(write, problems, kinds):
    path = write(
        {key: UMBRELA[key] for key in UMBRELA if key not in ("qid", "docid")},
        UMBRELA,
        {**UMBRELA, "judgment": 1},
        UMBRELA,
        {**UMBRELA, "docid": "s9", "judgment": 1.5},
    )
    assert [label.grade for label in read_relevance(path, problems)] == [2, None]
    assert kinds() == [
        (1, "missing_field", "error"),
        (1, "missing_field", "error"),
        (3, "duplicate_grade", "error"),
        (4, "duplicate_grade", "kept"),
        (5, "grade", "kept"),
    ]


def test_real_pairs_have_the_published_number_of_labels(shared_data, problems):
    n = {
        folder: Counter(
            label.grade for label in read_relevance(shared_data / folder / "pairs.jsonl", problems)
        ).total()
        for folder in ("rag24_relevance", "dl23_llmjudge")
    }
    assert n == {"rag24_relevance": 1015, "dl23_llmjudge": 2762}
    assert len(problems) == 0
