"""The demo's items for a judge of one's own are its cited sentences, under their human labels."""

import json
from pathlib import Path

from nuggetjudge.judges import read_own_judge

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "demo"
LABELS = {"full": "yes", "partial": "partly", "none": "no"}


def rows(name):
    return [json.loads(line) for line in (FOLDER / name).read_text("utf-8").splitlines()]


def test_the_items_are_the_citations_with_their_texts_and_labels():
    passages = {row["docid"]: row["text"] for row in rows("passages.jsonl")}
    sentences = {
        (row["run_id"], row["topic_id"], i): sentence["text"]
        for path in (FOLDER / "runs").glob("*.jsonl")
        for row in rows(f"runs/{path.name}")
        for i, sentence in enumerate(row["answer"])
    }
    assert rows("labels/grounded.jsonl") == [
        {
            "topic_id": row["topic_id"],
            "run_id": row["run_id"],
            "sentence_id": row["sentence"],
            "passage_id": row["citation"],
            "claim": sentences[row["run_id"], row["topic_id"], row["sentence"]],
            "source": passages[row["citation"]],
            "label": LABELS[row["label"]],
        }
        for row in rows("labels/support.jsonl")
        if row["citation"] is not None
    ]


def test_the_judge_takes_twelve_lines_at_most_and_gives_the_labels_of_the_items():
    definition = read_own_judge(FOLDER / "grounded.yaml")
    assert len((FOLDER / "grounded.yaml").read_text(encoding="utf-8").splitlines()) <= 12
    assert set(definition.scale) == {row["label"] for row in rows("labels/grounded.jsonl")}
    assert set(definition.inputs) < set(rows("labels/grounded.jsonl")[0])
