"""What is chosen for labelling: a fair sample within topics, and the cells that tell most."""

import json
from collections import Counter

import numpy as np
import pytest

from nuggetjudge.plugins.annotate.work.next_labels import choose, influence, next_labels
from nuggetjudge.records.reading.problems import InputError, Problems

TOPICS = np.repeat([0, 1, 2], [8, 4, 20])
RUNS = np.arange(32) % 4
NOTHING = {"margin": np.zeros(32)}


def chosen(values=NOTHING, n=12, share=0.5, seed=0):
    rng = np.random.default_rng(seed)
    return choose(values, TOPICS, RUNS, n=n, random_share=share, rng=rng)


def test_within_a_topic_every_cell_is_drawn_equally_often_whatever_else_is_chosen():
    values = {"margin": np.where(np.arange(32) % 2, 1.0, 0.0)}
    drawn = Counter()
    for seed in range(600):
        choices = chosen(values, n=18, share=0.5, seed=seed)
        drawn.update(c.index for c in choices if c.chosen_by == "random")
    # 9 of 18 at random are 3 a topic: 3/8, 3/4 and 3/20 of its cells, which is `probability`.
    for topic, p in ((0, 3 / 8), (1, 3 / 4), (2, 3 / 20)):
        rates = [drawn[i] / 600 for i in np.flatnonzero(topic == TOPICS)]
        assert np.mean(rates) == pytest.approx(p, abs=1e-9)
        assert max(abs(rate - p) for rate in rates) < 4.5 * (p * (1 - p) / 600) ** 0.5
    for choice in choices:
        p = {0: 3 / 8, 1: 3 / 4, 2: 3 / 20}[int(TOPICS[choice.index])]
        assert choice.probability == (p if choice.chosen_by == "random" else None)


def test_no_cell_is_chosen_twice_and_the_number_is_kept():
    values = {"margin": np.linspace(0, 1, 32), "influence": np.linspace(1, 0, 32)}
    for n in (1, 7, 32, 50):
        choices = chosen(values, n=n)
        assert len({c.index for c in choices}) == len(choices) == min(n, 32)


def test_where_the_criteria_ask_for_few_cells_more_are_drawn_at_random():
    values = {"disagreement": np.eye(32)[5] + np.eye(32)[9]}
    by = Counter(c.chosen_by for c in chosen(values, n=12))
    assert by["random"] == 10
    assert by.total() == 12
    assert set(by) <= {"random", "disagreement", "rest"}


def test_each_criterion_takes_its_best_cell_in_turn():
    values = {"margin": np.eye(32)[3] * 0.9, "influence": np.eye(32)[20] * 0.1}
    choices = chosen(values, n=2, share=0)
    assert [(c.index, c.chosen_by) for c in choices] == [(3, "margin"), (20, "influence")]


def test_of_equal_cells_those_of_topics_and_runs_without_one_come_first():
    choices = chosen({"margin": np.ones(32)}, n=3, share=0)
    assert {int(TOPICS[c.index]) for c in choices} == {0, 1, 2}
    assert len({int(RUNS[c.index]) for c in choices}) == 3


def test_the_same_seed_gives_the_same_cells_and_another_one_others():
    values = {"margin": np.linspace(0, 1, 32)}
    assert chosen(values, seed=3) == chosen(values, seed=3)
    assert chosen(values, seed=3) != chosen(values, seed=4)


def assignments(path, table, scores=None):
    """{run: {topic: labels}} of nuggets n0 (vital), n1 (okay), n2 (vital) ..."""
    with path.open("w", encoding="utf-8") as stream:
        for run, topics in table.items():
            for topic, labels in topics.items():
                nuggets = [
                    {"id": f"n{i}", "text": f"fact {i}", "assignment": label}
                    | {"importance": "okay" if i == 1 else "vital"}
                    | ({"score": scores[i]} if scores else {})
                    for i, label in enumerate(labels)
                ]
                row = {"qid": topic, "query": f"why {topic}", "run_id": run}
                row |= {"answer_text": f"answer of {run}", "response_length": 3}
                stream.write(json.dumps(row | {"nuggets": nuggets}) + "\n")
    return path


YES, PART, NO = "support", "partial_support", "not_support"


def by_cell(sheet):
    return {(r["topic_id"], r["run_id"], r["nugget_id"]): r["chosen_by"] for r in sheet.rows}


def test_what_judges_label_furthest_apart_is_asked_first(tmp_path):
    one = assignments(tmp_path / "1.jsonl", {"a": {"t1": [YES, YES, YES, NO]}})
    other = assignments(tmp_path / "2.jsonl", {"a": {"t1": [YES, PART, NO, NO]}})
    sheet = next_labels([one, other], 1, Problems(), random_share=0)
    assert by_cell(sheet) == {("t1", "a", "n2"): "disagreement"}


def test_a_score_near_the_cut_between_two_labels_is_asked_first(tmp_path):
    labels, scores = [NO, NO, YES, YES], [0.1, 0.45, 0.75, 0.9]  # the cut is half-way: 0.6
    judged = assignments(tmp_path / "1.jsonl", {"a": {"t1": labels}}, scores)
    sheet = next_labels([judged], 2, Problems(), random_share=0)
    assert by_cell(sheet) == {("t1", "a", "n1"): "margin", ("t1", "a", "n2"): "margin"}


def test_nearly_equal_probabilities_are_asked_first(tmp_path):
    rows = [
        {"topic_id": "t1", "passage_id": f"p{i}", "grade": 1, "probabilities": p}
        for i, p in enumerate(({"0": 0.1, "1": 0.9}, {"0": 0.45, "1": 0.55}, {"1": 0.7, "2": 0.3}))
    ]
    judged = tmp_path / "relevance.jsonl"
    judged.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (row,) = next_labels([judged], 1, Problems(), random_share=0).rows
    assert (row["passage_id"], row["chosen_by"]) == ("p1", "margin")


def test_influence_is_by_hand_the_weight_against_the_gap_to_the_neighbour(tmp_path):
    # V_strict over 2 topics: a 1.0, b 0.5, c 0.25; a vital nugget moves a mean by 1/2 x 1/2.
    table = {
        "a": {"t1": [YES, NO, YES], "t2": [YES, NO, YES]},
        "b": {"t1": [YES, NO, YES], "t2": [NO, NO, NO]},
        "c": {"t1": [YES, NO, NO], "t2": [NO, NO, NO]},
    }
    judged = assignments(tmp_path / "1.jsonl", table)
    cells = [("t1", "a", "n0"), ("t1", "b", "n2"), ("t2", "c", "n0"), ("t1", "b", "n1")]
    influences = influence(judged, "nuggets", cells)
    assert influences == pytest.approx([0.25 / (0.25 + 0.5), 0.5, 0.5, 0.0])  # okay weighs nothing


def test_a_single_run_has_nobody_to_overtake(tmp_path):
    judged = assignments(tmp_path / "1.jsonl", {"a": {"t1": [YES, NO, YES]}})
    assert influence(judged, "nuggets", [("t1", "a", "n0")]).tolist() == [0.0]
    sheet = next_labels([judged], 3, Problems())
    assert {row["chosen_by"] for row in sheet.rows} == {"random"}


def test_labelled_cells_are_left_out_with_or_without_team_prefix(tmp_path):
    judged = assignments(tmp_path / "1.jsonl", {"team.a": {"t1": [YES, NO, YES]}})
    human = tmp_path / "human.csv"
    human.write_text(
        "topic_id,run_id,nugget_id,label\nt1,a,n0,support\nt1,team.a,n1,\n", encoding="utf-8"
    )
    sheet = next_labels([judged], 9, Problems(), labels=human)
    assert {cell[2] for cell in by_cell(sheet)} == {"n1", "n2"}  # n1 has no label yet
    assert (sheet.n_cells, sheet.n_labelled) == (3, 1)


def test_labels_of_judges_are_hidden(tmp_path):
    judged = assignments(tmp_path / "1.jsonl", {"a": {"t1": [YES]}})
    (row,) = next_labels([judged], 1, Problems()).rows
    assert list(row) == [
        "topic_id", "run_id", "nugget_id", "question", "answer_text", "nugget",
        "label", "annotator", "rationale", "chosen_by", "probability",
    ]  # fmt: skip
    assert (row["question"], row["nugget"], row["label"]) == ("why t1", "fact 0", None)


def test_what_cannot_be_chosen_from_is_refused(tmp_path):
    judged = assignments(tmp_path / "1.jsonl", {"a": {"t1": [YES]}})
    with pytest.raises(InputError, match="all 1 judged cells have a label already"):
        next_labels([judged], 1, Problems(), labels=judged)
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("t1 0 p1 2\n", encoding="utf-8")
    with pytest.raises(InputError, match="labels of different things"):
        next_labels([judged, qrels], 1, Problems())
    with pytest.raises(InputError, match="wanted n >= 1 and 0 to 1"):
        next_labels([judged], 1, Problems(), random_share=1.5)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"has none of relevance\.jsonl, assignments\.jsonl"):
        next_labels([tmp_path / "empty"], 1, Problems())


def test_real_judgements_are_spread_over_all_topics_and_most_runs(shared_data):
    judged = shared_data / "rag24_nuggets" / "nugget_assignments.jsonl"
    sheet = next_labels([judged], 120, Problems())
    topics = Counter(row["topic_id"] for row in sheet.rows)
    assert len(topics) == 12
    assert max(topics.values()) <= 2 * min(topics.values())
    assert len({row["run_id"] for row in sheet.rows}) > 35
    assert sheet.n_by["random"] == sheet.n_by["influence"] == 60
