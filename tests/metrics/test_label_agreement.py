import krippendorff
import numpy as np
import pytest
from hypothesis import strategies as st

from nuggetjudge.metrics import agreement, pairwise_kappa, reliability

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
    [1690, 1074, 681, 150, 24], [348, 446, 566, 113, 26], [405, 735, 1971, 547, 102],
    [80, 136, 554, 411, 137], [1, 8, 18, 42, 19],
]  # fmt: skip


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


ANNOTATORS_SCALE = list("12345")

# "Computing Krippendorff's Alpha-Reliability" (2011): 4 coders, 12 units, missing ratings.
ALPHA_2011 = [
    [None if label == "." else label for label in row]
    for row in ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")
]

# Fleiss (1971), Table 1: 30 patients, 6 psychiatrists, 5 diagnoses.
FLEISS_1971 = """
    00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031
    00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006
"""


def raters(table):
    """Label lists that give these counts; who gave which label does not matter here."""
    labels = [
        [ANNOTATORS_SCALE[k] for k, n in enumerate(row) for _ in range(int(n))] for row in table
    ]
    return [list(column) for column in zip(*labels, strict=True)]


@pytest.mark.parametrize(
    ("level", "expected"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_matches_the_published_example(level, expected):
    figures = reliability(ALPHA_2011, ANNOTATORS_SCALE)
    assert figures.alpha[level] == pytest.approx(expected, abs=5e-4)
    assert (figures.n_annotators, figures.n_items, figures.n_labels) == (4, 12, 41)
    assert figures.n_pairable == 11  # one unit was coded by one coder alone


# The same data in the documentation of R's irrCAC: observed .8181818, chance .1903212.
def test_gwet_ac1_matches_the_published_example_with_missing_labels():
    figures = reliability(ALPHA_2011, ANNOTATORS_SCALE)
    assert figures.observed == pytest.approx(0.8181818, abs=5e-8)
    assert figures.ac1 == pytest.approx(0.77544, abs=5e-6)


def test_fleiss_kappa_matches_the_published_example():
    figures = reliability(raters(FLEISS_1971.split()), ANNOTATORS_SCALE)
    assert figures.fleiss_kappa == pytest.approx(0.430, abs=5e-4)
    assert (figures.n_evenly, figures.labels_each, figures.n_labels) == (30, 6, 180)


def test_randolph_and_ac1_count_labels_that_nobody_used():
    ratings = [["a", "a", "b"], ["a", "b", "b"]]
    two, three = reliability(ratings, ["a", "b"]), reliability(ratings, ["a", "b", "c"])
    assert two.randolph_kappa == pytest.approx((2 / 3 - 1 / 2) / (1 - 1 / 2))
    assert three.randolph_kappa == pytest.approx((2 / 3 - 1 / 3) / (1 - 1 / 3))
    assert three.ac1 > two.ac1
    assert three.fleiss_kappa == two.fleiss_kappa
    assert three.alpha["nominal"] == two.alpha["nominal"]


def test_fleiss_and_randolph_rest_on_the_items_with_the_commonest_number_of_labels():
    full = [list("aabb"), list("abbb"), list("aaba")]
    more = [[*one, *extra] for one, extra in zip(full, ("ab", "bc", (None, None)), strict=True)]
    alone, mixed = reliability(full, "abc"), reliability(more, "abc")
    assert (mixed.n_evenly, mixed.labels_each, mixed.n_pairable) == (4, 3, 6)
    assert mixed.fleiss_kappa == alone.fleiss_kappa
    assert mixed.randolph_kappa == alone.randolph_kappa
    assert mixed.alpha["nominal"] < alone.alpha["nominal"]


# By hand: pairs 1-2 share 2 items and differ in one, 1-3 share none, 2-3 are one label throughout.
def test_pairs_without_a_kappa_are_counted_and_left_out_of_the_mean():
    ratings = [["a", "b", None, None], ["a", "a", "a", "a"], [None, None, "a", "a"]]
    kappa = reliability(ratings, ["a", "b"]).pairwise_kappa
    assert (kappa.unweighted, kappa.n_pairs, kappa.n_undefined) == (0.0, 1, 2)


def test_the_judge_is_compared_with_each_annotator_as_they_are_with_each_other():
    one, two, three = list("abcab"), list("abbab"), list("bbcaa")
    scale = list("abc")
    among = reliability([one, two, three], scale).pairwise_kappa
    of_pairs = [agreement(*pair, scale) for pair in ((one, two), (one, three), (two, three))]
    mean = sum(each.cohen_kappa["linear"] for each in of_pairs) / 3
    assert among.linear == pytest.approx(mean)
    judge = pairwise_kappa([(one, two), (one, three)], scale)
    mean = sum(each.cohen_kappa["linear"] for each in of_pairs[:2]) / 2
    assert judge.linear == pytest.approx(mean)


# By hand: with one person the judge has kappa .5 on 16 items (equal .75, chance .5), with another
# -1 on 4 (never equal, chance .5). The mean of the two is -.25; by items it is (16 x .5 - 4) / 20.
def test_somebody_with_few_labels_moves_the_mean_kappa_by_those_few():
    judge = list("aaaabbbb" * 2 + "aabb")
    many = [*"aaabbbba" * 2, *[None] * 4]
    few = [*[None] * 16, *"bbaa"]
    pairs = [(judge, many), (judge, few)]
    assert pairwise_kappa(pairs[:1], "ab").unweighted == pytest.approx(0.5)
    assert pairwise_kappa(pairs[1:], "ab").unweighted == pytest.approx(-1)
    assert pairwise_kappa(pairs, "ab").unweighted == pytest.approx(0.2)
    third = [*"aaabbbba" * 2, *"aabb"]  # of the pairs of people two share 16 and 4 items
    among = reliability([many, few, third], "ab").pairwise_kappa
    assert (among.n_pairs, among.unweighted) == (2, pytest.approx((16 * 1 + 4 * -1) / 20))


@pytest.mark.parametrize("ratings", [[], [[], []], [["a", None], [None, "a"]]])
def test_without_an_item_of_two_labels_every_figure_is_undefined(ratings):
    result = reliability(ratings, ["a", "b"])
    figures = (result.observed, result.fleiss_kappa, result.randolph_kappa, result.ac1)
    assert set(figures) == {None}
    assert set(result.alpha.values()) == {None}
    assert result.pairwise_kappa.unweighted is None
    assert (result.n_pairable, result.n_evenly) == (0, 0)


def test_one_label_throughout_leaves_chance_corrected_figures_undefined():
    figures = reliability([["a", "a"], ["a", "a"]], ["a", "b"])
    assert figures.fleiss_kappa is None
    assert set(figures.alpha.values()) == {None}
    assert (figures.observed, figures.randolph_kappa, figures.ac1) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("ratings", "scale", "message"),
    [
        ([["a", "b"], ["a"]], ["a", "b"], r"ratings\[1\] has 1 items"),
        ([["a", "b"], ["a", "x"]], ["a", "b"], r"ratings\[1\]\[1\] is 'x'"),
        ([["a"]], ["a", "a"], "different labels"),
    ],
)
def test_annotators_bad_arguments_are_named(ratings, scale, message):
    with pytest.raises(ValueError, match=message):
        reliability(ratings, scale)


# The figure that the authors' annotations give over the topics of the data here.
def test_crux_report_coverage_fleiss_kappa(rows):
    data = rows("crux_duc/human_t1.jsonl")
    ratings = [[str(row[name]) for row in data] for name in ("a1", "a2", "a3")]
    figures = reliability(ratings, ["0", "1"])
    assert (figures.n_items, figures.n_evenly, figures.labels_each) == (264, 264, 3)
    assert figures.fleiss_kappa == pytest.approx(0.5533, abs=5e-5)


# Ratings 0-5 of one to three annotators: alpha by the package, called on the raw table.
def test_crux_passage_ratings_with_missing_annotators(rows):
    data = rows("crux_duc/human_t2.jsonl")
    ratings = [
        [None if row.get(name) is None else str(row[name]) for row in data]
        for name in ("a1", "a2", "a3")
    ]
    figures = reliability(ratings, list("012345"))
    table = [[np.nan if label is None else float(label) for label in one] for one in ratings]
    for level, value in figures.alpha.items():
        expected = krippendorff.alpha(table, level_of_measurement=level)
        assert value == pytest.approx(expected, abs=1e-9)
    assert 0 < figures.n_pairable < figures.n_items == 105
