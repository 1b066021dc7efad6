"""`judge probe --faults` as a user runs it: on all judges of a folder, into files to read."""

import json
import shutil
from pathlib import Path

import pytest
from benchmarks.pages import faults as table
from benchmarks.pages.shown import with_tables
from mock_server import input_of

ROOT = Path(__file__).resolve().parents[4]
EXAMPLES = ROOT / "examples"
PAGE = (ROOT / "docs" / "trust" / "faults.md").read_text(encoding="utf-8")


@pytest.fixture
def demo(judge):
    """The packaged collection, judged without a model by given nuggets."""
    nuggets = EXAMPLES.parent / "tests" / "collection" / "nuggets.jsonl"
    config = EXAMPLES.parent / "tests" / "collection" / "judge.yaml"
    ran = judge("run", config, "--nuggets", nuggets, "--out", "demo", "--quiet")
    assert ran.code == 0, ran.err
    return "demo"


def by_fault(rows, judge):
    return {row["fault"]: row for row in rows if row["judge"] == judge}


def test_all_judges_of_a_folder_are_tested_and_each_label_is_listed(judge, demo, tmp_path, rows_of):
    ran = judge("probe", demo, "--faults", "--json", "--out", "test")
    assert ran.code == 0, ran.err
    assert "Each planted text: test/cases.jsonl" in ran.err
    nuggets, support = (by_fault(ran.rows, name) for name in ("assigner", "support"))
    assert nuggets["citation-swap"]["blind"] == "answers are judged without their citations"
    assert support["citation-swap"]["detection"]["n"] == 30
    assert set(nuggets) == set(support)
    assert len(nuggets) == 11
    rows = rows_of(tmp_path / "test" / "faults.jsonl")
    assert rows == ran.rows
    cases = rows_of(tmp_path / "test" / "cases.jsonl")
    of_fault = [c for c in cases if (c["judge"], c["fault"]) == ("support", "citation-swap")]
    assert len(of_fault) == 30
    assert all(case["as_it_must"] is True for case in of_fault)
    assert {case["label_before"] for case in of_fault} == {"full"}
    assert all(case["sentence"] and case["before"] != case["after"] for case in of_fault)
    manifest = json.loads((tmp_path / "test" / "manifest.json").read_bytes())
    assert (manifest["seed"], manifest["sample"]) == (0, 30)
    assert [one["judge"] for one in manifest["judges"]] == ["assigner", "support"]
    files = {path: path.read_bytes() for path in (tmp_path / "test").glob("*.jsonl")}
    assert judge("probe", demo, "--faults", "--out", "test").code == 0
    assert {path: path.read_bytes() for path in files} == files


def test_another_model_is_shown_beside_the_lexical_judge(judge, demo, tide_server):
    def always_yes(body):
        asked = input_of(body)
        if "not true" in asked.get("sentence", ""):
            return "no idea"
        if "sentence" in asked:
            return {"verdict": "full"}
        return {"verdicts": dict.fromkeys(asked["nuggets"], "support")}

    tide_server.brain = always_yes
    model = ["--model", "hosted_vllm/mock", "--set", "models.default.reasks=0"]
    model += ["--set", f"models.default.api_base={tide_server.base_url}", "--sample", 5]
    plan = judge("probe", demo, "--faults", *model, "--dry-run", "--json")
    assert tide_server.requests == []
    ran = judge("probe", demo, "--faults", *model)
    assert ran.code == 3
    assert sum(row["calls"] for row in plan.rows) == len(tide_server.requests)
    assert "5 labels are missing, never taken as moved; --out lists them" in ran.err
    verdict = "The assigner judge sees 0 of "
    assert ran.out.startswith(verdict)
    assert "; lexical: +" in ran.out
    assert max(map(len, ran.out.splitlines())) <= 80
    rows = judge("probe", demo, "--faults", *model, "--format", "csv").out.splitlines()
    # planted, n, fell, its interval, n, moved, its interval, unjudged, and the two of the lexical
    swap = next(row for row in rows if row.startswith("citation-swap"))
    of_swap = swap.split(",")
    assert of_swap[:4] + of_swap[6:9] == ["citation-swap", "5", "5", "0.0", "0", "", ""]
    assert of_swap[-2:] == ["1.0", ""]
    assert float(of_swap[5]) == pytest.approx(0.522, abs=5e-4)
    lost = [row.split(",") for row in rows if row.startswith("negation")][-1]
    assert lost[-3] == "5"


def test_a_limit_ends_the_asking_and_is_no_detection(judge, demo, tide_server):
    model = [
        "--model",
        "hosted_vllm/mock",
        "--set",
        f"models.default.api_base={tide_server.base_url}",
    ]
    tide_server.brain = lambda body: {"verdict": "full"}
    limited = ["--judge", "support", "--set", "run.max_calls=3", "--sample", 5, "--json"]
    ran = judge("probe", demo, "--faults", *model, *limited)
    assert ran.code == 3
    assert "Stopped at max_calls 3: the figures are partial" in ran.err
    last = by_fault(ran.rows, "support")["all"]
    assert last["detection"]["n"] + last["detection"]["n_unjudged"] == 25
    assert last["detection"]["value"] in (None, 0.0)


def test_key_points_reports_and_items_of_ones_own_are_tested_as_far_as_is_certain(judge, tmp_path):
    keypoints = EXAMPLES / "keypoints"
    files = [
        "--topics",
        keypoints / "topics.jsonl",
        "--set",
        f"data.keypoints={keypoints / 'keypoints.jsonl'}",
    ]
    ran = judge("run", "keypoints", *files, "--runs", keypoints / "answers", "--out", "points")
    assert ran.code == 0, ran.err
    points = by_fault(judge("probe", "points", "--faults", "--json").rows, "entailment")
    assert points["omission"]["planted"] > 0
    assert points["padding"]["false_alarms"]["n"] > 0
    shutil.copy(EXAMPLES.parent / "tests" / "collection" / "grounded.yaml", tmp_path)
    items = EXAMPLES.parent / "tests" / "collection" / "labels" / "grounded.jsonl"
    ran = judge("run", "items", "--items", items, "--judge", "grounded.yaml", "--out", "own")
    assert ran.code == 0, ran.err
    own = by_fault(judge("probe", "own", "--faults", "--json").rows, "grounded")
    assert own["citation-swap"]["detection"]["value"] == 1.0
    assert own["reordering"]["blind"] == "each item is judged by itself"
    by_file = judge("probe", items, "--judge", "grounded.yaml", "--faults", "--json")
    swaps = by_fault(by_file.rows, "grounded")["citation-swap"]["detection"]
    assert swaps["n"] + swaps["n_not_best"] == 30  # people said yes, the judge need not


def test_of_questions_nothing_is_said_that_would_have_to_fall(judge, tiny):
    questions = [{"id": "t1", "subquestions": ["What pulls the sea?", "How often does it rise?"]}]
    path = tiny / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in questions), encoding="utf-8")
    ran = judge(
        *(
            "run",
            "coverage",
            "--topics",
            tiny / "topics.tsv",
            "--set",
            f"data.questions={path}",
            "--out",
            "cov",
        ),
        *("--runs", tiny / "one.jsonl", "--set", "coverage.answerable=all"),
    )
    assert ran.code == 0, ran.err
    ran = judge("probe", "cov", "--faults")
    assert "Not planted: negation, number, date, name, omission: a question" in ran.out
    assert "padding" in ran.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name the judge that is probed (--judge), or plant faults (--faults)"),
        (["--faults", "--conditions", "batch"], "--conditions: faults are planted under one"),
        (["--faults", "--judge", "nuggetizer"], "--judge nuggetizer: wanted assigner, support"),
        (["--faults", "--judge", "entailment"], "has no entailments.jsonl"),
        (["--faults", "--out", "demo"], "which no probe wrote; name another --out"),
    ],
)
def test_what_cannot_be_tested_ends_with_2_and_one_line(judge, demo, arguments, message):
    ran = judge("probe", demo, *arguments)
    assert ran.code == 2
    assert message in ran.err
    assert "Traceback" not in ran.err


def test_a_file_does_not_say_who_judged_it_and_passages_are_no_answers(judge):
    collection = EXAMPLES.parent / "tests" / "collection"
    ran = judge("probe", collection / "labels" / "grounded.jsonl", "--faults")
    assert ran.code == 2
    assert "is no results folder; name the judge of its items (--judge)" in ran.err
    files = [f"--{name}={collection / name}.jsonl" for name in ("candidates", "passages")]
    topics = f"--topics={collection / 'topics.tsv'}"
    assert judge("run", "relevance", topics, *files, "--out", "rel").code == 0
    ran = judge("probe", "rel", "--faults")
    assert ran.code == 0, ran.err
    text = "skipped relevance: it judges passages, and faults are planted in what systems wrote"
    assert " ".join(ran.out.split()) == text


def test_the_page_shows_what_its_commands_print(judge):
    commands = PAGE.split("```\n")[1].splitlines()
    for command in commands[:-1]:
        assert judge(*command.split()[1:]).code == 0
    ran = judge(*commands[-1].split()[1:])
    assert ran.code == 0, ran.err
    assert ran.out == PAGE.split("```\n")[3]


@pytest.mark.slow
def test_the_tables_of_the_page_are_those_of_the_data(shared_data, capsys):
    if table.tested(shared_data) is None:
        pytest.skip(f"rag24_e2e, rag24_support not found in {shared_data}")
    table.main([str(shared_data)])
    renewed = with_tables(PAGE, capsys.readouterr().out)
    assert renewed == (PAGE, 2 * 11 + 2 * 4), "`make pages` renews it"


@pytest.mark.slow
def test_known_judges_come_out_as_what_they_are_on_the_same_cases(shared_data):
    if (tables := table.tested(shared_data)) is None:
        pytest.skip(f"rag24_e2e, rag24_support not found in {shared_data}")
    for one in tables.values():
        of_judge = {name: row["informedness"] for name, row in table.judged(one).items()}
        assert of_judge["always the best label"]["value"] == 0.0
        assert of_judge["by what was planted"]["value"] == 1.0
        lots = of_judge["a label at random"]
        assert lots["low"] < 0.0 < lots["high"]
        assert of_judge["lexical"]["low"] > 0.0
        rows = {row["fault"]: row for row in one.rows}
        assert rows["negation"]["detection"]["value"] < 0.25  # it counts words
