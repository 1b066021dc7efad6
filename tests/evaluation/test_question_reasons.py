"""Why a question has no full score: what its own program lacks, and nothing of others."""

from types import SimpleNamespace

from nuggetjudge.evaluation.result import list_question_scores
from nuggetjudge.records.rows import ScoreRow


def row(measure, n_unjudged):
    return ScoreRow(
        run_id="r", topic_id="t", measure=measure, value=0.5, n=2, n_unjudged=n_unjudged,
        low=0.5, high=0.5,
    )  # fmt: skip


def test_a_failure_of_one_program_is_no_reason_of_anothers_measure():
    lost = {"run_id": "r", "topic_id": "t"}
    result = SimpleNamespace(
        folder="out",
        scores=[row("support_precision", 1), row("V_strict", 0), row("mine", 1)],
        unjudged=[
            {**lost, "stage": "support", "reason": "refused"},
            {**lost, "stage": "answers", "reason": "error"},
        ],
    )
    support, nuggets, own = (score.reasons for score in list_question_scores(result))
    assert support == {"refused": 1, "error": 1}
    assert nuggets == {"error": 1}  # no answer at all: of every program
    assert own == {"refused": 1, "error": 1}  # of no program that says so
    del result.unjudged[1]
    assert [score.reasons for score in list_question_scores(result, ["V_strict"])] == [{}]
