"""`judge coverage` on the results of a run that took no model."""

import json

import pytest

# Four questions; each passage answers one, so coverage is what a run's passages count.
PASSAGES = [f"t:0#{i}" for i in range(4)]
RUNS = {"one": [0, 0, 0], "two": [1, 0, 0], "three": [1, 1, 0]}  # which of the first 3 answer


def rows(path, *objects):
    path.write_text("".join(json.dumps(row) + "\n" for row in objects), encoding="utf-8")
    return path


@pytest.fixture
def run_coverage(tmp_path, judge):
    """`run_coverage(answers)`: a run over three contexts, results in `out`."""

    def run(answers=("one", "two", "three")):
        asked = {"id": "t", "subquestions": ["Who?", "When?", "Where?", "Why?"]}
        questions = rows(tmp_path / "questions.jsonl", asked)
        rated = {name: [5 * (i == j) for j in range(4)] for i, name in enumerate(PASSAGES)}
        rated |= {f"x:0#{i}": [0, 0, 0, 0] for i in range(4)}
        for n, run_id in enumerate(RUNS):
            rated[f"t:report:{run_id}"] = [5] * (n + 1) + [0] * (3 - n)
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


def test_the_three_tables_are_printed(judge, run_coverage):
    run_coverage()
    ran = judge("coverage", "out", "--eta", "3,5", "--k", "1-4")
    assert (ran.code, ran.err) == (0, "")
    verdict, figure, by_eta, by_size = ran.out.split("\n\n")
    assert " ".join(verdict.split()) == (
        "By coverage the contexts order the runs almost exactly as their reports do: tau-b 1.00 "
        "over 3 runs."
    )
    assert ["coverage", "1.000", "-", "3", "0"] in [line.split() for line in figure.splitlines()]
    assert not any(name in ran.out for name in ("Z*", "y*"))
    assert [line.split() for line in by_eta.splitlines()][1:] == [
        ["run", "eta", "3", "eta", "5"],
        ["three", ".500", ".500"],
        ["two", ".250", ".250"],
        ["one", ".000", ".000"],
        ["tau-b", "to", "eta", "3", "1.000", "1.000"],
        ["tau-b", "to", "reports", "1.000", "1.000"],
    ]
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
    ("--eta", "0-3"): "--eta 0-3: wanted numbers from 1 to 5, as 1-3 or 1,2,3",
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
