"""Two files of scores: rank correlations at three levels, with intervals by topic."""

import json
import random

import pytest
from json_lines import write_rows

from nuggetjudge.programs.analysis.agree import agree
from nuggetjudge.programs.analysis.tables.agreement import make_agreement_view
from nuggetjudge.records.reading.problems import InputError, Problems
from nuggetjudge.views.terminal import Terminal, view_text


def write(path, cells, runs=None):
    """Score rows of V from (run, topic) -> value, and means by run where they are given."""
    rows = [(run, topic, value) for (run, topic), value in cells.items()]
    rows += [(run, "all", value) for run, value in (runs or {}).items()]
    lines = [
        {"run_id": run, "topic_id": topic, "measure": "V", "value": value}
        for run, topic, value in rows
    ]
    write_rows(path, lines)
    return path


def cells(seed):
    rng = random.Random(seed)
    return {(f"r{r}", f"t{t}"): round(r / 10 + rng.random(), 3) for r in range(7) for t in range(9)}


@pytest.fixture
def pair(tmp_path):
    return write(tmp_path / "human.jsonl", cells(1)), write(tmp_path / "judged.jsonl", cells(2))


def test_each_measure_has_its_coefficients_intervals_and_run_scores(pair):
    figures = agree(*pair, Problems())
    assert json.loads(json.dumps(figures, allow_nan=False)) == figures
    assert figures["kind"] == "scores"
    values = figures["measures"]["V"]
    levels = {"run_level": values["run_level"], "topic_mean": values["topic_mean"]}
    for level, value in (levels | {"pooled": values["pooled"]}).items():
        assert values["coefficients"][level]["tau_b"]["value"] == value
        interval = values["intervals"][level]["tau_b"]
        assert (interval["value"], interval["n_topics"]) == (value, 9)
        assert interval["low"] < interval["high"]
    human = [value for (run, _), value in cells(1).items() if run == "r3"]
    assert values["run_scores"]["r3"]["human"] == pytest.approx(sum(human) / 9)


def test_a_run_without_an_answer_scores_0_and_one_without_a_value_is_left_out(tmp_path):
    truth, other = cells(1), cells(2)
    del truth["r0", "t0"]
    truth["r1", "t0"] = None
    paths = write(tmp_path / "human.jsonl", truth), write(tmp_path / "judged.jsonl", other)
    scores = agree(*paths, Problems())["measures"]["V"]["run_scores"]
    for run, n_topics in (("r0", 9), ("r1", 8)):
        left = [value for (name, _), value in truth.items() if name == run and value is not None]
        assert len(left) == 8
        assert scores[run]["human"] == pytest.approx(sum(left) / n_topics)


def test_published_run_scores_have_no_interval(tmp_path):
    runs = {f"r{i}": i / 10 for i in range(6)}
    paths = write(tmp_path / "a.jsonl", {}, runs), write(tmp_path / "b.jsonl", cells(2))
    interval = agree(*paths, Problems())["measures"]["V"]["intervals"]["run_level"]["tau_b"]
    assert interval["value"] is not None
    assert (interval["low"], interval["n_topics"]) == (None, 0)


def test_resamples_seed_and_level_reach_the_intervals(pair):
    def tau(**how):
        intervals = agree(*pair, Problems(), **how)["measures"]["V"]["intervals"]
        return intervals["pooled"]["tau_b"]

    assert tau() == tau()
    assert tau(seed=5) != tau()
    assert tau(level=0.5)["low"] > tau()["low"]
    assert tau(resamples=0)["low"] is None


def means_and_cells(table):
    """Cells by (run, topic) of rows run -> topic -> value, and the means of the rows."""
    of_cells = {(run, t): v for run, row in table.items() for t, v in row.items()}
    return of_cells, {run: sum(row.values()) / len(row) for run, row in table.items()}


def test_runs_are_compared_over_the_topics_that_both_files_have(tmp_path):
    """The third topic, which the judge never saw, turns the order of people round."""
    people = {
        "a": {"t1": 0.9, "t2": 0.7, "t3": 0.0},
        "b": {"t1": 0.6, "t2": 0.6, "t3": 0.5},
        "c": {"t1": 0.3, "t2": 0.5, "t3": 1.0},
    }
    judge = {run: {"t1": row["t1"], "t2": row["t2"]} for run, row in people.items()}
    human, judged = means_and_cells(people), means_and_cells(judge)
    for with_means in (True, False):
        truth, other = ((of[0], of[1] if with_means else None) for of in (human, judged))
        paths = write(tmp_path / "human.jsonl", *truth), write(tmp_path / "judged.jsonl", *other)
        values = agree(*paths, Problems())["measures"]["V"]
        assert values["run_level"] == 1.0  # of the means over three topics it is -1
        assert values["run_scores"]["c"]["human"] == pytest.approx(0.4)
        assert values["run_topics"] == {"human": 3, "judged": 2, "shared": 2}
        assert values["intervals"]["run_level"]["tau_b"]["n_topics"] == 2
        view = make_agreement_view({"kind": "scores", "measures": {"V": values}, "run_aliases": {}})
        (note,) = view.tables[0].notes
        assert "2 common topics; human 3, judged 2" in note


def test_a_value_that_the_judge_lacks_counts_on_neither_side(tmp_path):
    people = {"a": {"t1": 0.8, "t2": 0.0}, "b": {"t1": 0.5, "t2": 0.5}}
    judge = {"a": {"t1": 0.8, "t2": None}, "b": {"t1": 0.5, "t2": 0.5}}
    (truth, _), other = (
        means_and_cells(people),
        {(run, t): v for run, row in judge.items() for t, v in row.items()},
    )
    paths = write(tmp_path / "human.jsonl", truth), write(tmp_path / "judged.jsonl", other)
    values = agree(*paths, Problems())["measures"]["V"]
    assert values["run_scores"]["a"] == {"human": 0.8, "judged": 0.8}
    assert values["run_level"] == 1.0


@pytest.mark.parametrize(
    ("people", "judge", "note"),
    [
        ({"t1": 0, "t2": 0}, {"t1": 0, "t2": 0}, None),
        ({"t1": 0, "t2": 0}, {"t3": 0}, "are over different topics: human 2, judged 1"),
        ({}, {"t1": 0}, "may be over different topics: human unknown, judged 1"),
        ({}, {}, "may be over different topics: human unknown, judged unknown"),
    ],
)
def test_runs_that_cannot_be_compared_over_the_same_topics_are_said(tmp_path, people, judge, note):
    runs = {f"r{i}": i / 10 for i in range(4)}
    paths = []
    for name, topics in (("human", people), ("judged", judge)):
        of_topics = {(run, topic): value for run, value in runs.items() for topic in topics}
        paths.append(write(tmp_path / f"{name}.jsonl", of_topics, runs))
    said = agree(*paths, Problems())["measures"]["V"]["note"]
    assert said is None if note is None else said.endswith(note)


def test_length_is_compared_over_the_answers_to_shared_topics(tmp_path):
    """An answer that is not there is not short: it counts on neither side."""
    rows = [("a", "t1", 10), ("a", "t2", 30), ("b", "t1", 20), ("a", "t3", 50)]
    paths = []
    for name, chosen in (("human", rows), ("judged", rows[:3])):
        lines = [
            {"run_id": run, "topic_id": topic, "measure": "length", "value": value}
            for run, topic, value in chosen
        ]
        path = tmp_path / f"{name}.jsonl"
        write_rows(path, lines)
        paths.append(path)
    scores = agree(*paths, Problems())["measures"]["length"]["run_scores"]
    assert scores == {"a": {"human": 20, "judged": 20}, "b": {"human": 20, "judged": 20}}


# Leaderboards with measures of other names, and the figures of TREC AutoJudge's own tool.
# autojudge-evaluate 1.1.0 (LeaderboardEvaluator) on the two leaderboards below.
THEIRS = {
    "tau_b": 0.8, "spearman": 0.9082706766917292, "pearson": 0.7950592131302507,
    "tau_top_10": 0.6444444444444445, "tau_top_15": 0.7333333333333333,
}  # fmt: skip
SIDES = {
    "nugget_coverage": lambda r, t: (r * 7 + t * 3) % 23 + r,
    "V": lambda r, t: (r * 5 + t * t * 4) % 19 + r * 1.5,
}


@pytest.fixture
def boards(tmp_path):
    paths = []
    for measure, value in SIDES.items():
        lines = []
        for r in range(20):
            values = [value(r, t) for t in range(3)]
            cells = [(f"t{t}", v) for t, v in enumerate(values)] + [("all", sum(values) / 3)]
            lines += [f"r{r}\t{topic}\t{measure}\t{v}\n" for topic, v in cells]
        paths.append(tmp_path / f"{measure}.eval.txt")
        paths[-1].write_text("".join(lines), encoding="utf-8")
    return paths


def test_run_level_figures_are_those_of_the_tracks_tool(boards):
    figures = agree(*boards, Problems(), measures={"V": "nugget_coverage"})
    ours = figures["measures"]["nugget_coverage=V"]["coefficients"]["run_level"]
    assert {name: ours[name]["value"] for name in THEIRS} == pytest.approx(THEIRS, abs=1e-12)
    assert ours["tau_top_15"]["n"] == 15


def test_measures_of_other_names_have_to_be_named_and_there(boards):
    with pytest.raises(InputError, match="no measure in common; name two with --measure"):
        agree(*boards, Problems())
    with pytest.raises(InputError, match=r"V\.eval\.txt: no measure 'W'"):
        agree(*boards, Problems(), measures={"W": "nugget_coverage"})


def test_measures_of_labels_are_refused(tmp_path):
    path = tmp_path / "labels.jsonl"
    path.write_text('{"topic_id": "1", "passage_id": "p", "label": 1}\n', encoding="utf-8")
    with pytest.raises(InputError, match="has labels, wanted scores"):
        agree(path, path, Problems(), measures={"V": "W"})


# What `agree` says first: a word for how strong the agreement is, and the figure behind it.
@pytest.fixture
def compared(tmp_path):
    """Compares labels of one topic, in the order of their items."""

    def compare(human, judged):
        paths = []
        for name, labels in (("human", human), ("judged", judged)):
            rows = [{"topic_id": "t", "passage_id": i, "label": x} for i, x in enumerate(labels)]
            paths.append(tmp_path / f"{name}.jsonl")
            write_rows(paths[-1], rows)
        return agree(*paths, Problems(), resamples=0)

    return compare


# Landis and Koch 1977, p. 165; a value is rounded as it is shown.
@pytest.mark.parametrize(
    ("kappa", "word"),
    [
        (-0.2, "less than by chance"), (0.0, "slightly"), (0.204, "slightly"),
        (0.206, "to a fair degree"), (0.40, "to a fair degree"), (0.41, "moderately"),
        (0.60, "moderately"), (0.61, "substantially"), (0.80, "substantially"),
        (0.81, "almost perfectly"), (1.0, "almost perfectly"), (None, "to an unknown degree"),
    ],
)  # fmt: skip
def test_a_kappa_is_in_words(compared, kappa, word):
    comparison = compared(["no", "yes", "no"], ["no", "yes", "yes"])
    comparison["intervals"]["cohen_kappa"]["unweighted"]["value"] = kappa
    assert make_agreement_view(comparison).verdict.startswith(
        f"The judge agrees with people {word}: "
    )


def test_grades_go_by_linear_kappa_and_two_labels_by_kappa(compared):
    """By hand: 1 - (1 / 4) / (18 / 16) = .78, and (2/3 - 4/9) / (1 - 4/9) = .4."""
    view = make_agreement_view(compared([0, 1, 2, 3], [0, 1, 2, 2]))
    assert view.verdict.endswith("substantially: linear kappa .78.")
    assert view.tables[0].rows[0].cells[0] == "Cohen kappa, linear"
    two = make_agreement_view(compared(["no", "yes", "no"], ["no", "yes", "yes"]))
    assert two.verdict.endswith("to a fair degree: kappa .40.")


def test_pairs_of_labels_are_in_percent_of_all_items_too(compared):
    """The diagonal of arXiv:2504.15205, Figure 2 (left): 13.7 + 11.9 + 30.4 = 56.0 percent."""
    pairs = {(0, 0): 137, (1, 1): 119, (2, 2): 304, (0, 1): 151, (1, 2): 289}
    given = [pair for pair, n in pairs.items() for _ in range(n)]
    comparison = compared(*([pair[side] for pair in given] for side in (0, 1)))
    table = make_agreement_view(comparison, has_all=True).tables[2]
    shares = {row.cells[0]: row.cells[1:] for row in table.rows}
    found = [[round(share, 6) for share in shares[label][:3]] for label in ("0", "1", "2")]
    assert found == [[13.7, 15.1, 0.0], [0.0, 11.9, 28.9], [0.0, 0.0, 30.4]]
    assert len(make_agreement_view(comparison).tables) == 3


# .9 and .8: Voorhees 2001.
@pytest.mark.parametrize(
    ("tau", "words"),
    [
        (0.90, "almost exactly as people do"), (0.89, "much as people do"),
        (0.80, "much as people do"), (0.79, "partly as people do"),
        (0.49, "differently than people do"), (-1.0, "differently than people do"),
        (None, "cannot be compared"),
    ],
)  # fmt: skip
def test_a_tau_is_in_words(tau, words):
    row = {"value": tau, "low": None, "high": None, "level": 0.95}
    values = {
        "coefficients": {"run_level": {"tau_b": {"n": 45}}},
        "intervals": {"run_level": {"tau_b": row}},
        "note": None,
    }
    other = {**values, "intervals": {"run_level": {"tau_b": {**row, "value": 0.1}}}}
    measures = {"length": other, "V_strict": values}
    view = make_agreement_view({"kind": "scores", "measures": measures, "run_aliases": {}})
    assert view.verdict.startswith("By V_strict the ")
    assert words in view.verdict
    assert view.verdict.endswith("over 45 runs.")
    assert [table.title for table in view.tables] == ["V_strict", "length"]


def test_many_long_labels_keep_every_count_within_the_window(compared):
    labels = [f"a_label_that_is_long_{i:02}" for i in range(9)]
    text = view_text(make_agreement_view(compared(labels * 3, labels * 3)), Terminal(width=60))
    assert max(map(len, text.splitlines())) <= 60
    confusion = text.partition("Human labels")[2].partition("one-vs-rest")[0]
    assert sum(line.split().count("3") for line in confusion.splitlines()) == len(labels)
