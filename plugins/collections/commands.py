"""The command `judge build`, and the judges that it uses."""

from __future__ import annotations

from ...cli.commands import Command
from ...judges.table import Kind

COMMANDS = {
    "build": Command(
        "judge", "Build a collection to evaluate with.", f"{__package__}.command:build", 35
    )
}
_JUDGES = f"{__package__}.judges"
REQUEST = Kind(f"{_JUDGES}:RequestWriter", has_example=True)
DECONTEXTUALIZER = Kind(
    f"{_JUDGES}:Decontextualizer",
    options={"tokenizer": "coverage.tokenizer"},
    in_identity=("tokenizer",),
)
QUESTION_SCORER = Kind(f"{_JUDGES}:QuestionScorer")
QUESTION_EVOLVER = Kind(f"{_JUDGES}:QuestionEvolver")
MISSED_POINT = Kind(f"{__package__}.missed:MissedPointJudge", labels_items=True, says_why=True)
DOCUMENT_SHORTENER = Kind(f"{__package__}.shortening:DocumentShortener")
QUESTION_CATEGORIZER = Kind(f"{__package__}.categories:QuestionCategorizer", labels_items=True)
