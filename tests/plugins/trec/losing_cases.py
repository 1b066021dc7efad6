"""Programs here that random losses may meet, for tests/losing.py."""

SETTINGS = {
    "arena": {"program": ["arena"], "data.runs": "answers.jsonl", "arena.battles": 9},
}
LABELS = {"battles": ("a", "b", "tie", "both_bad")}
