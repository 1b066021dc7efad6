"""A folder as RAGDoll leaves it, and the scores of a command."""

import pytest
from json_lines import write_rows

# Of two answers; RAGDoll's own functions (castorini/RAGDoll 1f06719) give the metrics below for it.
ASSIGNMENTS = [
    ("r1", [("support", "vital"), ("failed", "vital"), ("partial_support", "okay")]),
    ("r2", [("not_support", "vital"), ("not_support", "vital"), ("support", "okay")]),
]
CELL_METRICS = """qid,run_id,strict_vital_score,strict_all_score,vital_score,all_score
t1,r1,0.5,0.333333,0.5,0.5
t1,r2,0.0,0.333333,0.0,0.333333
"""
SUPPORT = {"r1": [["2", "-1"], ["1"], []], "r2": [["-1"], ["0"]]}


def write_lines(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    write_rows(path, rows)


@pytest.fixture
def ragdoll(tmp_path):
    """A folder as RAGDoll leaves it, with failed calls and the file that says why."""
    folder = tmp_path / "theirs"
    assigned = [
        {
            "task_id": f"{run}:t1", "status": "completed", "qid": "t1", "run_id": run,
            "query": "how tides work", "answer_text": f"Answer of {run}.", "response_length": 3,
            "context": f"Answer of {run}.",
            "nuggets": [{"text": f"fact {i}", "importance": worth, "assignment": label}
                        for i, (label, worth) in enumerate(labels)],
        }
        for run, labels in ASSIGNMENTS
    ]  # fmt: skip
    write_lines(folder / "assignments.jsonl", assigned)
    supported = [
        {
            "topic_id": "t1", "narrative_id": "t1", "run_id": run,
            "sentences": [
                {"sentenceID": i, "text": f"Sentence {i} of {run}.",
                 "citations": [{"citationID": k, "reference": f"d{i}{k}", "support": value}
                               for k, value in enumerate(values)]}
                for i, values in enumerate(sentences)
            ],
        }
        for run, sentences in SUPPORT.items()
    ]  # fmt: skip
    write_lines(folder / "support_assignments.jsonl", supported)
    call = {"statement": "Sentence 0 of r2.", "citation": "The text of d00."}
    where = {"topic_id": "t1", "run_id": "r2", "sentence_index": 0, "citation_index": 0}
    failed = {"support_label": None, "raw_output": "I cannot tell", "status": "failed",
              "error": "could not parse support label"}  # fmt: skip
    row = {"task_id": "r2:t1:s0:c0", **call, **failed, "metadata": {**where, "docid": "d00"}}
    write_lines(folder / "judgments.parsed.jsonl", [row])
    (folder / "metrics").mkdir()
    (folder / "metrics" / "cell_metrics.csv").write_text(CELL_METRICS, encoding="utf-8")
    return folder


def scores(ran):
    return {(r["run_id"], r["measure"]): r for r in ran.rows if r["topic_id"] == "all"}
