"""Two files of labels: figures, intervals by topic, and the annotators beside the judge."""

import json
import random

import pytest

from nuggetjudge.metrics import agreement, reliability
from nuggetjudge.programs.analysis.agree import agree
from nuggetjudge.records.reading.problems import InputError, Problems


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def items(n_topics=6, n=8):
    return [
        {"topic_id": f"t{t}", "question_id": f"q{q}"} for t in range(n_topics) for q in range(n)
    ]


@pytest.fixture
def annotated(tmp_path):
    """Labels of three annotators, 'no' or 'yes', who agree in about four of five."""
    rng, rows = random.Random(1), []
    for item in items():
        usual = rng.choice(["no", "yes"])
        for name in ("ann", "ben", "cyd"):
            label = usual if rng.random() < 0.8 else rng.choice(["no", "yes"])
            rows.append({**item, "annotator": name, "label": label})
    return write(tmp_path / "human.jsonl", rows)


@pytest.fixture
def judged(tmp_path):
    rng = random.Random(2)
    rows = [{**item, "label": rng.choice(["no", "yes"])} for item in items()]
    return write(tmp_path / "judged.jsonl", rows)


def test_everything_the_metrics_give_is_there_and_survives_json(annotated, judged):
    figures = agree(annotated, judged, Problems())
    assert json.loads(json.dumps(figures, allow_nan=False)) == figures
    assert (figures["n"], figures["n_topics"]) == (48, 6)
    assert set(figures["alpha"]) == {"nominal", "ordinal", "interval"}
    for name in ("accuracy", "macro_f1", "fleiss_kappa", "randolph_kappa", "ac1"):
        interval = figures["intervals"][name]
        assert interval["value"] == figures[name]
        assert interval["low"] < interval["value"] < interval["high"]
        assert (interval["n_topics"], interval["level"]) == (6, 0.95)
    for name in ("cohen_kappa", "alpha", "one_vs_rest"):
        for key, interval in figures["intervals"][name].items():
            assert interval["value"] == figures[name][key]


def test_the_annotators_stand_beside_the_judge(annotated, judged):
    figures = agree(annotated, judged, Problems())["annotators"]
    people = {name: {} for name in ("ann", "ben", "cyd")}
    for row in map(json.loads, annotated.open(encoding="utf-8")):
        people[row["annotator"]][row["topic_id"], row["question_id"]] = row["label"]
    verdicts = {
        (row["topic_id"], row["question_id"]): row["label"]
        for row in map(json.loads, judged.open(encoding="utf-8"))
    }
    cells = sorted(verdicts)
    lists = [[labels[cell] for cell in cells] for labels in people.values()]
    assert figures["names"] == ["ann", "ben", "cyd"]
    among = reliability(lists, ["no", "yes"]).as_dict()
    assert {name: figures["among"][name] for name in among} == among
    kappas = [
        agreement([verdicts[cell] for cell in cells], one, ["no", "yes"]).cohen_kappa
        for one in lists
    ]
    assert list(figures["judge"]["by_annotator"].values()) == kappas
    mean = sum(kappa["unweighted"] for kappa in kappas) / 3
    assert figures["judge"]["unweighted"] == pytest.approx(mean)
    assert figures["judge"]["intervals"]["unweighted"]["low"] < mean
    assert figures["among"]["intervals"]["pairwise_kappa"]["linear"]["n_topics"] == 6


def test_one_file_gives_the_agreement_of_its_annotators_alone(annotated, judged):
    figures = agree(annotated, None, Problems())
    beside = agree(annotated, judged, Problems())["annotators"]
    assert figures["annotators"]["among"] == beside["among"]
    assert figures["annotators"]["judge"] is None
    with pytest.raises(InputError, match="no rows of several annotators"):
        agree(judged, None, Problems())
    with pytest.raises(InputError, match="a folder"):
        agree(annotated.parent, None, Problems())


@pytest.mark.parametrize("more", [{}, {"annotator": "ann"}])
def test_a_sheet_that_nobody_filled_in_says_so(judged, tmp_path, more):
    empty = write(tmp_path / "sheet.jsonl", [{**item, "label": None, **more} for item in items()])
    message = "sheet.jsonl: none of its 48 items has a label yet"
    for pair in ((empty, judged), (judged, empty), (empty, None)):
        with pytest.raises(InputError, match=message):
            agree(*pair, Problems())


def test_items_without_a_majority_count_among_the_annotators_but_not_for_the_judge(tmp_path):
    cells = [{"topic_id": "t", "passage_id": f"d{i}"} for i in range(3)]
    given = ["01", "11", "22"]  # the first has no majority
    rows = [
        {**cell, "annotator": name, "label": label}
        for cell, labels in zip(cells, given, strict=True)
        for name, label in zip("ab", labels, strict=True)
    ]
    human = write(tmp_path / "human.jsonl", rows)
    judged = write(tmp_path / "judged.jsonl", [{**cell, "label": "1"} for cell in cells])
    figures = agree(human, judged, Problems())
    assert figures["n"] == 2
    assert figures["annotators"]["among"]["n_items"] == 3
    assert figures["annotators"]["among"]["observed"] == pytest.approx(2 / 3)


def test_only_items_that_the_judge_judged_count_among_the_annotators(annotated, tmp_path):
    rows = [{**item, "label": "yes"} for item in items()[:20]]
    figures = agree(annotated, write(tmp_path / "judged.jsonl", rows), Problems())
    assert figures["annotators"]["among"]["n_items"] == 20


def test_labels_without_topics_have_no_bounds(tmp_path):
    rows = [{"passage_id": f"d{i}", "label": i % 2} for i in range(6)]
    path = write(tmp_path / "labels.jsonl", rows)
    figures = agree(path, path, Problems())
    assert figures["n_topics"] == 0
    assert figures["intervals"]["accuracy"] == {
        "value": 1.0, "low": None, "high": None, "n_topics": 0, "level": 0.95
    }  # fmt: skip


def test_resamples_seed_and_level_reach_the_intervals(annotated, judged):
    def kappa(**how):
        intervals = agree(annotated, judged, Problems(), **how)["intervals"]
        return intervals["cohen_kappa"]["unweighted"]

    assert kappa() == kappa()
    assert kappa(seed=5) != kappa()
    assert kappa(level=0.5)["low"] > kappa()["low"]
    assert kappa(resamples=0)["low"] is None


# The figure that the authors' annotations give over the topics of the data here.
def test_crux_annotators_have_their_fleiss_kappa(shared_data, tmp_path):
    path = shared_data / "crux_duc" / "human_t1.jsonl"
    if not path.is_file():
        pytest.skip(f"{path} is absent")
    rows = [
        {
            "topic_id": row["qid"],
            "run_id": row["report_id"],
            "question_id": row["question_idx"],
            "annotator": name,
            "label": row[name],
        }
        for row in map(json.loads, path.open(encoding="utf-8"))
        for name in ("a1", "a2", "a3")
    ]
    figures = agree(write(tmp_path / "t1.jsonl", rows), None, Problems())["annotators"]
    assert figures["among"]["fleiss_kappa"] == pytest.approx(0.5533, abs=5e-5)
    assert (figures["among"]["n_items"], figures["n_topics"]) == (264, 6)
    interval = figures["among"]["intervals"]["fleiss_kappa"]
    assert interval["low"] < 0.5533 < interval["high"]
