"""`judge coverage`: the tables of the CRUX paper on results whose numbers are counted by hand."""

import json
from dataclasses import replace
from itertools import combinations

import ir_measures
import pytest
from json_lines import write_rows
from scipy.stats import kendalltau, spearmanr

from nuggetjudge.plugins.figures.coverage.annotators import (
    compare_annotators,
    correlate_annotators,
)
from nuggetjudge.plugins.figures.coverage.readings import (
    correlate,
    correlate_all,
    mean_by_run,
    score_all,
    spread,
    spread_by_eta,
)
from nuggetjudge.plugins.figures.coverage.tables import make_uses_view
from nuggetjudge.plugins.figures.coverage.use import find_uses
from nuggetjudge.programs.analysis.coverage_tables import Variant
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.config.sections import CoverageConfig
from nuggetjudge.programs.protocols.coverage.files import read_coverage
from nuggetjudge.programs.protocols.coverage.topic import CoverageData, TopicView
from nuggetjudge.programs.protocols.program import Folder
from nuggetjudge.programs.run import judge_collection
from nuggetjudge.records.reading.problems import InputError, Problems
from nuggetjudge.records.rows import QuestionSet, ScoreRow, SubQuestion

# `judge coverage` on the results of a run that took no model.
# Four questions; each passage answers one, so coverage is what a run's passages count.
PASSAGES = [f"t:0#{i}" for i in range(4)]
RUNS = {"one": [0, 0, 0], "two": [1, 0, 0], "three": [1, 1, 0]}  # which of the first 3 answer


def rows(path, *objects):
    write_rows(path, objects)
    return path


@pytest.fixture
def run_coverage(tmp_path, judge):
    """`run_coverage(answers)`: a run over three contexts, results in `out`."""

    def run(answers=("one", "two", "three"), **reports):
        asked = {"id": "t", "subquestions": ["Who?", "When?", "Where?", "Why?"]}
        questions = rows(tmp_path / "questions.jsonl", asked)
        rated = {name: [5 * (i == j) for j in range(4)] for i, name in enumerate(PASSAGES)}
        rated |= {f"x:0#{i}": [0, 0, 0, 0] for i in range(4)}
        for n, run_id in enumerate(RUNS):
            rated[f"t:report:{run_id}"] = reports.get(run_id, [5] * (n + 1) + [0] * (3 - n))
        lines = [{"id": "t", "docid": name, "rating": given} for name, given in rated.items()]
        ratings = rows(tmp_path / "ratings.jsonl", *lines)
        command = ["--set", f"data.questions={questions}", "--set", f"data.ratings={ratings}"]
        contexts = []
        for run_id, hits in RUNS.items():
            ids = [PASSAGES[i] if hit else f"x:0#{i}" for i, hit in enumerate([*hits, 1])]
            path = tmp_path / f"{run_id}.run"
            ranked = [f"t Q0 {name} {i} {-i} {run_id}\n" for i, name in enumerate(ids)]
            path.write_text("".join(ranked), encoding="utf-8")
            contexts.append(str(path))
            if run_id in answers:
                answer = {"run_id": run_id, "topic_id": "t", "topic": "a strike"}
                answer |= {"references": [], "response_length": 2}
                answer |= {"answer": [{"text": "They struck.", "citations": []}]}
                command += ["--runs", rows(tmp_path / f"{run_id}.jsonl", answer)]
        command += ["--set", f"data.retrieval={contexts}", "--set", "coverage.k=3"]
        ran = judge("run", "coverage", *command, "--model", "lexical", "--out", "out")
        assert ran.code == 0, ran.err

    return run


def test_a_run_that_was_killed_has_its_tables_by_then(judge, run_coverage, tmp_path):
    run_coverage()
    whole = judge("coverage", "out").out
    for path in (tmp_path / "out").iterdir():
        if path.is_file():
            path.unlink()
    ran = judge("coverage", "out")
    assert (ran.code, ran.out) == (0, whole)
    assert "out: stopped run" in ran.err


def cells(table):
    return [line.split() for line in table.splitlines()]


def test_the_tables_of_the_paper_are_printed(judge, run_coverage):
    """Of four answerable questions contexts answer 0, 1, 2 and reports 1, 2, 3."""
    run_coverage()
    ran = judge("coverage", "out", "--eta", "3,5", "--k", "1-4", "--all")
    assert (ran.code, ran.err) == (0, "")
    verdict, bounds, figure, matrix, spreads, sizes, uses, by_eta, by_size = ran.out.split("\n\n")
    assert " ".join(verdict.split()) == (
        "By coverage the contexts order the runs almost exactly as their reports do: tau-b 1.00 "
        "over 3 runs."
    )
    assert ["coverage", "1.000", "-", "3", "0"] in [line.split() for line in figure.splitlines()]
    assert ["Z*", ".750"] in [row[:2] for row in cells(bounds)]  # three of its four passages
    first = {row[0]: (row[1], row[3]) for row in cells(bounds) if len(row) > 3}
    assert [first[run] for run in RUNS] == [(".000", ".250"), (".250", ".500"), (".500", ".750")]
    assert cells(bounds)[-2][:3] == ["tau-b", "to", "y"]
    assert cells(matrix)[-1] == ["Cov(y)", "1.000", "1.000", "1.000", "1.000", "1.000", "1.000"]
    # means .5 and .25, and the sample standard deviation of steps of a quarter: .25
    assert cells(spreads)[2] == ["3", ".500", ".250", ".250", ".250", "1.000", "3"]
    # one: at k 1 its context and that of no other answers nothing, so there all three tie or not
    assert [row[0] for row in cells(sizes)[2:5]] == ["1", "2", "3"]
    assert "No k 4: the contexts" in sizes
    used = {row[0]: row[1:] for row in cells(uses)[3:6]}
    assert used == {
        "one": ["0", "0", "-", "1", "1.000", "3", "0"],
        "two": ["1", "0", ".000", "1", ".500", "2", "0"],
        "three": ["2", "0", ".000", "1", ".333", "1", "0"],
    }
    assert [line.split() for line in by_eta.splitlines()][1:] == [
        ["run", "eta", "3", "eta", "5"], ["three", ".500", ".500"], ["two", ".250", ".250"],
        ["one", ".000", ".000"], ["tau-b", "to", "eta", "3", "1.000", "1.000"],
        ["tau-b", "to", "reports", "1.000", "1.000"],
    ]  # fmt: skip
    sizes = {line.split()[0]: line.split()[1:] for line in by_size.splitlines()[1:]}
    assert sizes["three"] == [".250", ".500", ".500", "-", "[.500,", "1.000]"]
    assert sizes["one"] == [".000", ".000", ".000", "-", "[.000,", "1.000]"]
    assert by_size.splitlines()[-1].split()[-1] == "-"  # no tau where nothing but bounds is known


def test_json_has_the_same_in_one_object(judge, run_coverage):
    run_coverage()
    (report,) = judge("coverage", "out", "--k", "2,4", "--json").rows
    assert report["settings"]["k"] == 3
    tau = report["to_report_coverage"]["coverage"]
    assert (tau["tau"]["value"], tau["n_runs"], tau["n_unjudged"]) == (1.0, 3, 0)
    assert [row["eta"] for row in report["by_eta"]] == [1, 2, 3, 4, 5]
    at_2, at_4 = report["by_k"]
    assert [at_2["contexts"][run]["value"] for run in RUNS] == [0.0, 0.25, 0.5]
    assert [at_2["reports"][run]["value"] for run in RUNS] == [0.25, 0.5, 0.75]
    assert (at_2["k"], at_2["to_base"]["tau"]["value"]) == (2, 1.0)
    assert at_4["contexts"]["one"]["value"] is None
    assert (at_4["contexts"]["one"]["low"], at_4["contexts"]["one"]["high"]) == (0.0, 1.0)


REFUSED = {
    ("--eta", "0-3"): "--eta 0-3: wanted numbers from 1 to 5, such as 1-3 or 1,2,3",
    ("--eta", "2,6"): "--eta 2,6: wanted numbers from 1 to 5",
    ("--k", "5,"): "--k 5,: wanted numbers from 1 to 1,000",
    ("--k", "3-1"): "--k 3-1: wanted numbers from 1 to 1,000",
    ("--k", "9999999999999"): "--k 9999999999999: wanted numbers",
}


def test_flags_that_make_no_sense_are_told_in_a_line(judge, run_coverage):
    run_coverage()
    for flags, message in REFUSED.items():
        ran = judge("coverage", "out", *flags)
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.startswith(f"judge: {message}")
        assert ran.err.count("\n") == 1


def test_the_questions_that_a_report_does_not_use_are_listed(judge, run_coverage):
    run_coverage(three=[0, 5, 0, 2])
    ran = judge("coverage", "out", "--run", "three")
    assert "its context answers 2 questions, of which its report leaves out 1" in " ".join(
        ran.out.split()
    )
    assert ["t", "not", "used", "Who?", "t:0#0", "0"] in cells(ran.out)
    ran = judge("coverage", "out", "--run", "tree")
    assert (ran.code, ran.out) == (2, "")
    assert "did you mean three?" in ran.err


def test_results_of_another_task_are_refused(judge, tiny):
    data = ["--topics", tiny / "topics.tsv", "--passages", tiny / "passages.jsonl"]
    assert (
        judge("run", "support", *data, "--runs", tiny / "one.jsonl", "--model", "lexical").code == 0
    )
    ran = judge("coverage", "results")
    assert (ran.code, ran.out) == (2, "")
    assert "results: has no pools.jsonl, so it is not a folder of the coverage task" in ran.err


# Three questions, three passages of which a and b answer all; c repeats b and does not answer q2.
RATED = {"t:a": (3, 2, 0), "t:b": (0, 5, 4), "t:c": (0, 4, 0)}
REPORTS = {"found": (3, 5, 0), "oracle": (5, 5, 5), "alone": (0, 0, 3)}
SETTINGS = CoverageConfig(k=2)


def data_of(rankings, reports=REPORTS, rated=RATED):
    questions = tuple(SubQuestion(id=str(i), text=f"Question {i}?") for i in range(3))
    named = {run: f"t:report:{run}" for run in reports}
    return CoverageData(
        {"t": QuestionSet(topic_id="t", questions=questions, n_columns=3)},
        {"t": {**rated, **{named[run]: rating for run, rating in reports.items()}}},
        rankings={run: {"t": ids} for run, ids in rankings.items()},
        reports={run: {"t": name} for run, name in named.items()},
        pools={"t": tuple(rated)},
        tokens={**dict.fromkeys(rated, 10), **dict.fromkeys(named.values(), 20)},
    )


def test_the_bounds_come_first_and_a_run_that_retrieved_what_is_required_is_one():
    data = data_of({"found": ("t:a", "t:c"), "oracle": ("t:a", "t:b")})
    rows = [(row.name, row.is_bound) for row in score_all(data, SETTINGS)]
    assert rows == [("alone", True), ("Z* (oracle)", True), ("found", False)]
    means = [row.means for row in score_all(data, SETTINGS)]
    shown = [{name: m[name].value for name in ("coverage", "report_coverage") if name in m}
             for m in means]  # fmt: skip
    assert shown == [
        {"report_coverage": pytest.approx(1 / 3)},
        {"coverage": 1.0, "report_coverage": 1.0},
        {"coverage": pytest.approx(2 / 3), "report_coverage": pytest.approx(2 / 3)},
    ]
    assert list(mean_by_run(data, SETTINGS)["coverage"]) == ["found"]


def test_reports_without_any_context_are_runs_and_no_bounds():
    rows = [(row.name, row.is_bound) for row in score_all(data_of({}), SETTINGS)]
    assert rows == [("oracle", False), ("found", False), ("alone", False)]  # 3, 2 and 1 of three


def test_an_answer_is_used_lost_or_never_retrieved_and_a_missing_rating_leaves_it_open():
    data = data_of({"found": ("t:a", "t:c")})
    assert [use.kind for use in find_uses(data, SETTINGS)] == ["used", "used", "neither"]
    missing = {**RATED, "t:x": (0, 0, -1)}
    data = data_of({"found": ("t:a", "t:x"), "oracle": ("t:c", "t:b")}, rated=missing)
    kinds = {(use.run_id, use.question_id): use.kind for use in find_uses(data, SETTINGS)}
    assert [kinds["found", i] for i in "012"] == ["used", "not retrieved", None]
    assert [kinds["oracle", i] for i in "012"] == ["not retrieved", "used", "used"]
    open_pool = {**RATED, "t:c": (0, 4, -1), "t:b": (0, 5, 0)}  # may answer the last question
    uses = list(find_uses(data_of({"found": ("t:a", "t:c")}, rated=open_pool), SETTINGS))
    assert [use.kind for use in uses] == ["used", "used", None]
    verdict = make_uses_view("found", uses).verdict
    assert "1 question not judged" in verdict
    silent = replace(data, reports={"oracle": {"t": None}})
    assert [use.kind for use in find_uses(silent, SETTINGS)] == ["neither", "not used", "not used"]


def test_tables_over_runs_are_of_the_runs_that_have_all_values():
    """r5 has a context alone, and r4 is not judged by one measure: no mean is over other runs."""
    means = {
        name: {
            f"r{i}": ScoreRow(run_id=f"r{i}", topic_id="all", measure=name, value=value)
            for i, value in enumerate(values)
        }
        for name, values in VALUES.items()
    }
    means["R@10"]["r4"] = means["R@10"]["r4"].model_copy(update={"value": None, "n_unjudged": 3})
    settings = CoverageConfig(k=10)
    matrix = correlate_all(means, settings)
    assert {tau.n_runs for of in matrix.values() for tau in of.values()} == {4}
    taus = correlate(means, settings)
    assert {tau.n_runs for name, tau in taus.items() if name != "Den(Z)"} == {4}
    variant = Variant(
        settings, means["coverage"], means["report_coverage"], taus["Cov(Z)"], taus["Cov(Z)"]
    )
    ((_, reports, contexts),) = spread_by_eta([variant], ["r0"])
    assert (reports.mean, reports.n_runs) == (pytest.approx(2.1 / 4), 4)
    assert (contexts.mean, contexts.n_runs) == (pytest.approx(2.4 / 4), 4)  # r5 has no report
    alone = replace(variant, reports={})
    assert [one.n_runs for _, *both in spread_by_eta([alone], ["r0"]) for one in both] == [0, 5]


# Means of six runs, of which one has no report.
VALUES = {
    "coverage": [0.1, 0.4, 0.4, 0.7, 0.9, 0.2],
    "R@10": [0.2, 0.1, 0.5, 0.5, 0.8, 0.9],
    "AP@10": [0.3, 0.2, 0.6, 0.4, 0.9, 0.1],
    "nDCG@10": [0.3, 0.1, 0.5, 0.6, 0.7, 0.3],
    "alpha_ndcg@10": [0.2, 0.3, 0.4, 0.8, 0.6, 0.5],
    "report_coverage": [0.3, 0.2, 0.6, 0.5, 0.8],
}


def test_every_two_measures_correlate_as_in_scipy_over_the_runs_that_have_all():
    means = {
        name: {
            f"r{i}": ScoreRow(run_id=f"r{i}", topic_id="all", measure=name, value=value)
            for i, value in enumerate(values)
        }
        for name, values in VALUES.items()
    }
    matrix = correlate_all(means, CoverageConfig(k=10))
    assert list(matrix) == ["Cov(Z)", "Recall", "MAP", "nDCG", "alpha-nDCG", "Cov(y)"]
    for one, a in zip(matrix, VALUES.values(), strict=True):
        for other, b in zip(matrix, VALUES.values(), strict=True):
            tau = matrix[one][other]
            assert tau.n_runs == 5
            assert tau.tau.value == pytest.approx(kendalltau(a[:5], b[:5]).statistic)
    of_reports = spread(means["report_coverage"])  # mean .48, sum of squares .228
    assert (of_reports.mean, of_reports.n_runs) == (pytest.approx(0.48), 5)
    assert of_reports.sd == pytest.approx((0.228 / 4) ** 0.5)


# Three people on reports of three runs: run, question, labels of ada and bo. Question 2 is not
# answerable, for no passage answers it, so that nobody's label of it counts.
PEOPLE = [
    *(("found", 0, 1, 1), ("found", 1, 1, 0), ("found", 2, 1, 1)),
    *(("oracle", 0, 1, 1), ("oracle", 1, 1, 1), ("oracle", 2, 0, 0)),
    *(("alone", 0, 0, 1), ("alone", 1, 0, 1), ("alone", 2, 1, 1)),
]
LABELLED = {"found": (5, 5, 5), "oracle": (5, 2, 5), "alone": (0, 2, 5)}


def people_file(folder, **changes):
    path = folder / "people.jsonl"
    rows_ = [
        {
            **{"run_id": run, "topic_id": "t", "question_id": str(question)},
            **{"label": str(label), "annotator": person, **changes},
        }
        for run, question, *labels in PEOPLE
        for person, label in zip(("ada", "bo"), labels, strict=True)
        if "nugget_id" not in changes or (question, person) == (0, "ada")
    ]
    write_rows(path, [{k: v for k, v in row.items() if v is not None} for row in rows_])
    return path


def test_coverage_by_the_judge_and_by_each_annotator_is_of_the_answerable_questions(tmp_path):
    rated = {name: (*rating[:2], 0) for name, rating in RATED.items()}
    data = data_of({}, reports=LABELLED, rated=rated)
    reports = compare_annotators(data, SETTINGS, people_file(tmp_path), Problems())
    values = {report.run_id: (report.judge, *report.people.values()) for report in reports}
    assert values == {"alone": (0, 0, 1), "found": (1, 1, 0.5), "oracle": (0.5, 1, 1)}
    assert {report.n for report in reports} == {2}
    rhos = correlate_annotators(reports)
    judge, ada, bo = zip(*values.values(), strict=True)
    for person, by_person in (("ada", ada), ("bo", bo)):
        expected = spearmanr(judge, by_person).statistic
        assert rhos[person] == (pytest.approx(expected), 3)


BAD_LABELS = {
    "nuggets": ({"nugget_id": "n", "question_id": None}, "topic_id, question_id, and run_id or"),
    "other labels": ({"label": "full"}, "label 'full', wanted 0 or 1, or ratings from 0 to 5"),
    "other runs": (
        {"run_id": "nobody", "annotator": None, "label": "1"},
        "belongs to a report of the folder",
    ),
}


@pytest.mark.parametrize(("changes", "message"), BAD_LABELS.values(), ids=BAD_LABELS.keys())
def test_labels_that_are_of_no_report_are_refused(changes, message, tmp_path):
    path = people_file(tmp_path, **changes)
    with pytest.raises(InputError, match=message):
        compare_annotators(data_of({}, reports=LABELLED), SETTINGS, path, Problems())


@pytest.mark.slow
def test_both_figures_of_the_paper_are_drawn_with_their_numbers(judge, run_coverage, tmp_path):
    pytest.importorskip("matplotlib")
    run_coverage()
    ran = judge("figure", "measures", "out", "--out", "five.svg")
    assert (ran.code, ran.err) == (0, "")
    assert "the same 3 runs" in ran.out
    assert (tmp_path / "five.svg").read_text(encoding="utf-8").count(">1.00<") == 36
    labels = [
        {"run_id": run, "topic_id": "t", "question_id": str(i), "label": str(int(i < n))}
        for n, run in enumerate(RUNS)
        for i in range(4)
    ]
    write_rows(tmp_path / "people.jsonl", labels)
    ran = judge("figure", "annotators", "out", "--labels", "people.jsonl", "--out", "four.svg")
    assert (ran.code, ran.err) == (0, "")
    assert "rho of the judge with human labels 1.00" in ran.out  # 1, 2, 3 and 0, 1, 2 of four
    assert "name no annotator" in ran.out
    ran = judge("figure", "annotators", "out", "--out", "four.svg")
    assert (ran.code, "needs labels of people (--labels)" in ran.err) == (2, True)


@pytest.mark.slow
def test_the_matrix_of_48_random_contexts_is_that_of_ir_measures_and_scipy(shared_data, tmp_path):
    """Cov(Z) counted from the ratings, the rest by ir_measures (alpha-nDCG: pyndeval)."""
    folder = shared_data / "crux_duc"
    queries = [json.loads(line) for line in (folder / "queries.jsonl").open(encoding="utf-8")]
    write_rows(tmp_path / "topics.jsonl", [{"id": q["qid"], "text": q["request"]} for q in queries])
    drawn = {"random": {"hits": 10, "depth": 50, "seed": 1, "samples": 16}}
    names = ("bm25", "lsr", "qwen3-embed-8b")
    config = load_config(
        None,
        {
            "program": ["coverage"],
            "data.topics": tmp_path / "topics.jsonl",
            "data.questions": folder / "queries.jsonl",
            "data.passages": [folder / "passages.jsonl"],
            "data.ratings": [folder / "llm_ratings.jsonl", folder / "llm_ratings_all_docids.jsonl"],
            "pipelines": {n: [{"run": {"path": folder / f"runs/{n}.run"}}, drawn] for n in names},
            "run.out": tmp_path / "out",
        },
        model="lexical",
    )
    judge_collection(config)
    data, settings = read_coverage(Folder(tmp_path / "out", Problems()))
    qrels = list(ir_measures.read_trec_qrels(str(tmp_path / "out" / "qrels.txt")))
    subtopics = list(ir_measures.read_trec_qrels(str(tmp_path / "out" / "diversity_qrels.txt")))
    alpha = ir_measures.alpha_nDCG(alpha=0.5) @ 10
    theirs = {"Recall": "R@10", "MAP": "AP@10", "nDCG": "nDCG@10"}
    plain = {name: ir_measures.parse_measure(text) for name, text in theirs.items()}
    values = {name: [] for name in ("Cov(Z)", *plain, "alpha-nDCG")}
    for contexts in data.rankings.values():
        shares = []
        for topic, ids in contexts.items():
            view = TopicView(data, topic, settings)
            is_counted = view.answerable == 1
            shares.append((view.matrix(ids) >= 3).any(axis=0)[is_counted].mean())
        values["Cov(Z)"].append(round(sum(shares) / len(shares), 10))
        ranked = [
            ir_measures.ScoredDoc(topic, name, -rank)
            for topic, ids in contexts.items()
            for rank, name in enumerate(ids)
        ]
        found = ir_measures.calc_aggregate(plain.values(), qrels, ranked)
        for name, measure in plain.items():
            values[name].append(round(found[measure], 10))
        by_question = ir_measures.calc_aggregate([alpha], subtopics, ranked)
        values["alpha-nDCG"].append(round(by_question[alpha], 10))
    matrix = correlate_all(mean_by_run(data, settings), settings)
    assert list(matrix) == list(values)
    for one, other in combinations(values, 2):
        tau = matrix[one][other]
        assert tau.n_runs == 48
        assert tau.tau.value == pytest.approx(kendalltau(values[one], values[other]).statistic)
