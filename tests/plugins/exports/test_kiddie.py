"""The smoke collection of TREC AutoJudge's starter kit, from run files to a verified export."""

import json

import pytest
from mock_server import MockServer

from nuggetjudge.records.nuggets import read_nugget_banks
from nuggetjudge.records.reading.problems import Problems
from nuggetjudge.records.relevance import read_qrels
from nuggetjudge.records.scores import read_scores

BASE = "nuggets-relevance-support"


def candidates_of(kiddie, rows_of):
    """The documents that the reports carry, as candidates of their topics."""
    documents_by_topic = {}
    for path in sorted((kiddie / "runs").glob("*.jsonl")):
        for row in rows_of(path):
            documents_by_topic.setdefault(row["metadata"]["topic_id"], {}).update(row["documents"])
    for topic_id, documents in documents_by_topic.items():
        docs = [{"docid": name, "score": 1.0, "doc": {"segment": document["text"]}}
                for name, document in documents.items()]  # fmt: skip
        yield {"query": {"qid": topic_id, "text": topic_id}, "candidates": docs}


@pytest.mark.slow
def test_kiddie_is_judged_exported_and_replayed_with_every_endpoint_down(
    judge, tmp_path, shared_data, rows_of
):
    kiddie = shared_data / "kiddie_smoke"
    rows = list(candidates_of(kiddie, rows_of))
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "candidates.jsonl").write_text(text, encoding="utf-8")
    with MockServer() as server:
        ran = judge(
            "run", "nuggets,relevance,support", "--topics", kiddie / "topics/kiddie-topics.jsonl",
            "--candidates", "candidates.jsonl", "--runs", kiddie / "runs", "--quiet",
            "--model", "hosted_vllm/mock", "--api-base", server.base_url, "--out", "out",
        )  # fmt: skip
        assert ran.code == 0, ran.err
        n_asked = len(server.requests)
    ran = judge("export", "autojudge", "out", "aj")
    assert ran.code == 0, ran.err
    assert f"Replies by endpoint: default {n_asked}" in ran.err
    ran = judge("verify", "aj")
    assert ran.code == 0, ran.out
    assert f"The same bytes, from {n_asked} held replies, with no network." in ran.out

    problems = Problems()
    banks = read_nugget_banks(tmp_path / f"aj/{BASE}.nuggets.jsonl", problems)
    assert list(banks) == [row["query"]["qid"] for row in rows]
    qrels = read_qrels(tmp_path / f"aj/{BASE}.qrels.txt", problems)
    assert {t: set(grades) for t, grades in qrels.items()} == {
        row["query"]["qid"]: {doc["docid"] for doc in row["candidates"]} for row in rows
    }
    board = read_scores(tmp_path / f"aj/{BASE}.eval.txt", problems, "ir_measures")
    assert {row.run_id for row in board} == {"run1", "run2", "run3", "run4"}
    ours = {(r.run_id, r.topic_id, r.measure): r.value
            for r in read_scores(tmp_path / "out/scores.jsonl", problems)}  # fmt: skip
    assert all(ours[r.run_id, r.topic_id, r.measure] == r.value for r in board)
    assert not list(problems)
