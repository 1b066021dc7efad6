"""Standings of questions, folded by hand, with judgements missing and without."""

import itertools

import pytest

from nuggetjudge.metrics.answer_scores import Value
from nuggetjudge.plugins.trec.argue.answered import STANDING_LABELS
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
