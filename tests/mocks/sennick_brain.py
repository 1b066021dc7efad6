"""A model that judges examples/keypoints and knows our labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mock_replies import Body, input_of

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "keypoints"


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text("utf-8").splitlines()]


ANSWERS = {
    (row["run_id"], row["topic_id"]): " ".join(sentence["text"] for sentence in row["answer"])
    for path in sorted((FOLDER / "answers").iterdir())
    for row in rows(f"answers/{path.name}")
}
POINTS = {
    (row["qid"], point["id"]): point["text"]
    for row in rows("keypoints.jsonl")
    for point in row["key_points"]
}
LABELS = {
    (ANSWERS[row["run_id"], row["topic_id"]], POINTS[row["topic_id"], row["key_point_id"]]): {
        "evidence": row["evidence"],
        "verdict": row["label"],
    }
    for row in rows("labels/entailments.jsonl")
}
CLAIMS = {
    ANSWERS[row["run_id"], row["topic_id"]]: {c["text"]: c["label"] for c in row["claims"]}
    for row in rows("labels/claims.jsonl")
}
STATES = {text: label for of_answer in CLAIMS.values() for text, label in of_answer.items()}


def careful(body: Body) -> dict[str, Any]:
    """Our labels of key points and claims, word for word."""
    asked = input_of(body)
    if "response" in asked:
        return LABELS[asked["response"], asked["key_point"]]
    if "answer" in asked:
        return {"claims": list(CLAIMS[asked["answer"]])}
    return {"verdicts": {i: STATES[text] for i, text in asked["claims"].items()}}
