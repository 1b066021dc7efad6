"""What reports answer, as it is written and read again, and what is told of broken files."""

import pytest

from nuggetjudge.plugins.trec.argue.answered import (
    AnsweredQuestion,
    JudgedAnswer,
    JudgedReport,
    JudgedSentence,
    Open,
    make_answered_row,
    read_answered,
    read_reports,
    report_row,
)

QUESTION = AnsweredQuestion(
    run_id="r", topic_id="t", question_id="q", question="Who?", aggregator="AND", importance="okay",
    low="not_said", high="uncited",
    answers=(
        JudgedAnswer(
            id="a1", text="eels", low="uncited", high="uncited",
            sentences=(JudgedSentence(sentence=3, label="yes", score=0.5),),
        ),
        JudgedAnswer(id="a2", text="", low="not_said", high="supported",
                    sentences=(JudgedSentence(sentence=0, label=None),)),
    ),
)  # fmt: skip
REPORT = JudgedReport(
    run_id="r", topic_id="t", words=9, characters=40, is_over=True, n_units=4, n_kept=3,
    headings=1, table_rows=1,
    claims=((0, Open(low="supported", high="supported")), (3, Open(low="uncited", high="uncited"))),
)  # fmt: skip


def test_rows_read_back_as_they_were(write, problems):
    assert list(read_answered(write(make_answered_row(QUESTION)), problems)) == [QUESTION]
    assert list(read_reports(write(report_row(REPORT)), problems)) == [REPORT]
    assert len(problems) == 0
    assert make_answered_row(QUESTION)["label"] is None  # open: no label


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"low": "said"}, "bad_field"),
        ({"low": "supported", "high": "not_said"}, "bad_field"),
        ({"question_id": None}, "missing_field"),
        ({"answers": "eels"}, "bad_field"),
        ({"answers": [{"id": "a", "low": "uncited", "high": "uncited", "sentences": [{}]}]},
         "bad_field"),
    ],
)  # fmt: skip
def test_a_broken_answer_is_told_with_its_line(change, kind, write, problems, kinds):
    other = make_answered_row(QUESTION) | {"question_id": "q2"}
    list(read_answered(write(other, make_answered_row(QUESTION) | change), problems))
    assert kinds() == [(2, kind, "error")]


def test_a_question_twice_and_a_broken_report_are_told(write, problems, kinds):
    list(read_answered(write(*[make_answered_row(QUESTION)] * 2), problems))
    broken = report_row(REPORT) | {"words": "many"}
    assert list(read_reports(write(broken, name="b.jsonl"), problems)) == []
    assert kinds() == [(2, "duplicate_question", "error"), (1, "bad_field", "error")]
