"""A program and a judge of another package, as docs/extending.md has them, in every command."""

import csv
import json
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from json_lines import write_rows

from nuggetjudge.agents import PassageCorpus
from nuggetjudge.judges import SupportJudge
from nuggetjudge.records.rows import Passage

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "tests" / "collection"
DATA = ("--topics", DEMO / "topics.tsv", "--runs", DEMO / "runs")
# Runs commands, a JSON list a line, in one process: where another package is found is up to it.
SERVER = """
import contextlib, io, json, sys
from nuggetjudge.cli import main
for line in sys.stdin:
    sys.argv, out, err, code = ["judge", *json.loads(line)], io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    print(json.dumps([code, out.getvalue(), err.getvalue()]), flush=True)
"""


def blocks():
    """The files that the page shows, by name."""
    text = (ROOT / "docs" / "extending.md").read_text("utf-8")
    matches = re.findall(r"^`([\w.]+)`[^\n]*\n```\w+\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return dict(matches)


def wheel(folder, project, entry_points, modules):
    """A wheel of these modules, as any tool would build it from such a pyproject.toml."""
    name, version = project["name"], project["version"]
    about = f"{name}-{version}.dist-info"
    groups = (
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in entries.items())
        for group, entries in entry_points.items()
    )
    files = {
        **modules,
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/entry_points.txt": "\n".join(groups),
    }
    files[f"{about}/RECORD"] = "".join(f"{file},,\n" for file in (*files, f"{about}/RECORD"))
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in files.items():
            archive.writestr(file, text)
    return path


FACTS_DATA = """
from nuggetjudge.programs.config.base import Input
from nuggetjudge.records.reading.fields import read_lines

def read(paths, problems):
    return {line.row["topic"]: line.row for line in read_lines(paths[0], problems)}

FILE = Input("facts", (), read, is_made=True, query=lambda row: row["ask"],
             texts=lambda row: {"fact_id": {"f": row["fact"]}})
"""
# A program with a file of `data:` that it makes where none is given, ids and texts of its own, a
# note in the manifest, and another tool that it writes for.
FACTS = """
import json
from nuggetjudge.judges import ItemJudge
from nuggetjudge.programs.protocols.judgements import Words
from nuggetjudge.programs.protocols.program import Program
from nuggetjudge.records.kinds import Kind
from nuggetjudge.records.reading.fields import read_lines
from nuggetjudge.records.writing import write_lines

KEY, GAINS = ("topic_id", "run_id", "fact_id"), {"absent": 0.0, "present": 1.0}

def labels(lines):
    for line in lines:
        yield line, tuple(line.row[name] for name in KEY), line.row["label"], {}

KIND = Kind("facts", KEY, tuple(GAINS), GAINS, rows="facts_judged", read=labels,
            files={"facts_judged": lambda row: "fact_id" in row and "is_fact" in row})

class FactJudge(ItemJudge):
    name, kind, key, scale, gains = "fact", "facts", KEY, tuple(GAINS), GAINS
    inputs = ("fact", "answer")

class Facts(Program):
    name, judges, kind, judged = "facts", (), "facts", "judged.jsonl"
    files, makes, matrix = (judged, "facts.jsonl"), {"facts": "facts.jsonl"}, "points"
    words = Words("Facts", "fact", "have it", "rare ones", several="facts of life")
    shown, meanings = ("facts",), {"facts": "Share of the facts."}
    notes, tools = {"topics_without_facts": []}, {"ledger": "Write facts as ledgers have them."}

    async def judge(self, run):
        given = run.collection.given.get("facts", {})
        run.results.write("facts.jsonl", given.values())
        run.results.notes["topics_without_facts"] = [*{*run.collection.topics} - {*given}]
        with run.results.open(self.judged) as rows:
            for one in run.collection.answers():
                is_in = given[one.topic_id]["fact"] in one.text
                ids = {"topic_id": one.topic_id, "run_id": one.run_id, "fact_id": "f"}
                rows.write({**ids, "label": list(GAINS)[is_in], "is_fact": True})

    def score(self, folder, board):
        from nuggetjudge.metrics import Value
        for line in read_lines(folder.need(self.judged), folder.problems):
            gain = GAINS[line.row["label"]]
            value = Value(gain, 1, 0, gain, gain)
            board.add(line.row["run_id"], line.row["topic_id"], {"facts": value})

    def export(self, tool, folder, out, problems):
        rows = map(json.loads, (folder / self.judged).read_text().splitlines())
        return {tool: write_lines(out / tool, rows), "failed": 0}
"""


def install(target, path):
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    command += ["--disable-pip-version-check", "--target", str(target), str(path)]
    subprocess.run(command, check=True, capture_output=True)


class Judge:
    """The command line of one process; `judge(...)` gives exit code, stdout, stderr."""

    def __init__(self, home, packages):
        home.mkdir(exist_ok=True)
        env = {"HOME": str(home), "PYTHONPATH": str(packages), "PATH": "/usr/bin:/bin"}
        self._process = subprocess.Popen(
            [sys.executable, "-c", SERVER], cwd=home, env=env, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, encoding="utf-8",
        )  # fmt: skip

    def __call__(self, *arguments):
        self._process.stdin.write(json.dumps([str(a) for a in arguments]) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def printed(self, *arguments):
        code, out, err = self(*arguments)
        assert code == 0, err
        return out

    def close(self):
        self._process.stdin.close()
        assert self._process.wait(timeout=60) == 0
        self._process.stdout.close()


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """A folder with the installed package of the page, and one with broken entry points."""
    files = blocks()
    del files["bearing.py"]  # an agent, of no package
    project = tomllib.loads(files.pop("pyproject.toml"))["project"]
    folder, target = tmp_path_factory.mktemp("wheels"), tmp_path_factory.mktemp("installed")
    install(target, wheel(folder, project, project.pop("entry-points"), files))
    broken = {
        "nuggetjudge.programs": {
            "gone": "no_such_module:Program", "faulty": "faults:Faulty",
            "nameless": "faults:Other", "renamed": "brevity:Length",
        },
        "nuggetjudge.judges": {"lost": "no_such_module:Judge", "number": "faults:NUMBER"},
    }  # fmt: skip
    code = """
NUMBER = 1

class Other:
    name = "other"

def Faulty():
    raise RuntimeError("two\\nlines")
"""
    about = {"name": "faults", "version": "1"}
    install(target, wheel(folder, about, broken, {"faults.py": code}))
    points = {
        "nuggetjudge.programs": {"facts": "facts:Facts"},
        "nuggetjudge.kinds": {"facts": "facts:KIND"},
        "nuggetjudge.data": {"facts": "facts_data:FILE"},
    }
    about = {"name": "facts", "version": "1"}
    install(target, wheel(folder, about, points, {"facts.py": FACTS, "facts_data.py": FACTS_DATA}))
    return target


@pytest.fixture(scope="module")
def judge(packages, tmp_path_factory):
    judge = Judge(tmp_path_factory.mktemp("home") / "home", packages)
    yield judge
    judge.close()


@pytest.fixture(scope="module")
def length(judge, tmp_path_factory):
    """A results folder of the other package's program: the runs of the demo, and a terse one."""
    folder = tmp_path_factory.mktemp("results")
    names = [line.split("\t")[0] for line in (DEMO / "topics.tsv").read_text("utf-8").splitlines()]
    answer = [{"text": "It depends.", "citations": []}]
    terse = ({"run_id": "terse", "topic_id": name, "answer": answer} for name in names)
    write_rows(folder / "terse.jsonl", terse)
    given = (*DATA, "--runs", folder / "terse.jsonl", "--model", "lexical")
    judge.printed("run", "length", *given, "--out", folder / "length")
    return folder / "length"


def rows(text):
    return [json.loads(line) for line in text.splitlines()]


def means(text):
    scores = rows(text)
    return {(r["run_id"], r["measure"]): r["value"] for r in scores if r["topic_id"] == "all"}


def test_a_program_of_another_package_is_run_and_scored_like_any_other(judge, length):
    values = means(judge.printed("score", length, "--json"))
    # complete has 2 answers of at most 175 words of 5, thin 4, and none to the fifth topic.
    wanted = {"complete": 2 / 5, "factdump": 0.0, "miscited": 4 / 5, "thin": 4 / 5, "terse": 1}
    assert {run: values[run, "brevity"] for run in wanted} == pytest.approx(wanted)
    written = (length / "scores.jsonl").read_text("utf-8")
    assert judge.printed("score", length, "--json") == written
    labels = rows((length / "lengths.jsonl").read_text("utf-8"))
    assert len(labels) == 24
    assert labels[0].keys() >= {"topic_id", "run_id", "label"}


def test_its_measures_stand_together_on_the_leaderboard(judge, length):
    lines = judge.printed("score", length, "--measures", "all").splitlines()
    assert lines[0].startswith("Length   brevity: ")
    header = next(line.split() for line in lines if line.startswith("#"))
    first = next(line.split() for line in lines if line.startswith("1 "))
    assert header[:3] == ["#", "run", "brevity"]
    assert first[:3] == ["1", "terse", "1.000"]


@pytest.mark.whole
def test_the_report_says_what_its_measure_means(judge, length, tmp_path):
    judge.printed("report", length, "--out", tmp_path / "report.html")
    meaning = "Share of the answers that are as short as the question allows."
    assert meaning in (tmp_path / "report.html").read_text("utf-8")


@pytest.mark.whole
def test_the_report_draws_its_labels_by_run_and_in_its_words(judge, length, tmp_path):
    judge.printed("report", length, "--out", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8")
    islands = re.findall(
        r'<script type="application/json" id="([\w-]+)">(.*?)</script>', page, re.DOTALL
    )
    data = {name: json.loads(text) for name, text in islands}
    [matrix] = data["data-matrix"]["matrices"]
    assert (matrix["name"], matrix["codes"]) == ("length", ["long", "brief", "unjudged"])
    assert [len(topic["items"]) for topic in matrix["topics"]] == [1] * 5
    words = data["head"]["kinds"]["length"]
    assert (words["title"], words["hit"]) == ("Length", "get brief")
    assert words["labels"] == {"long": ["✗", "n", "long"], "brief": ["✓", "f", "brief"]}


def test_what_it_judged_of_an_answer_is_shown(judge, length):
    [topic, *_] = (DEMO / "topics.tsv").read_text("utf-8").splitlines()
    out = judge.printed("show", length, "terse", topic.split("\t")[0])
    assert "It depends." in out
    assert "brief" in out


def test_its_judge_is_fitted_to_labels_of_people(judge, length, tmp_path):
    fitted = tmp_path / "brevity.json"
    judge.printed(
        *("calibrate", length / "lengths.jsonl", "--judge", "brevity", "--method", "threshold"),
        *(*DATA, "--runs", length.parent / "terse.jsonl", "--model", "lexical", "--out", fitted),
    )
    assert json.loads(fitted.read_text("utf-8"))["judge"] == "brevity"


def test_a_gate_on_a_measure_that_it_does_not_give_stops_before_anything_is_asked(judge, tmp_path):
    command = ("run", "length", *DATA, "--model", "lexical", "--out", tmp_path / "gated")
    code, _, err = judge(*command, "--fail-under", "brevty=0.1")
    assert (code, (tmp_path / "gated").exists()) == (2, False)
    assert "did you mean brevity?" in err


@pytest.mark.whole
def test_it_runs_beside_programs_of_this_package_and_as_a_config_says(judge, tmp_path):
    config = tmp_path / "both.yaml"
    text = judge.printed("export-config", "length,support", "--set", "models.default.model=lexical")
    assert "length" in text
    config.write_text(text, encoding="utf-8")
    given = ("--passages", DEMO / "passages.jsonl", "--out", tmp_path / "both")
    figures = means(judge.printed("run", config, *DATA, *given, "--json"))
    assert ("thin", "brevity") in figures
    assert ("thin", "support_precision") in figures
    both = judge.printed("compare", tmp_path / "both", "--runs", "thin,complete")
    assert "brevity" in both
    assert "support_precision" in both


def test_a_run_that_is_started_again_replaces_its_files(judge, tmp_path):
    out = tmp_path / "again"
    command = ("run", "length", *DATA, "--model", "lexical", "--out", out, "--json")
    assert judge.printed(*command) == judge.printed(*command)
    assert len(rows((out / "lengths.jsonl").read_text("utf-8"))) == 19
    code, _, err = judge("run", "nuggets", *command[2:], "--nuggets", DEMO / "nuggets.jsonl")
    assert code == 2
    assert "holds results of length" in err


def test_a_dry_run_counts_its_calls(judge, tmp_path):
    command = ("run", "length", *DATA, "--model", "openai/gpt-4o", "--out", tmp_path / "dry")
    (row,) = rows(judge.printed(*command, "--dry-run", "--json"))
    assert (row["judge"], row["calls"]) == ("brevity", 19)
    assert row["prompt_tokens"] > 19 * 100
    assert not (tmp_path / "dry").exists()


def test_judges_runs_and_people_are_compared_by_its_labels(judge, length, tmp_path):
    runs = judge.printed("compare", length, "--runs", "thin,factdump", "--measure", "brevity")
    assert "brevity" in runs
    human = tmp_path / "human.jsonl"
    labels = rows((length / "lengths.jsonl").read_text("utf-8"))
    other = {"long": "brief", "brief": "long"}
    changed = [
        {**r, "label": other[r["label"]] if i < 2 else r["label"]} for i, r in enumerate(labels)
    ]
    write_rows(human, changed)
    (report,) = rows(judge.printed("compare", length, human, "--json"))
    assert (report["compared"], report["n_flips"], report["agreement"]["is_ordered"]) == (
        "judges", 2, True,
    )  # fmt: skip
    assert report["agreement"]["scale"] == ["long", "brief"]
    assert report["flips"][0]["answer"]  # the texts come from its program
    (report,) = rows(judge.printed("agree", human, length, "--json", "--resamples", "0"))
    assert report["accuracy"] == pytest.approx(22 / 24)


@pytest.mark.whole
def test_people_are_asked_for_its_labels_and_correct_its_scores(judge, length, tmp_path):
    sheet = tmp_path / "sheet.csv"
    command = ("next", length, "--n", "20", "--random-share", "1")
    message = judge.printed(*command, "--out", sheet)
    assert "long, brief" in message
    with sheet.open(encoding="utf-8", newline="") as stream:
        cells = list(csv.DictReader(stream))
    assert len(cells) == 20
    assert all(cell["question"] and cell["answer"] for cell in cells)
    for cell in cells:
        cell["label"] = "long" if len(cell["answer"].split()) > 100 else "brief"
    with sheet.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(cells[0]))
        writer.writeheader()
        writer.writerows(cells)
    out = judge.printed("score", length, "--labels", sheet, "--measures", "brevity")
    assert "brevity" in out


@pytest.mark.whole
def test_people_label_what_it_judged_in_a_browser(packages, length):
    code = """
import json, sys
from pathlib import Path
from nuggetjudge.plugins.annotate.work.task import read_task
from nuggetjudge.records import Problems
task = read_task([Path(sys.argv[1])], "items", Problems())
shown = task.show_texts(task.cells[0])
print(json.dumps([len(task.cells), task.scale, [one.of for one in shown]]))
"""
    env = {"PYTHONPATH": str(packages), "PATH": "/usr/bin:/bin"}
    ran = subprocess.run(
        [sys.executable, "-c", code, str(length)], env=env, capture_output=True, check=True
    )
    assert json.loads(ran.stdout) == [24, ["long", "brief"], ["question", "answer"]]


def test_its_judge_labels_items_like_any_other(judge, tmp_path):
    items, out = tmp_path / "items.jsonl", tmp_path / "items"
    given = [{"topic_id": "t", "run_id": r, "question": "Why?", "answer": a} for r, a in
             (("short", "So."), ("long", "so " * 200))]  # fmt: skip
    write_rows(items, given)
    command = ("run", "items", "--judge", "brevity", "--items", items, "--out", out)
    gains = means(judge.printed(*command, "--model", "lexical", "--json"))
    assert (gains["short", "mean_gain"], gains["long", "mean_gain"]) == (1.0, 0.0)
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["judges"]["brevity"]["judge"] == "Brevity"
    (row,) = rows(judge.printed(*command, "--model", "openai/gpt-4o", "--dry-run", "--json"))
    assert (row["judge"], row["calls"]) == ("brevity", 2)


@pytest.mark.whole
def test_the_schema_lists_both_names(judge):
    schema = json.loads(judge.printed("schema"))
    named = [text for text in _strings(schema) if text in ("length", "brevity")]
    assert {"length", "brevity"} <= set(named)


def _strings(part):
    if isinstance(part, dict):
        for name, value in part.items():
            yield from _strings(value) if name != "enum" else value
    elif isinstance(part, list):
        for value in part:
            yield from _strings(value)


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (("run", "nothing", *DATA), "'nothing' is neither a config file nor one of relevance, "),
        (("run", "gone", *DATA), "program gone: no_such_module:Program cannot be loaded (Module"),
        (("run", "faulty", *DATA), "faults:Faulty cannot be loaded (RuntimeError: two lines)"),
        (("run", "nameless", *DATA), "faults:Other is not a Program with this name"),
        (("run", "renamed", *DATA), "brevity:Length is not a Program with this name"),
        (
            ("run", "items", "--judge", "lost", "--items", DEMO / "labels" / "grounded.jsonl"),
            "judge lost: no_such_module:Judge cannot be loaded (Module",
        ),
        (
            ("run", "items", "--judge", "number", "--items", DEMO / "labels" / "grounded.jsonl"),
            "judge number: faults:NUMBER is not a judge class",
        ),
        (("run", "length", *DATA, "--set", "judges.nobody.window=2"), "unknown judge 'nobody'"),
        (("run", "length", *DATA, "--set", "judges.brevity.window=2"), "this judge takes one item"),
    ],
)  # fmt: skip
def test_an_unknown_or_broken_one_is_one_line(judge, tmp_path, command, says):
    code, out, err = judge(*command, "--model", "lexical", "--out", tmp_path / "out")
    assert (code, out) == (2, "")
    assert says in err
    assert len(err.splitlines()) == 1


def test_results_of_a_program_that_is_not_installed_say_so(length, tmp_path):
    judge = Judge(tmp_path / "home", tmp_path / "nothing")
    code, _, err = judge("score", length)
    judge.close()
    assert code == 2
    assert "unknown program 'length'" in err
    assert len(err.splitlines()) == 1


def test_an_answer_that_was_not_made_is_no_zero_of_its_measures(judge, tmp_path):
    names = [line.split("\t")[0] for line in (DEMO / "topics.tsv").read_text("utf-8").splitlines()]
    answer = [{"text": "It depends.", "citations": []}]
    lines = [{"run_id": "terse", "topic_id": name, "answer": answer} for name in names]
    lines[0] |= {"answer": [], "failed": "refused"}
    path = tmp_path / "terse.jsonl"
    write_rows(path, lines)
    given = ("--topics", DEMO / "topics.tsv", "--runs", path, "--model", "lexical")
    code, out, err = judge("run", "length", *given, "--out", tmp_path / "out", "--json")
    assert (code, "1 missing" in err) == (3, True)
    [row] = [r for r in rows(out) if (r["topic_id"], r["measure"]) == ("all", "brevity")]
    assert (row["value"], row["low"], row["high"], row["n_unjudged"]) == (1.0, 0.8, 1.0, 1)
    assert judge.printed("score", tmp_path / "out", "--json") == out


def test_the_agent_of_the_page_searches_and_judges():
    made = {"__name__": "bearing"}
    exec(blocks()["bearing.py"], made)
    passages = [Passage(id="a", text="Gusts of wind move bridges."), Passage(id="b", text="Rain.")]
    result = made["Bearing"](PassageCorpus(passages), SupportJudge("lexical"))(
        sentence="Gusts of wind move bridges."
    )
    assert result.passages == ["a"]
    assert [step["name"] for step in result.trace] == ["bearing", "search", "support", "found"]


@pytest.fixture(scope="module")
def facts(judge, tmp_path_factory):
    """A results folder of the program with a file of its own, its topics those of that file."""
    folder = tmp_path_factory.mktemp("facts")
    given = [{"topic": f"t{i}", "ask": f"what is {i}?", "fact": f"fact {i}"} for i in range(3)]
    answers = [
        {"run_id": f"r{run}", "topic_id": f"t{i}", "answer": [{"text": f"It is fact {i % run}."}]}
        for run in range(1, 9)
        for i in range(3)
    ]
    for name, lines in (("given.jsonl", given), ("answers.jsonl", answers)):
        write_rows(folder / name, lines)
    files = ("--set", f"data.facts={folder / 'given.jsonl'}", "--runs", folder / "answers.jsonl")
    judge.printed("run", "facts", *files, "--out", folder / "out")
    return folder / "out"


def test_a_file_of_its_own_names_the_topics_and_is_an_input(judge, facts):
    values = means(judge.printed("score", facts, "--json"))
    assert (values["r1", "facts"], values["r3", "facts"]) == (pytest.approx(1 / 3), 1.0)
    manifest = json.loads((facts / "manifest.json").read_text("utf-8"))
    assert manifest["data"]["topic_ids"] == ["t0", "t1", "t2"]
    assert str(facts.parent / "given.jsonl") in manifest["inputs"]
    code, _, err = judge("run", "facts", "--set", "data.facts=gone.jsonl", "--out", facts / "x")
    assert (code, "gone.jsonl" in err) == (2, True)


def test_its_ids_and_texts_are_known_to_label_files(judge, packages, facts):
    labels = facts.parent / "labels.csv"
    rows_ = rows((facts / "judged.jsonl").read_text("utf-8"))
    text = "".join(f"{r['topic_id']},{r['run_id']},{r['fact_id']},{r['label']}\n" for r in rows_)
    labels.write_text("topic_id,run_id,fact_id,label\n" + text, "utf-8")
    (report,) = rows(judge.printed("agree", labels, facts, "--json", "--resamples", "0"))
    assert report["accuracy"] == 1.0
    code = """
import json, sys
from pathlib import Path
from facts import FactJudge
from nuggetjudge.calibration.examples import read_examples
from nuggetjudge.programs.config.sections import DataConfig
from nuggetjudge.records import Problems
folder = Path(sys.argv[1])
data = DataConfig(facts=folder / "given.jsonl", runs=[str(folder / "answers.jsonl")])
found = read_examples(folder / "labels.csv", FactJudge(model="lexical"), Problems(), data=data)
print(json.dumps(found.items[-1].inputs))
"""
    env = {"PYTHONPATH": str(packages), "PATH": "/usr/bin:/bin"}
    command = [sys.executable, "-c", code, str(facts.parent)]
    ran = subprocess.run(command, env=env, capture_output=True, check=True, text=True)
    assert json.loads(ran.stdout) == {"fact": "fact 2", "answer": "It is fact 2."}


def test_its_notes_in_a_manifest_are_checked_as_those_of_the_core(judge, facts, tmp_path):
    manifest = json.loads((facts / "manifest.json").read_text("utf-8"))
    assert manifest["topics_without_facts"] == []
    broken = tmp_path / "broken"
    shutil.copytree(facts, broken)
    manifest["topics_without_facts"] = 7
    (broken / "manifest.json").write_text(json.dumps(manifest, indent=1), "utf-8")
    code, _, err = judge("score", broken)
    assert (code, len(err.splitlines())) == (2, 1)
    assert "topics_without_facts" in err


@pytest.mark.whole
def test_it_writes_for_a_tool_that_it_names(judge, facts, tmp_path):
    assert "ledger" in judge.printed("export", "--help")
    judge.printed("export", "ledger", facts, tmp_path / "ledgers")
    assert len(rows((tmp_path / "ledgers" / "ledger").read_text("utf-8"))) == 24
