"""The smoke collection of TREC AutoJudge's starter kit, from run files to a verified export."""

import csv
import json
from pathlib import Path

import pytest
from json_lines import read_rows
from mock_server import MockServer
from ragdoll_folder import ragdoll, scores

from nuggetjudge.plugins.exports import tools
from nuggetjudge.records.nuggets import read_nugget_banks
from nuggetjudge.records.reading.problems import InputError, Problems
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
    assert f"Identical: recomputed offline from {n_asked} stored replies." in ran.out

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


# Grades leave as the RAG track takes them: the confidence is the judge's, or 1.
ROWS = [
    {"passage_id": "s1", "grade": 3, "probabilities": {"2": 0.25, "3": 0.75}},
    {"passage_id": "s3", "grade": 4, "votes": {"a": "4", "b": "4", "c": "1", "d": None}},
    {"passage_id": "s2", "grade": 0},
    {"passage_id": "s4", "grade": None},
]


@pytest.fixture
def results(tmp_path):
    rows = [{"topic_id": "12", **row} for row in ROWS]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "relevance.jsonl").write_text(text, encoding="utf-8")
    return tmp_path


def test_a_confidence_is_a_probability_a_share_of_votes_or_one(results):
    out = results / "grades.tsv"
    counts = tools.write_qrels(results, out, "mine")
    assert out.read_text(encoding="utf-8").splitlines() == [
        "12 Q0 s1 3 0.75 mine", "12 Q0 s2 0 1 mine", "12 Q0 s3 4 0.666667 mine",
    ]  # fmt: skip
    assert (counts.n, counts.n_sure, counts.n_unjudged) == (3, 2, 1)
    assert read_qrels(out, Problems()) == {"12": {"s1": 3, "s2": 0, "s3": 4}}


def test_what_cannot_be_written_is_said(results, tmp_path_factory):
    with pytest.raises(InputError, match="white space"):
        tools.write_qrels(results, results / "out.tsv", "my judge")
    with pytest.raises(InputError, match=r"has no relevance\.jsonl"):
        tools.write_qrels(tmp_path_factory.mktemp("other"), results / "out.tsv", "mine")


# Teams with a folder of RAGDoll or nuggetizer can go back to it.
__all__ = ["ragdoll"]
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def demo(judge, tmp_path):
    """The demo judged by words, in all three ways that RAGDoll knows."""
    config = ROOT / "tests" / "collection" / "judge.yaml"
    programs = "program=[relevance,nuggets,support]"
    ran = judge("run", str(config), "--set", programs, "--out", "ours", "--quiet")
    assert ran.code == 0, ran.err
    return tmp_path / "ours"


def test_a_round_trip_through_their_layout_changes_no_label(judge, demo, tmp_path):
    assert judge("export", "ragdoll", "ours", "theirs").code == 0
    for kind, n in (("nuggets", 380), ("support", 100), ("relevance", 50)):
        ran = judge("compare", "theirs", "ours", "--as", "judges", "--kind", kind, "--json")
        assert ran.code == 0, ran.err
        report = ran.rows[0]
        assert (report["n_flips"], report["agreement"]["n"]) == (0, n)
    before, after = (scores(judge("score", name, "--json")) for name in ("ours", "theirs"))
    shared = {cell for cell in before if "rel" not in cell[1] and "nDCG" not in cell[1]}
    assert len(shared) > 40
    for cell in shared:
        assert after[cell]["value"] == before[cell]["value"], cell


def test_what_was_not_judged_is_minus_one_and_failed_there(judge, ragdoll, tmp_path):
    ran = judge("export", "ragdoll", str(ragdoll), "again")
    assert ran.code == 0, ran.err
    assert "3 judgements failed" in ran.err
    again = tmp_path / "again"
    for name in ("assignments.jsonl", "support_assignments.jsonl"):
        assert read_rows(again / name) == read_rows(ragdoll / name)
    with (again / "metrics" / "cell_metrics.csv").open(encoding="utf-8") as file:
        one, _ = csv.DictReader(file)
    assert (one["strict_vital_score"], one["failed_count"]) == ("1.0", "1")
    assert {r["run_id"]: r["hard_precision"] for r in read_rows(again / "support_metrics.jsonl")} \
        == {"r1": 0.5, "r2": 0.0}  # fmt: skip


def test_nuggetizers_layout_has_its_own_names_and_nothing_of_ours(judge, demo, tmp_path):
    assert judge("export", "nuggetizer", "ours", "theirs").code == 0
    rows = {path.stem: read_rows(path) for path in (tmp_path / "theirs").glob("*.jsonl")}
    assert {name: len(of) for name, of in rows.items()} == {
        "nuggets": 5, "assignments": 19, "metrics": 23,
    }  # fmt: skip
    assert set(rows["nuggets"][0]["nuggets"][0]) == {"text", "importance"}
    assert set(rows["assignments"][0]["nuggets"][0]) == {"text", "importance", "assignment"}
    means = {row["run_id"]: row for row in rows["metrics"] if row["qid"] == "all"}
    ours = scores(judge("score", "ours", "--json"))
    assert means["complete"]["vital_score"] == ours["complete", "V"]["value"]


# Every command reads a folder of RAGDoll or nuggetizer.
SUPPORT_METRICS = {  # -1 leaves both denominators there, an uncited sentence stays in recall's
    "r1": {"weighted_precision_first_citation": 0.75, "weighted_recall_first_citation": 0.5},
    "r2": {"weighted_precision_first_citation": 0.0, "weighted_recall_first_citation": 0.0},
}


def test_a_failed_call_of_theirs_is_no_score_but_widens_the_bounds(judge, ragdoll):
    ran = judge("score", str(ragdoll), "--json")
    assert ran.code == 0, ran.err
    of = scores(ran)
    strict = of["r1", "V_strict"]
    # By hand: one of two vital nuggets is judged, and stated.
    assert (strict["value"], strict["low"], strict["high"]) == (1.0, 0.5, 1.0)
    assert (strict["n"], strict["n_unjudged"]) == (1, 1)
    assert of["r2", "support_precision"]["value"] == 0.0
    assert of["r2", "support_precision"]["n_unjudged"] == 1
    for run, metrics in SUPPORT_METRICS.items():
        for theirs, ours in (("precision", "support_precision"), ("recall", "support_recall")):
            assert of[run, ours]["value"] == metrics[f"weighted_{theirs}_first_citation"]
    # Their table, which takes the failed nugget for one that is missing, is held against it.
    assert "other_metrics" in ran.err
    assert "4 of 8 values" in ran.err


def test_their_reasons_and_texts_are_shown_beside_an_answer(judge, ragdoll):
    ran = judge("show", str(ragdoll), "r2", "t1", "--passages")
    assert ran.code == 0, ran.err
    assert "how tides work" in ran.out
    assert "Sentence 1 of r2." in ran.out
    assert "not judged (unparseable)" in ran.out
    assert "could not parse support label" in ran.out
    assert "The text of d00." in ran.out


def test_a_broken_line_names_their_file_and_not_a_temporary_one(judge, ragdoll):
    with (ragdoll / "assignments.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"qid": "t1", "run_id": "r3", "nuggets": "none"}\n')
    ran = judge("score", str(ragdoll))
    assert ran.code == 2
    assert "theirs/assignments.jsonl:3" in ran.err
    assert "a list" in ran.err


def test_six_columns_come_back_as_they_were_written(tmp_path):
    path = tmp_path / "q.tsv"
    rows = [("9", "b", 4, 0.5), ("9", "a", 4, 1.0)]
    assert tools.write_confident_qrels(path, rows, "mine") == 2
    assert path.read_text() == "9 Q0 a 4 1 mine\n9 Q0 b 4 0.5 mine\n"
    assert read_qrels(path, Problems()) == {"9": {"a": 4, "b": 4}}
    with pytest.raises(ValueError, match="white space"):
        tools.write_confident_qrels(path, rows, "my run")
