"""Runs of the programs here, for tests/gates/test_files.py."""

from pathlib import Path

REPORTS = Path(__file__).resolve().parents[3] / "examples" / "argue"
GIVEN = {
    "argue": {
        "topics": REPORTS / "topics.jsonl",
        "runs": str(REPORTS / "runs"),
        "question_lists": str(REPORTS / "lists.jsonl"),
    },
}
