"""Corrected scores of slices: short answers and long ones, paired or of topics of their own."""

import math
import random

import numpy as np
import pytest
from json_lines import write_rows
from truescore.correct import gold_only_estimate, ppi_estimate
from truescore.slices import estimate_slices

from nuggetjudge.programs.analysis.coverage_tables import by_eta, by_k, measure_taus
from nuggetjudge.programs.analysis.slices import slicer
from nuggetjudge.programs.config.sections import CoverageConfig
from nuggetjudge.programs.protocols.coverage.topic import (
    CoverageData,
    coverage_rows,
    relevance_rows,
)
from nuggetjudge.programs.scoring.corrected import correct_scores
from nuggetjudge.records.questions import NOT_JUDGED, answer_id, reference_id
from nuggetjudge.records.reading.problems import InputError, Problems
from nuggetjudge.records.rows import QuestionSet, SubQuestion

SUPPORT, NOT = "support", "not_support"


def assignments(folder, n_topics, runs, n_nuggets, given):
    """`given(topic, run, nugget)` -> words of the answer, human and judged label; labels of all."""
    human, judged, words = [], [], {}
    for t in range(n_topics):
        for run in runs:
            nuggets = []
            for i in range(n_nuggets):
                words[t, run], truth, label = given(t, run, i)
                ids = {"topic_id": f"t{t}", "run_id": run, "nugget_id": f"n{i}"}
                human.append(ids | {"label": truth})
                nuggets.append({"id": f"n{i}", "text": f"fact {i}", "importance": "vital",
                                "assignment": label})  # fmt: skip
            judged.append({"qid": f"t{t}", "query": "q", "run_id": run, "response_length": 1,
                           "answer_text": "word " * words[t, run], "nuggets": nuggets})  # fmt: skip
    return write_rows(folder / "judged.jsonl", judged), human


def sliced(path, labels, name="length", **options):
    regroup = slicer(name, path, labels, Problems())
    return correct_scores(path, labels, Problems(), regroup=regroup, **options)


def by_name(slices, measure="V_strict"):
    return {score.run_id: score for score in slices.scores if score.measure == measure}


@pytest.fixture
def kind_to_length(tmp_path):
    """8 topics; people find half of the nuggets in the short answers and none in the long ones,
    the judge all in the long ones."""

    def given(t, run, i):
        truth = SUPPORT if run == "brief" and i % 2 else NOT
        return (30 if run == "brief" else 300), truth, SUPPORT if run == "long" else truth

    path, human = assignments(tmp_path, 8, ("brief", "long"), 10, given)
    return path, human


def test_each_slice_has_the_score_of_its_items_and_their_difference_is_corrected(
    kind_to_length, tmp_path
):
    path, human = kind_to_length
    slices = sliced(path, write_rows(tmp_path / "labels.jsonl", human), measures=["V_strict"])
    rows = by_name(slices)
    assert set(rows) == {"length up to 165", "length over 165"}
    short, long = rows["length up to 165"], rows["length over 165"]
    assert (short.judged, long.judged) == pytest.approx((0.5, 1.0))
    assert (short.corrected.value, long.corrected.value) == (pytest.approx(0.5), pytest.approx(0))
    (minus,) = slices.differences
    assert (minus.judged, minus.corrected.value) == pytest.approx((-0.5, 0.5))
    assert (short.n_topics, short.n_items, slices.plain) == (8, 80, [])


def test_runs_by_name_are_slices_too(kind_to_length, tmp_path):
    path, human = kind_to_length
    labels = write_rows(tmp_path / "labels.jsonl", human)
    rows = by_name(sliced(path, labels, "run:b*"))
    plain = by_name(correct_scores(path, labels, Problems()))
    assert set(rows) == {"b*", "other runs"}
    for group, run in (("b*", "brief"), ("other runs", "long")):
        one, other = rows[group], plain[run]
        assert (one.n_items, one.n_labels) == (other.n_items, other.n_labels)
        assert one.judged == pytest.approx(other.judged)
        for name in ("like_these", "of_these"):
            mine, theirs = (getattr(score.corrected, name) for score in (one, other))
            assert (mine.low, mine.high) == pytest.approx((theirs.low, theirs.high))


def test_slices_of_topics_of_their_own_have_the_values_of_truescore(tmp_path):
    """One answer with one nugget a topic, a third of them labelled."""
    rng = random.Random(1)
    items = []
    for _ in range(240):
        long = rng.random() < 0.5
        truth = rng.random() < (0.3 if long else 0.6)
        items.append((300 if long else 30, truth, truth or (long and rng.random() < 0.6)))

    def given(t, run, i):
        words, truth, label = items[t]
        return words, SUPPORT if truth else NOT, SUPPORT if label else NOT

    path, human = assignments(tmp_path, 240, ["only"], 1, given)
    on = sorted(rng.sample(range(240), 80))
    labels = write_rows(tmp_path / "labels.jsonl", [human[t] for t in on])
    scores = by_name(sliced(path, labels))
    truth, judged = (np.array([float(item[k]) for item in items]) for k in (1, 2))
    words = np.array(["over 30" if item[0] > 30 else "up to 30" for item in items])
    for theirs in estimate_slices(judged, truth[on], on, words).estimates:
        ours = scores[f"length {theirs.name}"]
        assert (ours.n_items, ours.n_labels) == (theirs.n_total, theirs.n_gold)
        assert ours.n_topics == theirs.n_total
        assert ours.judged == pytest.approx(theirs.naive.point)
        # Ours weighs the judge's mean over all items, theirs that over unlabelled ones, each with
        # a lam tuned for it: ours over both slices.
        of_slice = np.flatnonzero(words == theirs.name)
        at = [list(of_slice).index(t) for t in on if words[t] == theirs.name]
        n, n_all = len(at), len(of_slice)
        same = ppi_estimate(
            judged[of_slice], truth[of_slice][at], at, lambda_=ours.lam * (n_all - n) / n_all
        )
        assert ours.corrected.value == pytest.approx(same.point)
        assert theirs.corrected.low < ours.corrected.value < theirs.corrected.high
        alone = gold_only_estimate(truth[of_slice][at])
        assert ours.human_only.value == pytest.approx(alone.point)
        half = (ours.corrected.like_these.high - ours.corrected.like_these.low) / 2
        assert half == pytest.approx(same.half_width, rel=0.12)


def test_recall_of_sentences_without_a_citation_is_in_no_slice(tmp_path):
    rng = random.Random(3)

    def answer(t, run, label):
        cited = [
            {"sentenceID": s, "text": "word " * (5 + s),
             "citations": [{"docid": "d", "label": label(s)}] if s % 3 else []}
            for s in range(9)
        ]  # fmt: skip
        return {"run_id": run, "topic_id": f"t{t}", "sentences": cited}

    at = [(t, run) for t in range(6) for run in "ab"]
    human = [answer(t, run, lambda s: rng.choice(["full", "none"])) for t, run in at]
    judged = [answer(t, run, lambda s: "full") for t, run in at]
    slices = sliced(
        write_rows(tmp_path / "j.jsonl", judged), write_rows(tmp_path / "h.jsonl", human)
    )
    assert {s.measure for s in slices.scores} == {"support_precision", "support_precision_hard"}


def test_a_slice_that_is_none_is_refused(kind_to_length, tmp_path):
    path, human = kind_to_length
    labels = write_rows(tmp_path / "labels.jsonl", human)
    with pytest.raises(InputError, match="scores are already by run; give a group, run:PATTERN"):
        sliced(path, labels, "run")
    with pytest.raises(InputError, match=r"--by citations: .* wanted a results folder"):
        sliced(path, labels, "citations")
    with pytest.raises(InputError, match="--against one: no such run"):
        sliced(path, labels, against="one")


# The tables of the CRUX paper on topics that can be counted by hand.
# Four questions; passage p answers one, q another, r two, none answers nothing.
RATINGS = {
    "p": (5, 0, 0, 0), "q": (0, 4, 0, 0), "r": (0, 0, 3, 5), "none": (0, 2, 0, 0),
    "unknown": (NOT_JUDGED,) * 4,
}  # fmt: skip
SETTINGS = CoverageConfig(k=2)


def collection(runs, reports, n_topics=1, ratings=RATINGS):
    """Runs as lists of passages of every topic, reports as how many questions they answer."""
    topics = [f"t{i}" for i in range(n_topics)]
    questions = tuple(SubQuestion(id=str(i), text=f"Question {i}?") for i in range(4))
    data = CoverageData(
        {t: QuestionSet(topic_id=t, questions=questions, n_columns=4) for t in topics},
        {t: {f"{t}:{name}": given for name, given in ratings.items()} for t in topics},
    )
    for topic in topics:
        of_topic = data.ratings[topic]
        data.pools[topic] = tuple(of_topic)
        of_topic[reference_id(topic)] = (5, 5, 5, 5)
        for run, names in runs.items():
            ids = tuple(f"{topic}:{name}" for name in names)
            data.rankings.setdefault(run, {})[topic] = ids
        for run, n in reports.items():
            of_topic[answer_id(topic, run)] = (5,) * n + (0,) * (4 - n)
            data.reports.setdefault(run, {})[topic] = answer_id(topic, run)
    return data


def known(**changes):
    """RATINGS without the passage whose ratings are missing, and changed."""
    return {name: given for name, given in RATINGS.items() if name != "unknown"} | changes


THREE = {"one": ["p", "none"], "two": ["p", "q"], "three": ["q", "r"]}  # 1/4, 2/4 and 3/4


@pytest.mark.parametrize(
    ("reports", "tau"),
    [
        ({"one": 0, "two": 1, "three": 4}, 1.0),
        ({"one": 4, "two": 2, "three": 1}, -1.0),
        ({"one": 2, "two": 1, "three": 4}, 1 / 3),  # one of three pairs the other way round
        ({"one": 1, "two": 1, "three": 4}, 2 / math.sqrt(6)),  # a tie on one side: tau-b
    ],
)
def test_tau_is_of_contexts_against_the_reports_of_the_same_runs(reports, tau):
    data = collection(THREE, reports, ratings=known())
    correlation = measure_taus(data, SETTINGS)["coverage"]
    assert correlation.tau.value == pytest.approx(tau)
    assert (correlation.n_runs, correlation.n_unjudged) == (3, 0)


def test_the_oracles_take_no_part_in_a_tau():
    data = collection(THREE, {"one": 0, "two": 1, "three": 4}, ratings=known())
    rows = coverage_rows(data, SETTINGS)
    assert {"Z*", "y*"} <= {row.run_id for row in rows}
    assert {correlation.n_runs for correlation in measure_taus(data, SETTINGS).values()} == {3}
    for variant in [*by_eta(data, SETTINGS), *by_k(data, SETTINGS, [1, 2])]:
        assert set(variant.contexts) == set(variant.reports) == set(THREE)


def test_a_run_without_reports_is_not_paired():
    runs = THREE | {"four": ["r", "p"]}
    correlations = measure_taus(collection(runs, {"one": 0, "two": 1, "three": 4}), SETTINGS)
    assert correlations["coverage"].n_runs == 3


def test_under_three_paired_runs_there_is_no_tau():
    correlations = measure_taus(collection(THREE, {"one": 0, "two": 4}, ratings=known()), SETTINGS)
    assert correlations["coverage"].tau.value is None
    assert correlations["coverage"].n_runs == 2


def test_runs_that_all_have_one_value_have_no_tau():
    correlations = measure_taus(collection(THREE, dict.fromkeys(THREE, 2)), SETTINGS)
    assert correlations["coverage"].tau.value is None
    assert correlations["coverage"].n_runs == 3


def test_the_interval_is_drawn_by_topic():
    data = collection(THREE, {"one": 0, "two": 1, "three": 4}, n_topics=4, ratings=known())
    tau = measure_taus(data, SETTINGS, resamples=50)["coverage"].tau
    assert (tau.value, tau.low, tau.high, tau.n_topics) == (1.0, 1.0, 1.0, 4)
    of_some = data.reports["three"]  # where it answers nothing, the runs tie or turn round
    for topic in list(of_some)[:2]:
        data.ratings[topic][of_some[topic]] = (0, 0, 0, 0)
    tau = measure_taus(data, SETTINGS, resamples=200)["coverage"].tau
    assert tau.low < tau.value
    assert tau.high == 1.0


def test_all_measures_of_contexts_are_there_and_none_of_reports():
    data = collection(THREE, {"one": 0, "two": 1, "three": 4}, ratings=known())
    ours = [
        "coverage",
        "alpha_ndcg@2",
        "alpha_ndcg_required@2",
        "redundancy",
    ]  # lengths are not known
    assert list(measure_taus(data, SETTINGS)) == [*ours, "R@2", "AP@2", "nDCG@2"]


def values(rows, run, topic="all"):
    return {row.measure: row.value for row in rows if (row.run_id, row.topic_id) == (run, topic)}


def test_relevance_is_by_the_grades_of_the_pool():
    # Required: r (two questions), then p and q; s repeats r with a better rating (2), u is 1.
    ratings = known(s=(0, 0, 4, 0), u=(0, 3, 0, 0), none=(0, 2, 0, 0))
    data = collection({"one": ["none", "s", "p", "u"]}, {}, ratings=ratings)
    measures = values(relevance_rows(data, CoverageConfig(k=3)), "one")
    assert measures["R@3"] == 2 / 5  # p, q, r, s and u answer something
    assert measures["AP@3"] == pytest.approx((1 / 2 + 2 / 3) / 5)
    gain = 2 / math.log2(3) + 3 / math.log2(4)
    assert measures["nDCG@3"] == pytest.approx(gain / (3 + 3 / math.log2(3) + 3 / math.log2(4)))


def test_a_passage_of_another_topic_is_not_relevant_and_one_without_ratings_is_left_out():
    data = collection({"one": ["p", "none"], "two": ["q", "r"]}, {}, ratings=known())
    data.ratings["t0"]["x:0#0"] = (5, 5, 5, 5)
    data.rankings["one"]["t0"] = ("x:0#0", "t0:p")
    rows = relevance_rows(data, SETTINGS)
    assert values(rows, "one")["AP@2"] == pytest.approx(1 / 2 / 3)
    assert all(row.n_unjudged == 0 and row.low == row.value == row.high for row in rows)
    data.rankings["one"]["t0"] = ("y:0#0", "t0:p")  # nobody rated y:0#0
    (row,) = (r for r in relevance_rows(data, SETTINGS) if r.run_id == "one" and
              r.topic_id == "t0" and r.measure == "AP@2")  # fmt: skip
    assert row.value == pytest.approx(1 / 3)
    assert (row.n, row.n_unjudged, row.low, row.high) == (1, 1, 0.0, 1.0)


def test_coverage_follows_eta_and_is_held_against_the_order_at_3():
    reports = {"one": 0, "two": 1, "three": 4}
    variants = by_eta(collection(THREE, reports, ratings=known()), SETTINGS, [1, 3, 4, 5])
    covered = [{run: row.value for run, row in v.contexts.items()} for v in variants]
    # eta 4: question 2 has no answer any more; 5: neither has question 1.
    assert covered[0] == {"one": 2 / 4, "two": 2 / 4, "three": 3 / 4}
    assert covered[1] == {"one": 1 / 4, "two": 2 / 4, "three": 3 / 4}
    assert covered[2] == {"one": 1 / 3, "two": 2 / 3, "three": 2 / 3}
    assert covered[3] == {"one": 1 / 2, "two": 1 / 2, "three": 1 / 2}
    taus = [variant.to_base.tau.value for variant in variants]
    assert taus == [pytest.approx(2 / math.sqrt(6)), 1.0, pytest.approx(2 / math.sqrt(6)), None]
    assert variants[1].to_reports.tau.value == 1.0
    answered = {run: row.value for run, row in variants[1].reports.items()}
    assert answered == {"one": 0, "two": 1 / 4, "three": 1}


def test_eta_changes_what_is_answerable_but_not_the_passages_of_a_context():
    data = collection({"one": ["p", "q", "r"]}, {}, ratings=known())
    variants = by_eta(data, CoverageConfig(k="required"), [3, 5])
    assert [variant.contexts["one"].value for variant in variants] == [1.0, 1.0]  # Z* has 3
    (at_5,) = by_eta(data, CoverageConfig(k=2), [5])
    assert at_5.contexts["one"].value == 1 / 2  # of p and r, only p is among the first 2


def test_coverage_follows_the_size_of_the_context():
    runs = {"one": ["p", "q", "r"], "two": ["none", "r", "p"], "three": ["none", "p", "q"]}
    data = collection(runs, {}, ratings=known())
    variants = by_k(data, SETTINGS, [1, 2, 3], is_cut=False)
    covered = [[variant.contexts[run].value for run in runs] for variant in variants]
    assert covered == [[1 / 4, 0, 0], [2 / 4, 2 / 4, 1 / 4], [1, 3 / 4, 2 / 4]]
    assert [variant.settings.k for variant in variants] == [1, 2, 3]
    # One pair is tied at size 2, and another at size 1; all others are in the same order.
    taus = [variant.to_base.tau.value for variant in variants]
    assert taus == [pytest.approx(1 / 2), pytest.approx(1.0), pytest.approx(2 / math.sqrt(6))]


def test_deeper_than_a_ranking_was_cut_there_are_bounds_and_no_value():
    runs = THREE | {"short": ["r"]}
    (deep,) = by_k(collection(runs, {}, ratings=known()), SETTINGS, [4])
    assert {run: (r.value, r.low, r.high) for run, r in deep.contexts.items()} == {
        "one": (None, 1 / 4, 1.0),
        "two": (None, 2 / 4, 1.0),
        "three": (None, 3 / 4, 1.0),
        "short": (2 / 4, 2 / 4, 2 / 4),  # it ended there
    }
    assert (deep.to_base.n_runs, deep.to_base.tau.value) == (1, None)


def test_missing_ratings_are_bounds_and_not_zeros():
    runs = {"one": ["p", "unknown"], "two": ["p", "none"]}
    data = collection(runs, {})
    data.pools["t0"] = tuple(f"t0:{name}" for name in known())
    (variant,) = by_k(data, SETTINGS, [2])
    one, two = variant.contexts["one"], variant.contexts["two"]
    assert (one.low, one.high, one.n_unjudged) == (1 / 4, 1.0, 4)
    assert (two.low, two.value, two.high, two.n_unjudged) == (1 / 4, 1 / 4, 1 / 4, 0)
    assert variant.to_base.n_unjudged == 8  # behind both sides
