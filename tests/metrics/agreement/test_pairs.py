import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.metrics import agreement

SCALE = ["none", "partial", "full"]
pairs = st.lists(st.tuples(st.sampled_from(SCALE), st.sampled_from(SCALE)), max_size=30)


def expand(confusion, scale):
    """Two label lists that have this confusion (rows truth, columns judged)."""
    cells = [
        (scale[i], scale[j], count)
        for i, row in enumerate(confusion)
        for j, count in enumerate(row)
    ]
    truth = [t for t, _, count in cells for _ in range(count)]
    judged = [j for _, j, count in cells for _ in range(count)]
    return truth, judged


def kappas(result):
    return {name: round(kappa, 3) for name, kappa in result.cohen_kappa.items()}


# A public note on TREC 2024 support: GPT-5.5 against NIST on 6,742 first citations.
SUPPORT_NOTE = [[559, 1460, 319], [56, 1162, 434], [45, 847, 1860]]
# UMBRELA against NIST on 10,284 pairs of TREC RAG 2025 (anserini-tools' two qrels files).
RAG25 = [
    [1690, 1074, 681, 150, 24],
    [348, 446, 566, 113, 26],
    [405, 735, 1971, 547, 102],
    [80, 136, 554, 411, 137],
    [1, 8, 18, 42, 19],
]


def test_published_support_confusion_gives_the_published_kappas():
    result = agreement(*expand(SUPPORT_NOTE, SCALE), SCALE)
    assert result.n == 6742
    assert result.confusion == tuple(map(tuple, SUPPORT_NOTE))
    assert result.accuracy == pytest.approx(0.531, abs=5e-4)
    assert kappas(result)["unweighted"] == 0.312
    assert kappas(result)["linear"] == 0.389
    assert result.one_vs_rest["full"] == pytest.approx(0.491, abs=5e-4)
    assert result.truth_counts == {"none": 2338, "partial": 1652, "full": 2752}


def test_umbrela_confusion_gives_the_known_kappas():
    scale = list("01234")
    result = agreement(*expand(RAG25, scale), scale)
    assert result.n == 10_284
    assert kappas(result)["unweighted"] == 0.233
    assert kappas(result)["quadratic"] == 0.492
    assert list(result.judged_counts.values()) == [2524, 2399, 3790, 1263, 308]


# Worked example: 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no; kappa (.7 - .5) / (1 - .5) = .4.
def test_two_labels_match_a_hand_count():
    result = agreement(*expand([[15, 10], [5, 20]], ["no", "yes"]), ["no", "yes"])
    assert kappas(result) == {"unweighted": 0.4, "linear": 0.4, "quadratic": 0.4}
    assert result.accuracy == 0.7
    assert result.precision == pytest.approx({"no": 15 / 20, "yes": 20 / 30})
    assert result.recall == pytest.approx({"no": 15 / 25, "yes": 20 / 25})
    assert result.macro_f1 == pytest.approx((30 / 45 + 40 / 55) / 2)
    assert result.one_vs_rest == pytest.approx({"no": 0.4, "yes": 0.4})


# By hand on scale 0..3 where nobody used 2: distances 0-1, 0-3 and 1-3 are 1, 3 and 2, so that
# linear kappa = 1 - (2/4) / (22/16) = 7/11; with 3 moved up to 2 it is 1 - (1/4) / (14/16) = 5/7.
def test_a_label_that_nobody_used_keeps_its_place_on_the_scale():
    result = agreement(list("0133"), list("0131"), list("0123"))
    assert result.cohen_kappa["linear"] == pytest.approx(7 / 11)
    moved = agreement(list("0122"), list("0121"), list("012"))
    assert moved.cohen_kappa["linear"] == pytest.approx(5 / 7)


# By hand: 1 - (8/3) / (4/3) = -1; the division left to itself ends one bit below.
def test_opposite_labels_have_quadratic_kappa_minus_one_and_not_below():
    assert agreement(SCALE, SCALE[::-1], SCALE).cohen_kappa["quadratic"] == -1.0


def test_figures_without_a_denominator_are_none_and_not_zero_or_one():
    result = agreement(["full", "full"], ["full", "full"], SCALE)
    assert set(result.cohen_kappa.values()) == {None}
    assert set(result.one_vs_rest.values()) == {None}
    assert result.precision == result.recall == {"none": None, "partial": None, "full": 1.0}
    assert (result.accuracy, result.macro_f1) == (1.0, 1.0)


def test_a_label_that_one_side_never_used_has_f1_zero_and_no_precision():
    result = agreement(["none", "full"], ["full", "full"], SCALE)
    assert result.precision == {"none": None, "partial": None, "full": 0.5}
    assert result.recall == {"none": 0.0, "partial": None, "full": 1.0}
    assert result.macro_f1 == pytest.approx((0 + 2 / 3) / 2)
    assert result.cohen_kappa["unweighted"] == 0.0
    assert result.one_vs_rest["partial"] is None


def test_no_pairs_leave_every_figure_undefined():
    result = agreement([], [], SCALE)
    assert (result.n, result.accuracy, result.macro_f1) == (0, None, None)
    for figures in (result.cohen_kappa, result.precision, result.recall, result.one_vs_rest):
        assert set(figures.values()) == {None}


@given(pairs)
def test_figures_are_bounded_and_survive_json(labels):
    result = agreement([t for t, _ in labels], [j for _, j in labels], SCALE)
    plain = result.as_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert sum(map(sum, result.confusion)) == result.n == len(labels)
    for figures in (result.cohen_kappa, result.one_vs_rest):
        assert all(kappa is None or -1 <= kappa <= 1 for kappa in figures.values())
    for figures in (result.precision, result.recall):
        assert all(share is None or 0 <= share <= 1 for share in figures.values())


@given(pairs)
def test_swapping_the_sides_keeps_kappa_and_swaps_precision_and_recall(labels):
    truth, judged = [t for t, _ in labels], [j for _, j in labels]
    there, back = agreement(truth, judged, SCALE), agreement(judged, truth, SCALE)
    assert there.precision == back.recall
    assert there.truth_counts == back.judged_counts
    for name, kappa in there.cohen_kappa.items():
        assert (kappa is None) == (back.cohen_kappa[name] is None)
        if kappa is not None:
            assert kappa == pytest.approx(back.cohen_kappa[name])


@given(pairs, st.randoms(use_true_random=False))
def test_the_order_of_pairs_does_not_matter(labels, rng: random.Random):
    shuffled = rng.sample(labels, len(labels))
    assert agreement(*[[pair[i] for pair in labels] for i in (0, 1)], SCALE) == agreement(
        *[[pair[i] for pair in shuffled] for i in (0, 1)], SCALE
    )


@given(st.lists(st.sampled_from(SCALE), min_size=2).filter(lambda labels: len(set(labels)) > 1))
def test_a_perfect_judge_has_kappa_one(labels):
    result = agreement(labels, labels, SCALE)
    assert set(result.cohen_kappa.values()) == {1.0}
    assert (result.accuracy, result.macro_f1) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("truth", "judged", "scale", "message"),
    [
        (["none"], [], SCALE, "1 true labels for 0 judged ones"),
        (["none", "no"], ["none", "none"], SCALE, r"truth\[1\] is 'no'"),
        (["none"], ["Full"], SCALE, r"judged\[0\] is 'Full'"),
        ([], [], ["none", "none"], "different labels"),
        ([], [], ["none"], "2 or more"),
    ],
)
def test_bad_arguments_are_named(truth, judged, scale, message):
    with pytest.raises(ValueError, match=message):
        agreement(truth, judged, scale)


# The topics of the data here, by another implementation: kappa .234.
def test_rag25_human_against_umbrela(qrels):
    human = qrels("rag25_relevance_labels/qrels_nist.txt")
    umbrela = qrels("rag25_relevance_labels/qrels_umbrela2.txt")
    assert human.keys() == umbrela.keys()
    result = agreement(list(human.values()), [umbrela[pair] for pair in human], list("01234"))
    assert result.n == 6055
    assert kappas(result)["unweighted"] == 0.234


# "Judging the Judges" (LLMJudge, TREC DL 2023), recomputed over the topics of the data here.
@pytest.mark.parametrize(
    ("judge", "expected"), [("willia-umbrela1", 0.312), ("h2oloo-fewself", 0.302)]
)
def test_dl23_judges_against_human_grades(rows, judge, expected):
    data = rows("dl23_llmjudge/pairs.jsonl")
    truth = [str(row["relevance"]) for row in data]
    result = agreement(truth, [str(row["llm"][judge]) for row in data], list("0123"))
    assert result.n == 2762
    assert kappas(result)["unweighted"] == expected
