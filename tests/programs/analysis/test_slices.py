"""Corrected scores of slices: short answers and long ones, paired or of topics of their own."""

import json
import random

import numpy as np
import pytest
from truescore.correct import gold_only_estimate, ppi_estimate
from truescore.slices import estimate_slices

from nuggetjudge.programs.analysis.slices import slicer
from nuggetjudge.programs.scoring.corrected import correct_scores
from nuggetjudge.records.reading.problems import InputError, Problems

SUPPORT, NOT = "support", "not_support"


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


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
    return write(folder / "judged.jsonl", judged), human


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
    slices = sliced(path, write(tmp_path / "labels.jsonl", human), measures=["V_strict"])
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
    labels = write(tmp_path / "labels.jsonl", human)
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
    labels = write(tmp_path / "labels.jsonl", [human[t] for t in on])
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
    slices = sliced(write(tmp_path / "j.jsonl", judged), write(tmp_path / "h.jsonl", human))
    assert {s.measure for s in slices.scores} == {"support_precision", "support_precision_hard"}


def test_a_slice_that_is_none_is_refused(kind_to_length, tmp_path):
    path, human = kind_to_length
    labels = write(tmp_path / "labels.jsonl", human)
    with pytest.raises(InputError, match="scores are by run already; name a group, run:PATTERN"):
        sliced(path, labels, "run")
    with pytest.raises(InputError, match=r"--by citations: .* wanted a results folder"):
        sliced(path, labels, "citations")
    with pytest.raises(InputError, match="--against one: no such run"):
        sliced(path, labels, against="one")
