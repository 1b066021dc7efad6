"""Lists of people with what they are made from, or one clear error."""

import pytest
from graded_labels import write_jsonl
from stamped import text_about, wanted_of, write_nugget_data

from nuggetjudge.calibration.list_examples import read_list_examples
from nuggetjudge.judges import (
    ClaimExtractor,
    KeyPointExtractor,
    Nuggetizer,
    SubQuestionGenerator,
)
from nuggetjudge.programs.config.sections import Config, DataConfig
from nuggetjudge.records.reading.problems import InputError, Problems


def read(path, judge, problems=None, **data):
    options = {name: data.pop(name) for name in ("limit", "seed") if name in data}
    config = Config(data=DataConfig(**data))
    problems = problems if problems is not None else Problems()
    return read_list_examples(path, judge("lexical"), config, problems, **options)


def test_nuggets_come_with_the_passages_of_their_topic_and_its_question(tmp_path):
    paths = write_nugget_data(tmp_path, 3)
    examples = read(paths["nuggets"], Nuggetizer, candidates=paths["candidates"])
    first = examples.items[0]
    assert (first.topic_id, first.question) == ("t0", "What of number 0?")
    assert list(first.wanted) == wanted_of(0)
    assert " ".join(first.made_from["passages"]) == text_about(0)
    assert examples.topics == ("t0", "t1", "t2")


def test_with_qrels_nuggets_are_made_from_relevant_passages_alone(tmp_path):
    paths = write_nugget_data(tmp_path, 4)
    qrels = tmp_path / "qrels.txt"
    rows = [f"t{i} 0 d{i}.{p} {p}\n" for i in range(3) for p in range(2)]
    qrels.write_text("".join(rows) + "t3 0 d3.0 0\n", encoding="utf-8")
    problems = Problems()
    examples = read(
        paths["nuggets"], Nuggetizer, problems, candidates=paths["candidates"], qrels=qrels
    )
    assert [len(item.made_from["passages"]) for item in examples.items] == [1, 1, 1]
    assert examples.n_without_text == 1
    assert any("t3 has nothing that it could be made from" in row.what for row in problems.rows)


def test_key_points_come_with_all_documents_and_their_spans(tmp_path):
    points = [
        {"qid": f"t{i}", "query": "Why?", "key_points": [{"text": "Rain.", "spans": ["It rained"]}]}
        for i in range(3)
    ]
    documents = [
        {"topic_id": f"t{i}", "docid": f"d{n}", "text": f"It rained on day {n}."}
        for i in range(3)
        for n in range(2)
    ]
    examples = read(
        write_jsonl(tmp_path / "points.jsonl", points),
        KeyPointExtractor,
        documents=write_jsonl(tmp_path / "documents.jsonl", documents),
    )
    assert examples.items[0].made_from["documents"] == [
        "It rained on day 0.",
        "It rained on day 1.",
    ]
    assert examples.items[0].spans == {"Rain.": ("It rained",)}


def test_claims_come_with_their_answer(tmp_path):
    claims = [
        {"topic_id": f"t{i}", "run_id": "r", "claims": ["It rained.", "It rained."]}
        for i in range(3)
    ]
    answers = [
        {"run_id": "r", "topic_id": f"t{i}", "references": [],
         "answer": [{"text": f"It rained on day {i}.", "citations": []}]}
        for i in range(3)
    ]  # fmt: skip
    examples = read(
        write_jsonl(tmp_path / "claims.jsonl", claims),
        ClaimExtractor,
        runs=(str(write_jsonl(tmp_path / "run.jsonl", answers)),),
    )
    assert examples.items[1].ids == {"topic_id": "t1", "run_id": "r"}
    assert examples.items[1].made_from == {"answer": "It rained on day 1."}
    assert examples.items[1].wanted == ("It rained.",)


def test_what_cannot_be_fitted_to_is_one_error(tmp_path):
    paths = write_nugget_data(tmp_path, 2)
    with pytest.raises(InputError, match=r"makes its lists from data\.candidates; name them"):
        read(paths["nuggets"], Nuggetizer)
    with pytest.raises(InputError, match=r"lists of 2 topics, wanted 3 or more"):
        read(paths["nuggets"], Nuggetizer, candidates=paths["candidates"])
    with pytest.raises(InputError, match="a file of nuggets, wanted questions, which subquestions"):
        read(paths["nuggets"], SubQuestionGenerator, reference=paths["candidates"])
