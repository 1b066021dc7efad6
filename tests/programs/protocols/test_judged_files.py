"""Labels without an order: what goes by how far apart two of them are is left alone."""

import json

import pytest

from nuggetjudge.programs.analysis.agree import agree
from nuggetjudge.programs.analysis.compare import compare_judges
from nuggetjudge.programs.protocols.judged_files import are_ordered
from nuggetjudge.records.reading.problems import Problems

LABELS = ("linear", "ordinal", "other")  # names that kinds of kappa and alpha have too


def labels_file(path, labels, **more):
    """A row for each label, on the questions q0, q1, ... of two topics; lists are by field."""
    rows = [
        {"topic_id": f"t{i % 2}", "question_id": f"q{i}", "label": label}
        | {name: values[i] for name, values in more.items()}
        for i, label in enumerate(labels)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def folder(path, labels, *, is_ordered, **more):
    """What `judge run` leaves of items with these labels."""
    path.mkdir()
    labels_file(path / "labels.jsonl", labels, **more)
    items = {"labels": LABELS, "is_ordered": is_ordered, "key": ["topic_id", "question_id"]}
    items |= {"judge": "j", "inputs": ["text"], "gains": {}, "measure": "mean_gain"}
    known = {"fingerprint": "", "judged": {}, "unjudged": {}, "share_missing": 0.0}
    known |= {"config": {"program": ["items"]}, "data": {"topic_ids": [], "run_ids": []}}
    known |= {"cells_without_bank": [], "topics_without_nuggets": [], "items": items}
    known |= {"tokens": {}, "this_time": {}, "limit_reached": None}
    (path / "manifest.json").write_text(json.dumps(known), encoding="utf-8")
    return path


def test_labels_have_an_order_if_their_judge_or_their_scale_says_so(tmp_path):
    yes = folder(tmp_path / "yes", LABELS, is_ordered=True)
    no = folder(tmp_path / "no", LABELS, is_ordered=False)
    plain = labels_file(tmp_path / "plain.jsonl", LABELS)
    assert are_ordered("other", LABELS, plain, yes)
    assert not are_ordered("other", LABELS, plain, no)
    assert not are_ordered("other", ("no", "yes"), no)
    assert not are_ordered("other", ("average", "good", "poor"), plain)
    assert are_ordered("other", ("no", "neutral", "yes"), plain)
    assert are_ordered("relevance", ("0", "1", "2", "3"), plain)


@pytest.fixture(params=["sorted by name", "names of a judge"])
def pair(request, tmp_path):
    """Two judges: q0 is linear and ordinal, q1 linear and other; q2 to q5 they agree on."""
    same = ["linear", "ordinal", "other", "other"]
    one, other = ["linear", "linear", *same], ["ordinal", "other", *same]
    scores = {"score": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]}
    paths = tmp_path / "one", tmp_path / "other"
    if request.param == "sorted by name":
        return [labels_file(p, x, **scores) for p, x in zip(paths, (one, other), strict=True)]
    return [
        folder(p, x, is_ordered=False, **scores) for p, x in zip(paths, (one, other), strict=True)
    ]


def test_flips_of_labels_without_order_come_by_their_ids(pair):
    one, other = pair
    other = other / "labels.jsonl" if other.is_dir() else other  # no costs to compare
    flips = compare_judges(one, other, Problems())["flips"]
    assert [row["question_id"] for row in flips] == ["q0", "q1"]


@pytest.mark.whole
def test_of_labels_without_order_all_that_differ_are_equally_worth_asking(pair):
    from nuggetjudge.plugins.annotate.work.next_labels import next_labels

    first = set()
    for seed in range(12):
        sheet = next_labels(pair, 1, Problems(), random_share=0, seed=seed)
        (row,) = sheet.rows
        assert row["chosen_by"] == "disagreement"
        first.add(row["question_id"])
    assert first == {"q0", "q1"}
    assert next_labels(pair, 3, Problems(), random_share=0).n_by["margin"] == 0


def test_labels_ordered_by_name_alone_have_no_figure_of_distance(tmp_path):
    words = ["good", "poor", "average", "good", "poor", "average"]
    labels = ["good", "average", "average", "good", "poor", "poor"]
    human = labels_file(tmp_path / "human.jsonl", words)
    agreement = agree(human, labels_file(tmp_path / "judged.jsonl", labels), Problems())
    assert agreement["is_ordered"] is False
    # 4 of 6 agree; by chance 1/3, as both gave each label twice.
    kappa = pytest.approx((4 / 6 - 1 / 3) / (2 / 3))
    assert agreement["cohen_kappa"] == {"unweighted": kappa, "linear": None, "quadratic": None}
    assert agreement["intervals"]["alpha"]["ordinal"]["value"] is None
    assert agreement["intervals"]["alpha"]["nominal"]["value"] is not None
    named = [
        labels_file(tmp_path / n, x, annotator=[n] * 6) for n, x in (("a", words), ("b", labels))
    ]
    human.write_text("".join(path.read_text(encoding="utf-8") for path in named), encoding="utf-8")
    alone = agree(human, None, Problems())
    among = alone["annotators"]["among"]
    assert alone["is_ordered"] is False
    assert among["pairwise_kappa"]["unweighted"] == kappa
    assert (among["pairwise_kappa"]["linear"], among["alpha"]["interval"]) == (None, None)
    assert among["intervals"]["pairwise_kappa"]["quadratic"]["value"] is None


def test_labels_of_a_known_scale_keep_their_figures_of_distance(tmp_path):
    paths = [
        labels_file(tmp_path / name, labels)
        for name, labels in (("human", [2, 3, 3, 2, 2, 3]), ("judged", [1, 2, 2, 2, 1, 2]))
    ]
    agreement = agree(*paths, Problems())
    assert (agreement["is_ordered"], agreement["scale"]) == (True, ["1", "2", "3"])
    agreement = agree(*paths[::-1], Problems())
    assert agreement["scale"] == ["1", "2", "3"]  # and not 2, 3, 1
    assert agreement["cohen_kappa"]["linear"] is not None


def test_names_of_labels_and_annotators_do_not_take_figures_away(tmp_path):
    truth = [*LABELS, *LABELS]
    names = {"annotator": ["quadratic"] * 6}
    human = labels_file(tmp_path / "human.jsonl", truth, **names)
    second = labels_file(tmp_path / "more.jsonl", truth, annotator=["interval"] * 6)
    human.write_text(
        human.read_text(encoding="utf-8") + second.read_text(encoding="utf-8"), encoding="utf-8"
    )
    labels = ["linear", "ordinal", "linear", "linear", "ordinal", "other"]
    agreement = agree(human, folder(tmp_path / "judged", labels, is_ordered=False), Problems())
    # Of 3 judged linear 2 are, and both that are were found.
    assert agreement["precision"] == {"linear": pytest.approx(2 / 3), "ordinal": 1.0, "other": 1.0}
    assert agreement["recall"]["linear"] == 1.0
    assert agreement["truth_counts"]["ordinal"] == 2
    assert agreement["one_vs_rest"]["ordinal"] == 1.0
    assert agreement["intervals"]["one_vs_rest"]["ordinal"]["value"] == 1.0
    # 5 of 6 agree; by chance 2/6 (3 + 2 + 1)/6 = 1/3.
    kappa = pytest.approx((5 / 6 - 1 / 3) / (2 / 3))
    assert agreement["cohen_kappa"] == {"unweighted": kappa, "linear": None, "quadratic": None}
    lost = agreement["intervals"]["cohen_kappa"]["linear"]
    assert (lost["value"], lost["low"], lost["high"], lost["n_topics"]) == (None, None, None, 2)
    assert agreement["alpha"]["ordinal"] is agreement["alpha"]["interval"] is None
    assert agreement["alpha"]["nominal"] is not None
    among, judge = agreement["annotators"]["among"], agreement["annotators"]["judge"]
    assert (among["pairwise_kappa"]["unweighted"], among["pairwise_kappa"]["linear"]) == (1, None)
    assert among["alpha"] == {"nominal": 1.0, "ordinal": None, "interval": None}
    assert (judge["unweighted"], judge["quadratic"], judge["n_pairs"]) == (kappa, None, 2)
    assert judge["intervals"]["linear"]["value"] is None
    for name in ("quadratic", "interval"):
        assert judge["by_annotator"][name]["unweighted"] == kappa
        assert judge["by_annotator"][name]["linear"] is None
