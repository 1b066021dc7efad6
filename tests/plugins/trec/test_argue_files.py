"""Question lists in their three layouts, and what is told of broken ones."""

import hashlib
import itertools

import pytest

from nuggetjudge.metrics.answer_scores import Value
from nuggetjudge.plugins.trec.argue.answered import (
    STANDING_LABELS,
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
from nuggetjudge.plugins.trec.argue.lists import (
    AcceptedAnswer,
    question_list_row,
    read_question_lists,
)
from nuggetjudge.plugins.trec.argue.scores import (
    QUESTION_GAINS,
    STANDINGS,
    Between,
    answer_standing,
    question_scores,
    report_f1,
    sentence_standing,
    sentence_support,
    take_best,
    take_worst,
)
from nuggetjudge.records import Importance, Problems

ASKED = "Where do the eels go?"
NAME = hashlib.md5(ASKED.encode()).hexdigest()
ANSWERS = {"to the sea": ["d1", "d2"], "down the river": []}


def v3(*, topic="t1", importance="vital", **more):
    answers = {
        text: {"answer": text, "references": [{"doc_id": name} for name in names]}
        for text, names in ANSWERS.items()
    }
    question = {"question": ASKED, "aggregator_type": "AND", "answers": answers}
    bank = {ASKED: {**question, "importance": importance, **more}}
    return {"query_id": topic, "title_query": "eels", "format_version": "v3", "nugget_bank": bank}


def of_2026(**more):
    answers = [{"answer": text, "references": names} for text, names in ANSWERS.items()]
    question = {"question": ASKED, "aggregator_type": "AND", "answers": answers, **more}
    return {"metadata": {"topic_id": "t1", "team_id": "x"}, "nugget_bank": [question]}


def only(path, problems):
    lists = read_question_lists([path], problems)
    problems.raise_errors()
    [(topic, question_list)] = lists.items()
    assert topic == question_list.topic_id == "t1"
    [question] = question_list.questions
    return question


@pytest.mark.parametrize(
    ("row", "name"),
    [
        (v3(), "lists.jsonl"),
        (of_2026(importance="VITAL"), "lists.jsonl"),
        ({ASKED: ["AND", ANSWERS]}, "nuggets_t1.json"),
    ],
    ids=["v3", "RAGTIME 2026", "collaborators"],
)
def test_every_layout_gives_the_same_questions(row, name, write, problems):
    question = only(write(row, name=name), problems)
    assert (question.id, question.text, question.aggregator) == (NAME, ASKED, "AND")
    assert [(a.text, a.sources) for a in question.answers] == [
        ("to the sea", ("d1", "d2")),
        ("down the river", ()),
    ]
    assert question.importance == (None if "nuggets" in name else Importance.VITAL)
    assert len(problems) == 0


def test_what_is_written_reads_back_as_it_was(write, problems):
    given = read_question_lists([write(v3(question_id="q1", importance=None))], problems)["t1"]
    again = read_question_lists([write(question_list_row(given), name="b.jsonl")], problems)
    assert again == {"t1": given}
    assert len(problems) == 0


@pytest.mark.parametrize(
    "row",
    [
        {ASKED: ["OR", {"OPEN_ENDED_ANSWER": ["d1"]}]},
        {"query_id": "t1", "nugget_bank": [{"question": ASKED, "references": ["d1"]}]},
    ],
    ids=["collaborators", "no answers"],
)
def test_an_open_question_takes_any_answer(row, write, problems):
    question = only(write(row, name="nuggets_t1.json"), problems)
    [answer] = question.answers
    assert answer == AcceptedAnswer(id=answer.id, text="", sources=("d1",))
    written = write(
        question_list_row(
            read_question_lists([write(row, name="nuggets_t1.json")], Problems())["t1"]
        ),
        name="b.jsonl",
    )
    assert only(written, problems) == question  # and still does when it is written and read


@pytest.mark.parametrize(
    ("row", "kind", "action"),
    [
        ({"query_id": "t1", "text": "eels"}, "missing_field", "error"),
        ({"nugget_bank": []}, "missing_field", "error"),
        ({"query_id": "t1", "nugget_bank": [{"answers": ["a"]}]}, "missing_field", "error"),
        ({"query_id": "t1", "nugget_bank": [{"question": "q?", "answers": 3}]}, "bad_field",
         "error"),
        ({"query_id": "t1", "nugget_bank": {"q?": 3}}, "bad_field", "error"),
        ({"query_id": "t1", "nugget_bank": [{"question": "q?"}] * 2}, "duplicate_id", "error"),
        ({"query_id": "t1", "nugget_bank": [{"question": "q?", "question_id": i} for i in (1, 2)]},
         "duplicate_question", "error"),
        (v3(aggregator_type="NOT"), "aggregator", "skipped"),
        (v3(aggregator_type=None), "aggregator", "kept"),
        (v3(importance="high"), "importance", "kept"),
        (v3(sub_nuggets=[{"question": "r?"}]), "sub_nuggets", "skipped"),
        ({"query_id": "t1", "claim_bank": {"a": {}}, "nugget_bank": {"q?": {}}}, "claim_nuggets",
         "skipped"),
        ({"query_id": "t1", "nugget_bank": {}}, "empty_bank", "kept"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_line(row, kind, action, write, problems, kinds):
    good = v3(topic="t0")
    read_question_lists([write(good, row)], problems)
    assert (2, kind, action) in kinds(), list(problems)


def test_a_topic_in_two_files_is_an_error(write, problems, kinds):
    read_question_lists([write(v3()), write(of_2026(), name="b.jsonl")], problems)
    assert kinds() == [(1, "duplicate_bank", "error")]


def test_a_collaborators_file_with_another_name_names_no_topic(write, problems):
    read_question_lists([write({ASKED: ["AND", ANSWERS]}, name="t1.json")], problems)
    [problem] = problems
    assert "nugget_bank" in problem.what
    assert problem.action == "error"


# What reports answer, as it is written and read again, and what is told of broken files.
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


# Standings of questions, folded by hand, with judgements missing and without.
def at(name):
    return Between(name, name)


NOT_SAID, UNSUPPORTED, UNCITED, SUPPORTED = map(at, STANDINGS)
ANYTHING = Between("not_said", "supported")


@pytest.mark.parametrize(
    ("citations", "stands"),
    [
        ([], UNCITED),
        (["full"], SUPPORTED),
        (["full", "full"], SUPPORTED),
        (["full", "none"], UNSUPPORTED),
        (["partial"], UNSUPPORTED),
        ([None], Between("unsupported", "supported")),
        (["full", None], Between("unsupported", "supported")),
        (["none", None], UNSUPPORTED),  # what is missing could change nothing
    ],
)
def test_a_sentence_is_carried_if_all_its_citations_carry_it(citations, stands):
    assert sentence_standing(citations) == stands


def test_what_may_not_be_said_is_between_not_said_and_what_carries_the_sentence():
    assert answer_standing(None, SUPPORTED) == ANYTHING
    assert answer_standing(None, UNCITED) == Between("not_said", "uncited")
    assert answer_standing(False, SUPPORTED) == NOT_SAID


@pytest.mark.parametrize(
    ("fold", "answers", "stands"),
    [
        (take_worst, [SUPPORTED, UNCITED], UNCITED),
        (take_worst, [SUPPORTED, NOT_SAID], NOT_SAID),
        (take_worst, [NOT_SAID, ANYTHING], NOT_SAID),  # a missing judgement that cannot matter
        (take_worst, [SUPPORTED, ANYTHING], ANYTHING),
        (take_worst, [UNCITED, ANYTHING], Between("not_said", "uncited")),
        (take_best, [NOT_SAID, UNCITED], UNCITED),
        (take_best, [UNSUPPORTED, UNCITED], UNCITED),
        (take_best, [SUPPORTED, ANYTHING], SUPPORTED),  # nor here
        (take_best, [UNCITED, ANYTHING], Between("uncited", "supported")),
        (take_best, [], NOT_SAID),
        (take_worst, [], NOT_SAID),
    ],
)
def test_answers_are_folded_as_counted_by_hand(fold, answers, stands):
    assert fold(answers) == stands
    assert fold(reversed(answers)) == stands


def test_bounds_of_a_fold_are_the_worst_and_best_of_all_it_could_be():
    """Against every way in which what is open could come out."""
    opens = [Between(a, b) for a, b in itertools.combinations_with_replacement(STANDINGS, 2)]
    for given in itertools.product(opens, repeat=2):
        ways = [STANDINGS[STANDINGS.index(x) : STANDINGS.index(y) + 1] for x, y in given]
        for fold, choose in ((take_best, max), (take_worst, min)):
            ends = {choose(map(STANDINGS.index, way)) for way in itertools.product(*ways)}
            assert fold(given) == Between(STANDINGS[min(ends)], STANDINGS[max(ends)])


def test_five_questions_counted_by_hand():
    standings = [SUPPORTED, UNCITED, UNSUPPORTED, NOT_SAID, Between("unsupported", "supported")]
    scores = question_scores(standings, ["vital", "okay", None, "vital", "okay"])
    assert scores["question_coverage"] == Value(0.8, 5, 0, 0.8, 0.8)  # said, whatever carries it
    assert scores["question_coverage_supported"] == Value(0.25, 4, 1, 0.2, 0.4)
    assert scores["said_uncited"] == Value(0.25, 4, 1, 0.2, 0.4)
    assert scores["said_unsupported"] == Value(0.25, 4, 1, 0.2, 0.4)
    # 2 of 2 + 1 + 1 + 2; with the last one 2 and 3 of 7.
    assert scores["question_coverage_weighted"] == Value(2 / 6, 4, 1, 2 / 7, 3 / 7)


def test_without_importances_the_weighted_coverage_is_the_plain_one():
    scores = question_scores([SUPPORTED, NOT_SAID, UNCITED], [None] * 3)
    assert scores["question_coverage_weighted"] == scores["question_coverage_supported"]


def test_what_is_said_is_supported_uncited_or_unsupported():
    for gains in zip(*(of.values() for of in QUESTION_GAINS.values()), strict=True):
        supported, said, uncited, unsupported = gains
        assert said == supported + uncited + unsupported


def test_sentences_that_all_their_citations_carry_are_counted():
    share = sentence_support([SUPPORTED, UNCITED, UNSUPPORTED, Between("unsupported", "supported")])
    assert share == Value(1 / 3, 3, 1, 0.25, 0.5)
    assert sentence_support([]) == Value(0.0, 0, 0, 0.0, 0.0)  # an empty report earned nothing


def test_f1_is_the_harmonic_mean_and_undefined_without_questions():
    half, whole = Value(0.5, 2, 0, 0.5, 0.5), Value(1.0, 4, 0, 1.0, 1.0)
    assert report_f1(half, whole).value == pytest.approx(2 / 3)
    nothing = question_scores([], [])["question_coverage_supported"]
    assert nothing.is_undefined
    assert report_f1(nothing, whole).is_undefined


def test_odd_labels_are_errors_that_name_them():
    with pytest.raises(ValueError, match="'maybe' is no support label"):
        sentence_standing(["maybe"])
    with pytest.raises(ValueError, match="'high' is no importance"):
        question_scores([SUPPORTED], ["high"])
    with pytest.raises(ValueError, match="1 questions with 0 importances"):
        question_scores([SUPPORTED], [])


def test_files_and_measures_have_the_same_standings():
    assert STANDING_LABELS == STANDINGS
