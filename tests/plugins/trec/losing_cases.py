"""Programs here that random losses may meet, for tests/losing.py."""

REPORTS = {
    "data.runs": "answers.jsonl",
    "data.passages": "passages.jsonl",
    "data.question_lists": "lists.jsonl",
}
SETTINGS = {
    "arena": {"program": ["arena"], "data.runs": "answers.jsonl", "arena.battles": 9},
    "argue": {"program": ["argue"], **REPORTS},
    "argue, every citation": {
        **REPORTS,
        "program": ["support", "argue"],
        "support.citations": "all",
        "argue.limit": 12,
        "argue.over": "cut",
    },
    "rubric": {
        "program": ["rubric"],
        "data.runs": "answers.jsonl",
        "data.passages": "passages.jsonl",
        "data.documents": "documents.jsonl",
    },
}
LABELS = {"battles": ("a", "b", "tie", "both_bad"), "argue": ("no", "no", "yes")}
LABELS |= {"criteria": ("not_met", "partly", "met"), "binary_criteria": ("not_met", "met")}
