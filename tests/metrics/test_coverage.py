import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from incomplete_ratings import completions, holds, pools_and_contexts

from nuggetjudge.metrics import Value, agreement, density, density_value
from nuggetjudge.metrics.answer_scores import UNDEFINED
from nuggetjudge.metrics.coverage import (
    answerable,
    coverage,
    find_required_subset,
    passage_grades,
    rank_steps,
    redundancy,
)
from nuggetjudge.metrics.narratives import narrative_scores

NAN = float("nan")


# arXiv:2506.20051, Table 5: 10 questions of which 8 are answerable, P** of three passages that
# answer all of those, a report that answers 4. These counts are the paper's, the cells are ours.
TABLE_5 = np.array(
    [
        [2, 4, 0, 1, 2, 3, 0, 0, 2, 0],  # like the next two: no more than what P** answers
        [5, 4, 3, 5, 0, 1, 0, 2, 0, 0],  # P**
        [0, 0, 0, 3, 5, 4, 3, 0, 1, 0],  # P**
        [0, 5, 3, 0, 0, 0, 0, 0, 0, 2],  # better than P** on the second question
        [0, 0, 0, 0, 0, 0, 3, 5, 0, 0],  # P**
        [1, 0, 2, 0, 0, 0, 0, 0, 2, 1],  # answers nothing
    ]
)
TABLE_5_REPORT = np.array([[5, 1, 3, 0, 4, 2, 0, 3, 4, 0]])  # 4 of the 8, and 1 of the others
REQUIRED = [1, 2, 4]


def test_the_papers_example_has_its_published_counts():
    is_answerable = answerable(TABLE_5)
    assert is_answerable.tolist() == [1, 1, 1, 1, 1, 1, 1, 1, 0, 0]
    assert coverage(TABLE_5[REQUIRED], is_answerable) == Value(1.0, 24, 0, 1.0, 1.0)
    assert coverage(TABLE_5_REPORT, is_answerable) == Value(4 / 8, 8, 0, 0.5, 0.5)


# By hand: the six passages give 2 + 4 + 4 + 2 + 2 = 14 answers to 8 questions; P** gives 10.
def test_redundancy_of_the_papers_example_is_the_hand_count():
    is_answerable = answerable(TABLE_5)
    assert redundancy(TABLE_5, is_answerable).value == 6 / 14
    assert redundancy(TABLE_5[REQUIRED], is_answerable).value == 2 / 10


def test_a_rank_says_what_its_passage_adds():
    steps = rank_steps(TABLE_5[[1, 0, 5, 4]], answerable(TABLE_5))
    assert [step.rank for step in steps] == [1, 2, 3, 4]
    assert [(step.n_answered, step.n_new) for step in steps] == [(4, 4), (2, 1), (0, 0), (2, 2)]
    assert [step.coverage for step in steps] == [4 / 8, 5 / 8, 5 / 8, 7 / 8]
    assert [step.incompleteness for step in steps] == [4 / 8, 3 / 8, 3 / 8, 1 / 8]
    assert [step.redundancy for step in steps] == [0.0, 1 / 2, None, 0.0]


def test_ranks_leave_out_what_is_missing_and_count_it():
    first, second = rank_steps([[NAN, 0, 5, NAN, NAN], [5, 0, 5, 0, 0]], [1, 1, 1, NAN, 0])
    assert (first.n_answered, first.n_unjudged) == (1, 2)
    assert first.coverage == pytest.approx(
        4 / 9
    )  # 1 rating answers alone, 2 nothing: (1/3 + 0 + 1) / 3
    assert (second.n_new, second.redundancy, second.coverage) == (1, 1 / 2, 2 / 3)
    nothing = rank_steps([[NAN]], [1])[0]
    assert (nothing.coverage, nothing.incompleteness, nothing.redundancy) == (None, None, None)


# Four answerable questions: answered, answered and open beside it, open, not answered. One more
# may be answerable, and the context may answer it; one is not answerable.
def test_an_undecided_question_counts_at_the_rate_of_the_known_ratings_between_its_bounds():
    context = [[5, 3, NAN, 0, 0, 5], [0, NAN, 2, 2, NAN, NAN]]
    share = coverage(context, [1, 1, 1, 1, NAN, 0])
    # Two ratings answer alone and three answer what none does: (1 + 1 + 2/5 + 0) / 4.
    assert share.value == pytest.approx(3 / 5)
    assert (share.n, share.n_unjudged, share.low, share.high) == (6, 4, 2 / 5, 4 / 5)


def test_an_empty_context_covers_nothing_and_repeats_nothing():
    empty = np.empty((0, 2))
    assert coverage(empty, [1, 0]) == Value(0.0, 0, 0, 0.0, 0.0)
    assert redundancy(empty, [1, 0]) == UNDEFINED
    assert rank_steps(empty, [1, 0]) == []


@pytest.mark.parametrize("context", [np.empty((0, 2)), [[5, 0]], [[NAN, 0]]])
def test_without_an_answerable_question_nothing_is_defined(context):
    assert coverage(context, [0, 0]) == UNDEFINED
    assert redundancy(context, [0, 0]) == UNDEFINED
    assert answerable(np.empty((0, 2))).tolist() == [0, 0]


def test_ratings_that_are_all_missing_leave_everything_open():
    assert coverage([[NAN, NAN]], [1, 1]) == Value(None, 0, 2, 0.0, 1.0)
    assert coverage([[NAN, NAN]], [NAN, NAN]) == Value(None, 0, 4, 0.0, 1.0)
    assert redundancy([[NAN], [NAN]], [1]) == Value(None, 0, 2, 0.0, 0.5)


@given(pools_and_contexts())
def test_bounds_hold_whatever_the_missing_ratings_say(case):
    ratings, pool, context = case
    covered = coverage(ratings[context], answerable(ratings[pool]))
    repeated = redundancy(ratings[context], answerable(ratings[pool]))
    for full in completions(ratings):
        is_answerable = answerable(full[pool])
        for bounds, value in (
            (covered, coverage(full[context], is_answerable).value),
            (repeated, redundancy(full[context], is_answerable).value),
        ):
            assert value is None or holds(bounds, value)


@given(pools_and_contexts())
def test_the_steps_add_up_to_the_whole(case):
    ratings, pool, context = case
    is_answerable = answerable(ratings[pool])
    steps = rank_steps(ratings[context], is_answerable)
    assert len(steps) == len(context)
    covered = [step.coverage for step in steps if step.coverage is not None]
    assert covered == sorted(covered)
    if steps:
        assert steps[-1].coverage == coverage(ratings[context], is_answerable).value
        n_answers = sum(step.n_answered for step in steps)
        n_new = sum(step.n_new for step in steps)
        expected = (n_answers - n_new) / n_answers if n_answers else None
        assert redundancy(ratings[context], is_answerable).value == expected


@pytest.mark.parametrize(
    ("ratings", "eta", "message"),
    [
        ([[5, 0], [0, 6]], 3, r"ratings\[1, 1\] is 6.0, wanted 0 to 5 or nan"),
        ([[0, -1]], 3, r"ratings\[0, 1\] is -1.0"),
        ([5, 0], 3, r"got shape \(2,\)"),
        ([[5, 0]], 0, "eta is 0"),
        ([[5, 0]], 5.5, "eta is 5.5"),
    ],
)
def test_what_is_no_rating_is_named(ratings, eta, message):
    for measure in (answerable, lambda r, e: coverage(r, [1, 1], e)):
        with pytest.raises(ValueError, match=message):
            measure(ratings, eta)


@pytest.mark.parametrize("measure", [coverage, redundancy, rank_steps])
def test_marks_that_do_not_fit_the_ratings_are_named(measure):
    with pytest.raises(ValueError, match=r"answerable has shape \(1,\)"):
        measure([[5, 0]], [1])
    with pytest.raises(ValueError, match=r"answerable\[1\] is 2.0"):
        measure([[5, 0]], [1, 2])


# The authors took these questions out of their human task: no passage of the topic answers them.
def test_questions_that_the_authors_removed_are_not_answerable(rows):
    ratings: dict[str, list[list[int]]] = {}
    for row in rows("crux_duc/llm_ratings.jsonl"):
        if row["own_topic"]:
            ratings.setdefault(row["qid"], []).append(row["ratings"])
    removed = [
        (q["qid"], j) for q in rows("crux_duc/queries.jsonl") for j in q["nulled_in_t1"] or ()
    ]
    assert removed
    for qid, column in removed:
        assert answerable(ratings[qid])[column] == 0


lengths = st.integers(1, 500)


# By hand: 4 answers in 180 words are 1 per 45, 8 in 250 words 1 per 31.25; 31.25 : 45 = 25 : 36.
def test_density_is_the_hand_count():
    assert density(4, 180, 8, 250, weight=1) == pytest.approx(25 / 36)
    assert density(4, 180, 8, 250) == pytest.approx(5 / 6)


@pytest.mark.parametrize(
    ("n_answered", "tokens", "n_answerable", "required_tokens", "expected"),
    [
        (0, 0, 8, 100, 0.0),  # the empty context
        (0, 90, 8, 100, 0.0),
        (0, 90, 0, 0, None),  # no answerable question
        (0, 90, 8, 0, None),
        (4, 0, 8, 100, None),
    ],
)
def test_every_division_by_zero(n_answered, tokens, n_answerable, required_tokens, expected):
    assert density(n_answered, tokens, n_answerable, required_tokens) == expected


def test_a_density_without_a_value_or_without_bounds():
    open_one = Value(None, n=0, n_unjudged=8, low=0.0, high=1.0)
    assert density_value(open_one, 8, 100, 100) == open_one
    assert density_value(open_one, 0, 100, 0) == Value(None, 0, 8, None, None)
    assert density_value(UNDEFINED, 0, 100, 0) == UNDEFINED
    empty = Value(0.0, n=0, n_unjudged=0, low=0.0, high=0.0)
    assert density_value(empty, 8, 0, 100) == empty


@given(pools_and_contexts(), lengths, lengths)
def test_density_bounds_hold_whatever_the_missing_ratings_say(case, tokens, required_tokens):
    ratings, pool, context = case
    is_answerable = answerable(ratings[pool])
    covered = coverage(ratings[context], is_answerable)
    bounds = density_value(covered, int(np.nansum(is_answerable)), tokens, required_tokens)
    if bounds.low is None:
        assert not np.nansum(is_answerable)
        return
    for full in completions(ratings):
        is_answerable = answerable(full[pool])
        plain = coverage(full[context], is_answerable)
        value = density(
            plain.value * is_answerable.sum(), tokens, int(is_answerable.sum()), required_tokens
        )
        assert holds(bounds, value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((4, -1, 8, 100), "tokens is -1"),
        ((4, 100, 8, -2), "required_tokens is -2"),
        ((9, 100, 8, 100), "n_answered is 9, wanted 0 to n_answerable = 8"),
        ((-1, 100, 8, 100), "n_answered is -1"),
        ((4, 100, 8, 100, 0), "weight is 0"),
        ((4, float("nan"), 8, 100), "tokens is nan"),
    ],
)
def test_numbers_out_of_range_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        density(*arguments)


# As in test_coverage: the counts of arXiv:2506.20051, Table 5, in cells of our own.
REQUIRED_TABLE_5 = [
    [2, 4, 0, 1, 2, 3, 0, 0, 2, 0], [5, 4, 3, 5, 0, 1, 0, 2, 0, 0],
    [0, 0, 0, 3, 5, 4, 3, 0, 1, 0], [0, 5, 3, 0, 0, 0, 0, 0, 0, 2],
    [0, 0, 0, 0, 0, 0, 3, 5, 0, 0], [1, 0, 2, 0, 0, 0, 0, 0, 2, 1],
]  # fmt: skip


# Rows 1 and 2 answer four questions each, three of row 2 are new after row 1, and row 4 adds one.
def test_the_papers_example_needs_three_passages():
    taken = find_required_subset(REQUIRED_TABLE_5, range(6))
    assert taken == [1, 2, 4]
    assert coverage(np.array(REQUIRED_TABLE_5)[taken], answerable(REQUIRED_TABLE_5)).value == 1.0


# Row 0 answers two questions, and P** each of them as well; row 3 one of its two better.
def test_the_papers_example_has_redundant_passages_of_both_kinds():
    assert passage_grades(REQUIRED_TABLE_5, [1, 2, 4]) == [1, 3, 3, 2, 3, 0]


@pytest.mark.parametrize(
    ("order", "taken"), [([0, 1, 2], [0, 2]), ([9, 4, 1], [2, 1]), ([2, 0, 1], [1, 2])]
)
def test_of_passages_that_add_as_much_the_first_in_order_is_taken(order, taken):
    assert find_required_subset([[5, 0], [4, 0], [0, 3]], order) == taken


# Greedy takes the row of four first and needs three; the other two would do.
def test_the_subset_is_the_greedy_one_and_not_the_smallest():
    pool = np.array([[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1], [1, 1, 0, 1, 1, 0]]) * 5
    assert find_required_subset(pool, range(3)) == [2, 0, 1]


def test_nothing_is_required_where_no_answer_is_known():
    for pool in (np.empty((0, 3)), [[2, 0, NAN]]):
        assert find_required_subset(pool, range(len(pool))) == []


@given(pools_and_contexts(), st.randoms(use_true_random=False))
def test_the_subset_answers_all_that_is_answerable_and_each_passage_adds_to_it(case, rng):
    pool, _, _ = case
    order = rng.sample(range(len(pool)), len(pool))
    taken = find_required_subset(pool, order)
    seen: set[int] = set()
    gains = []
    for row in taken:
        new = set(np.flatnonzero(pool[row] >= 3)) - seen
        gains.append(len(new))
        seen |= new
    assert seen == set(np.flatnonzero(answerable(pool) == 1))
    assert all(gains)
    assert gains == sorted(gains, reverse=True)


# Differs: the authors' published tool grades these 3, 1, 1, 1. Row 1 is as good as P** on what it
# answers, and row 3 answers nothing.
def test_grades_follow_the_paper_and_not_the_published_tool():
    pool = [[5, 3, 0], [5, 0, 0], [0, 4, 0], [2, 2, 0]]
    assert passage_grades(pool, [0]) == [3, 1, 2, 0]


@pytest.mark.parametrize(
    ("row", "grade"),
    [
        ([NAN, 0, 0], None),  # 0, or 1 or 2
        ([3, NAN, 0], None),  # 1, or 2 if it is a 5 or P** is below it
        ([4, NAN, 0], 2),  # on the first question P** is a 3, so it is 2 anyhow
        ([0, 5, 0], None),  # 1 if P** is a 5 too
        ([0, 3, 0], 1),  # P** is at least a 4 there, by its other row
        ([3, 0, NAN], None),  # perhaps it answers what P** does not
    ],
)
def test_a_grade_that_missing_ratings_could_change_is_none(row, grade):
    assert passage_grades([[3, NAN, 0], [0, 4, 0], row], [0, 1]) == [3, 3, grade]


@given(pools_and_contexts())
def test_a_grade_is_given_where_every_completion_gives_it_and_only_there(case):
    pool, _, _ = case
    taken = find_required_subset(pool, range(len(pool)))
    grades = passage_grades(pool, taken)
    rest = [i for i in range(len(pool)) if i not in taken]
    possible = {i: set() for i in rest}
    for full in completions(pool, fill=(0.0, 3.0, 5.0)):
        for i in rest:
            try:
                possible[i].add(passage_grades(full[[*taken, i]], range(len(taken)))[-1])
            except ValueError:  # it answers what P** does not
                possible[i].add(None)
    assert {i: grades[i] for i in taken} == dict.fromkeys(taken, 3)
    assert {i: grades[i] for i in rest} == {
        i: min(values) if len(values) == 1 else None for i, values in possible.items()
    }


def test_arguments_that_do_not_fit_the_pool_are_named():
    pool = [[5, 0], [0, 5]]
    with pytest.raises(ValueError, match="1 numbers in the order of 2 passages"):
        find_required_subset(pool, [0])
    with pytest.raises(ValueError, match=r"order\[1\] is 7"):
        find_required_subset(pool, [7, 7])
    with pytest.raises(ValueError, match=r"required\[1\] is 2"):
        passage_grades(pool, [0, 2])
    with pytest.raises(ValueError, match="row 1 answers question 1, but no required row does"):
        passage_grades(pool, [0])


# How much of the sub-narratives an answer covers, counted by hand.
def test_each_sub_narrative_counts_the_same_however_many_nuggets_it_has():
    # a: 1 of 1; b: 0, .5, 0 of 3 (vital, okay, okay); "" counts nowhere.
    labels = ["support", "not_support", "partial_support", "not_support", "support"]
    vital = ["vital", "vital", "okay", "okay", "vital"]
    scores = narrative_scores(labels, vital, ["a", "b", "b", "b", ""])
    assert scores["SN"].value == pytest.approx((1 + 0.5 / 3) / 2)
    assert scores["SN_strict"].value == 0.5
    assert scores["SN_vital"].value == 0.5
    assert (scores["SN"].n, scores["SN_vital"].n) == (4, 2)


def test_a_partly_stated_vital_nugget_covers_no_sub_narrative():
    scores = narrative_scores(["partial_support"], ["vital"], ["a"])
    assert (scores["SN_vital"].value, scores["SN"].value) == (0.0, 0.5)


def test_what_is_not_judged_is_no_zero_and_the_bounds_say_what_it_could_be():
    # a: stated and open; b: open alone; c: not stated.
    labels = ["support", None, None, "not_support"]
    scores = narrative_scores(labels, ["vital"] * 4, ["a", "a", "b", "c"])
    assert scores["SN"] == Value(0.5, 2, 2, low=0.5 / 3, high=2 / 3)
    assert scores["SN_vital"] == Value(0.5, 2, 2, low=1 / 3, high=2 / 3)


def test_without_vital_nuggets_there_is_no_share_of_them():
    assert narrative_scores(["support"], ["okay"], ["a"])["SN_vital"].is_undefined


def test_nuggets_of_no_sub_narrative_have_no_such_measure():
    assert narrative_scores(["support"], ["vital"], [""]) == {}


def test_another_label_and_other_lengths_are_refused():
    with pytest.raises(ValueError, match=r"labels\[0\] is 'yes'"):
        narrative_scores(["yes"], ["vital"], ["a"])
    with pytest.raises(ValueError, match="1 labels, 2 importances"):
        narrative_scores(["support"], ["vital", "okay"], ["a"])


NUGGETS = st.lists(
    st.tuples(
        st.sampled_from(["support", "partial_support", "not_support", None]),
        st.sampled_from(["vital", "okay", None]),
        st.sampled_from(["a", "b", "c", ""]),
    ),
    min_size=1,
    max_size=12,
)


@given(nuggets=NUGGETS, data=st.data())
def test_bounds_hold_whatever_the_missing_labels_are(nuggets, data):
    labels, importances, names = zip(*nuggets, strict=True)
    whole = [
        data.draw(st.sampled_from(["support", "partial_support", "not_support"]))
        if x is None
        else x
        for x in labels
    ]
    scores = narrative_scores(labels, importances, names)
    for name, value in narrative_scores(whole, importances, names).items():
        if not value.is_undefined:
            assert scores[name].low - 1e-9 <= value.value <= scores[name].high + 1e-9


def test_umbrela_agrees_with_nist_as_published_for_2025():
    # All 10,284 pairs of the track, NIST by row and UMBRELA by column: kappa .233, quadratic .492.
    confusion = [
        [1690, 1074, 681, 150, 24], [348, 446, 566, 113, 26], [405, 735, 1971, 547, 102],
        [80, 136, 554, 411, 137], [1, 8, 18, 42, 19],
    ]  # fmt: skip
    cells = [(str(i), str(j), n) for i, row in enumerate(confusion) for j, n in enumerate(row)]
    people = [label for label, _, n in cells for _ in range(n)]
    judge = [label for _, label, n in cells for _ in range(n)]
    kappa = agreement(people, judge, [*"01234"]).cohen_kappa
    assert kappa["unweighted"] == pytest.approx(0.233, abs=5e-4)
    assert kappa["quadratic"] == pytest.approx(0.492, abs=5e-4)
