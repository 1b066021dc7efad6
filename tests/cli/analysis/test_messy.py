"""A label file as people send them goes through each command as it is, in one go."""

import json

import pandas as pd
import pytest
from messy import ANNOTATORS, N, make_rows, n_missing, write_messy

READ_AS = (
    "messy.csv: cp1252, semicolons, read with --field 'topic_id=Query ID' --field run_id=System "
    "--field 'sentence_id=Sentence #' --field 'passage_id=Cited Doc'"
)
LABELS = "--field 'label=Rater Ann,Rater Bo,Rater Cem,Rater Dána'"


@pytest.fixture
def messy(tmp_path):
    return write_messy(tmp_path / "messy.csv")


@pytest.fixture
def ran_ok(judge):
    def go(*arguments):
        ran = judge(*arguments)
        assert ran.code == 0, ran.err
        return ran

    return go


def says_how_it_was_read(ran):
    missing = f"{n_missing(make_rows())} of {N * len(ANNOTATORS)} labels are missing (n/a "
    assert READ_AS in ran.err
    assert LABELS in ran.err
    assert missing in ran.err
    return True


def test_annotators_in_columns_are_compared_with_each_other(messy, ran_ok):
    ran = ran_ok("agree", "messy.csv", "--json")
    assert says_how_it_was_read(ran)
    among = ran.rows[0]["annotators"]
    assert among["names"] == sorted(ANNOTATORS)
    labels = [label for row in make_rows() for label in row["labels"].values()]
    assert among["among"]["n_labels"] == sum(label is not None for label in labels)


@pytest.mark.whole
def test_a_judge_is_asked_and_compared_in_one_step_and_asked_once(messy, ran_ok, tmp_path):
    ask = ("agree", "messy.csv", "--judge", "support", "--model", "lexical", "--quiet")
    ran = ran_ok(*ask, "--json")
    assert says_how_it_was_read(ran)
    assert "done: 200 judged, 0 missing" in ran.err
    compared = ran.rows[0]
    people = {
        (row["topic_id"], row["run_id"], row["sentence_id"], row["passage_id"]): row["labels"]
        for row in make_rows()
    }
    judged = [
        json.loads(line)
        for line in (tmp_path / "results/messy-support/labels.jsonl").read_text().splitlines()
    ]
    assert {tuple(row[n] for n in ("topic_id", "run_id", "sentence_id", "passage_id"))
            for row in judged} == people.keys()  # fmt: skip
    assert compared["annotators"]["judge"]["by_annotator"].keys() == {*ANNOTATORS}
    gains = {"none": 0.0, "partial": 0.5, "full": 1.0}
    by_run = {}
    for row in judged:
        votes = list(people[tuple(row[name] for name in list(row)[:4])].values())
        most = max({*votes} - {None}, key=votes.count)
        if 2 * votes.count(most) > sum(vote is not None for vote in votes):
            by_run.setdefault((row["run_id"], row["topic_id"]), []).append(
                (gains[most], gains[row["label"]])
            )
    for run, scores in compared["runs"]["run_scores"].items():
        for side, name in enumerate(("human", "judged")):
            means = [
                sum(pair[side] for pair in pairs) / len(pairs)
                for (of, _), pairs in by_run.items()
                if of == run
            ]
            assert scores[name] == pytest.approx(sum(means) / len(means))
    assert "Order of the runs by mean gain" in ran_ok(*ask).out
    assert "read with" in ran_ok("agree", "messy.csv", "results/messy-support", "--json").err
    planned = ran_ok(*ask, "--dry-run", "--set", "run.out=other").out
    assert "support" in planned
    assert not (tmp_path / "other").exists()


def test_a_judge_is_fitted_to_the_file(messy, ran_ok):
    fit = ("calibrate", "messy.csv", "--judge", "support", "--method", "threshold", "--json")
    ran = ran_ok(*fit)
    assert says_how_it_was_read(ran)
    assert ran.rows[0]["n_labels"] if "n_labels" in ran.rows[0] else ran.rows[0]["n"]


@pytest.mark.whole
def test_labels_come_in_under_the_names_of_their_annotators(messy, ran_ok):
    ran = ran_ok("annotate", "import", "messy.csv", "--dir", "labels")
    assert says_how_it_was_read(ran)
    assert [line.split()[3].rstrip(",") for line in ran.out.splitlines()][:3] == [
        "Ann",
        "Bo",
        "Cem",
    ]
    assert ran.out.count("200 new") == len(ANNOTATORS)


def test_scores_are_corrected_with_the_file_and_items_are_those_of_all_annotators(messy, ran_ok):
    ran_ok("run", "items", "--items", "messy.csv", "--judge", "support", "--out", "out", "-q")
    ran = ran_ok("score", "out", "--labels", "messy.csv", "--json")
    assert says_how_it_was_read(ran)
    rows = [row for row in ran.rows if row.get("row") == "corrected"]
    assert {row["run_id"] for row in rows} == {row["run_id"] for row in make_rows()}


def test_rows_of_several_annotators_are_one_item_unless_their_texts_differ(judge, tmp_path):
    row = {"topic_id": "t", "passage_id": "p", "question": "why", "passage": "because"}
    rows = [{**row, "annotator": name, "label": 1} for name in ("ann", "bo")]
    path = tmp_path / "items.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    run = ("run", "items", "--items", path, "--judge", "relevance", "--out", "out", "-q")
    assert "1 judged" in judge(*run).err
    rows[1]["passage"] = "so"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    ran = judge(*run[:-2], "other", "-q")
    assert (ran.code, "items.jsonl:2: item t p has other texts than" in ran.err) == (2, True)


def test_a_table_of_scores_is_compared_as_one_however_it_is_spelled(ran_ok, tmp_path):
    people = "System;V_strict;comment\nalpha;0,5;good\nbeta;0,4;\ngamma;n/a;\ndelta;0,1;\n"
    (tmp_path / "people.csv").write_text(people, encoding="utf-8")
    judged = {"run_id": ["alpha", "beta", "delta"], "V_strict": [0.6, 0.2, 0.3]}
    pd.DataFrame(judged).to_excel(tmp_path / "judged.xlsx", index=False)
    values = ran_ok("agree", "people.csv", "judged.xlsx", "--json").rows[0]["measures"]["V_strict"]
    assert values["coefficients"]["run_level"]["tau_b"]["n"] == 3
    assert values["coefficients"]["run_level"]["tau_b"]["value"] == pytest.approx(1 / 3)


def test_what_a_person_says_of_a_table_goes_before_what_is_guessed(judge, tmp_path):
    lines = ["No;A;B;gold", *(f"{n};{'ja' if n % 2 else 'nein'};ja;x" for n in range(30))]
    (tmp_path / "own.csv").write_text(
        "\n".join([*lines, "30;weiss nicht;nein;x"]), encoding="utf-8"
    )
    read = ("agree", "own.csv", "--field", "label=A,B", "--scale", "nein=no,ja=yes", "--json")
    ran = judge(*read)
    assert ran.code == 2
    assert "own.csv:32: field 'A' is 'weiss nicht', wanted one of nein, ja (--scale)" in ran.err
    ran = judge(*read, "--missing", "weiss nicht")
    assert ran.code == 0, ran.err
    assert ran.rows[0]["scale"] == ["no", "yes"]
    assert "1 of 62 labels are missing (weiss nicht 1)" in ran.err


ANSWER = '{"run_id": "r", "topic_id": "1", "answer": []}\n'
LABEL = '{"topic_id": "1", "label": "yes"}\n'
WITH_TEXTS = "topic;run;sentence_no;doc;sentence;passage;label\n" + "".join(
    f"t{n};r;{n};d;The sea is big.;The sea is big.;so-so\n" for n in range(9)
)
WITHOUT_TEXTS = "topic;run;sentence_no;doc;label\n" + "".join(
    f"t{n};r;0;d;full\n" for n in range(9)
)
SAMPLE = '{"id": "q1", "question": "why", "answer": "So.", "contexts": ["So."]}\n'
IN_PYTHON = (
    "contains samples, each a question with its answer; judge them in Python: "
    'nuggetjudge.evaluate("s.jsonl") (docs/howto/evaluate.md)'
)
ERRORS = {  # the files, the command, and what it says
    "no labels": (
        {"t.csv": "name;colour\nx;red\ny;blue\nz;green\n"},
        "agree t.csv",
        "t.csv",
    ),
    "a column that is not there": (
        {"t.csv": "qid;verdict\n1;yes\n2;no\n"},
        "agree t.csv --field label=Vredict",
        "t.csv has no column 'Vredict'; did you mean verdict?",
    ),
    "no ids": (
        {"t.csv": "Ann;Bo\nyes;no\nyes;yes\nno;no\nno;yes\n", "j.jsonl": LABEL},
        "agree t.csv j.jsonl",
        "t.csv: no column identifies its items, so they cannot be matched with j.jsonl; "
        "name one with --field topic_id=COLUMN",
    ),
    "two items of one name": (
        {"t.csv": "topic;Rater A;Rater B\n" + "1;yes;no\n1;no;no\n2;yes;yes\n"},
        "agree t.csv",
        "t.csv:3: annotator 'A' labels item 1 twice, wanted once; for two different items, "
        "name their ids: --field item_id=COLUMN",
    ),
    "labels of another scale": (
        {"t.csv": WITH_TEXTS},
        "agree t.csv --judge support --model lexical",
        "t.csv:2: field 'label' is 'so-so', wanted one of none, partial, full",
    ),
    "texts that are nowhere": (
        {"t.csv": WITHOUT_TEXTS},
        "agree t.csv --judge support --model lexical",
        "t.csv:2: item t0 r 0 d has no text of its sentence and passage; give --topics, --runs, "
        "--passages",
    ),
    "a model and no judge": (
        {"t.csv": "topic;A;B\n1;yes;no\n2;no;no\n"},
        "agree t.csv --model lexical",
        "of a judge that is asked, wanted --judge too",
    ),
    "qrels as topics": (
        {"q.qrels": "1 0 d1 2\n1 0 d2 0\n", "r.jsonl": ANSWER},
        "run support --topics q.qrels --runs r.jsonl --out out",
        "--topics q.qrels: contains relevance grades (qrels); name it with --qrels",
    ),
    "topics as passages": (
        {"t.tsv": "1\twhy is it so\n", "r.jsonl": ANSWER},
        "run support --topics t.tsv --runs r.jsonl --passages t.tsv --out out",
        "--passages t.tsv: contains topics; name it with --topics",
    ),
    "samples as runs": (
        {"s.jsonl": SAMPLE},
        "run groundedness --runs s.jsonl",
        f"--runs s.jsonl: {IN_PYTHON}",
    ),
    "samples of another tool as items": (
        {"s.jsonl": '{"user_input": "why", "response": "So.", "retrieved_contexts": ["So."]}\n'},
        "run groundedness --items s.jsonl",
        f"--items s.jsonl: {IN_PYTHON}",
    ),
    "samples as everything": (
        {"s.jsonl": SAMPLE},
        "run groundedness --topics s.jsonl --runs s.jsonl --passages s.jsonl",
        f"--topics s.jsonl: {IN_PYTHON}",
    ),
    "samples for a new config": (
        {"s.jsonl": SAMPLE},
        "init mine --runs s.jsonl",
        f"--runs s.jsonl: {IN_PYTHON}",
    ),
    "qrels as topics of a new config": (
        {"q.qrels": "1 0 d1 2\n1 0 d2 0\n"},
        "init mine --topics q.qrels",
        "--topics q.qrels: contains relevance grades (qrels); name it with --qrels",
    ),
}  # fmt: skip


NEEDS_INIT = [what for what, (_, command, _) in ERRORS.items() if command.startswith("init ")]


@pytest.mark.parametrize(
    "what",
    [pytest.param(what, marks=pytest.mark.whole if what in NEEDS_INIT else ()) for what in ERRORS],
)
def test_an_error_names_the_row_and_the_option_that_helps(what, judge, tmp_path):
    files, command, message = ERRORS[what]
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    ran = judge(*command.split())
    assert ran.code == 2, ran.out
    assert message in " ".join(ran.err.split()), ran.err
    assert len(ran.err.splitlines()) < 8


def test_a_workbook_under_another_option_is_known_as_one(judge, tmp_path):
    pd.DataFrame({"id": [1], "text": ["why"]}).to_excel(tmp_path / "t.xlsx", index=False)
    (tmp_path / "r.jsonl").write_text('{"run_id": "r", "topic_id": "1", "answer": []}\n')
    ran = judge("run", "support", "--topics", "t.xlsx", "--runs", "r.jsonl", "--out", "out")
    assert ran.code == 2
    assert "--topics t.xlsx: is a workbook file, wanted text (docs/formats.md)" in ran.err


def test_two_hundred_equal_errors_are_three_and_a_number(judge, tmp_path):
    rows = "".join(f"t{n};perhaps {n % 7}\n" for n in range(200))
    (tmp_path / "t.csv").write_text(f"topic;label\n{rows}", encoding="utf-8")
    ran = judge("agree", "t.csv", "--scale", "no,yes")
    assert ran.code == 2
    assert ran.err.splitlines()[-1] == "... and 197 more like it"
    assert len(ran.err.splitlines()) == 4
