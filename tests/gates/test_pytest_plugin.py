"""The plugin in a pytest of its own, inside this one: its options, its folders, what it costs."""

import re
import subprocess
import sys
import textwrap
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from mock_server import MockServer, always
from processes import run

import nuggetjudge as nj

TEST = """
from nuggetjudge import assert_judged

SAMPLES = [
    {{"id": f"t{{n}}", "question": f"What makes tides, part {{n}}?", "answer": answer,
     "nuggets": ["the moon pulls the sea"]}}
    for n, answer in enumerate({answers})
]

def test_tides(judge):
    result = judge(SAMPLES, "nuggets")
    assert_judged(result).mean("V_strict") >= 0.6
"""
MOON, SUN = "The moon pulls the sea.", "Nobody knows."


class Reports:
    """What pytest reported."""

    def __init__(self):
        self.outcomes, self.text, self.warnings = {}, "", []

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.failed:
            self.outcomes[report.nodeid.rpartition("::")[2]] = report.outcome
            self.text += report.longreprtext

    def pytest_warning_recorded(self, warning_message):
        self.warnings.append(str(warning_message.message))


@pytest.fixture
def inner(tmp_path, monkeypatch):
    """`inner(answers, *options, ini="")`: the reports of one test of these answers."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # the others take seconds
    (entry,) = entry_points(group="pytest11", name="nuggetjudge")

    def run(answers, *options, ini=""):
        (tmp_path / "pytest.ini").write_text(f"[pytest]\n{ini}\n", encoding="utf-8")
        test = textwrap.dedent(TEST.format(answers=answers))
        (tmp_path / "test_tides.py").write_text(test, encoding="utf-8")
        reports = Reports()
        off = [f"-pno:{name}" for name in ("cacheprovider", "terminal", "faulthandler")]
        where = ["-c", str(tmp_path / "pytest.ini"), "--rootdir", str(tmp_path), str(tmp_path)]
        imported = set(sys.modules)
        pytest.main(
            [f"-p{entry.value}", *off, "--import-mode=importlib", *where, *options],
            plugins=[reports],
        )
        for name in {name for name in set(sys.modules) - imported if "test_tides" in name}:
            del sys.modules[name]
        return reports

    return run


def test_a_test_gates_what_it_evaluates(inner):
    assert inner([MOON, MOON, SUN]).outcomes == {"test_tides": "passed"}
    failed = inner([MOON, SUN, SUN])
    assert failed.outcomes == {"test_tides": "failed"}
    assert "answers: V_strict >= 0.6" in failed.text
    assert "t1  0.000  What makes tides, part 1?" in failed.text
    assert "asserting.py" not in failed.text  # the frames are the test's own


def test_a_model_is_named_by_option_or_ini_and_its_lack_is_said(inner, tmp_path):
    assert any("--judge-model" in text for text in inner([MOON]).warnings)
    out = f"judge_out = {tmp_path / 'kept'}"
    named = inner([MOON], "--judge-model", "lexical", ini=f"judge_model = nobody/none\n{out}")
    assert named.outcomes == {"test_tides": "passed"}
    assert not any("--judge-model" in text for text in named.warnings)
    by_ini = inner([MOON], ini="judge_model = lexical")
    assert not any("--judge-model" in text for text in by_ini.warnings)


@pytest.mark.parametrize("is_ini", [True, False])
def test_a_model_on_your_own_server_is_asked_there(inner, is_ini):
    with MockServer(always("support")) as server:
        given = {"judge_model": "hosted_vllm/mock", "judge_api_base": server.base_url}
        ini = "\n".join(f"{name} = {value}" for name, value in given.items() if is_ini)
        options = [f"--{name.replace('_', '-')}={value}" for name, value in given.items()]
        ran = inner([SUN], *([] if is_ini else options), ini=ini)
        assert ran.outcomes == {"test_tides": "passed"}
        assert [request.body["model"] for request in server.requests] == ["mock"]


def test_settings_come_from_a_config_file_but_for_what_is_judged(inner, tmp_path):
    text = (
        "program: support\ndata: {topics: none.tsv, qrels: none.txt}\n"
        "models: {default: {model: hosted_vllm/none}}\njudges: {assigner: {window: 7}}\n"
    )
    (tmp_path / "judge.yaml").write_text(text, encoding="utf-8")
    kept = "--judge-out", "kept", "--judge-config", "judge.yaml"
    ran = inner([MOON], *kept, "--judge-model", "lexical")
    assert (ran.outcomes, ran.text) == ({"test_tides": "passed"}, "")
    assert ran.warnings == []
    (folder,) = (tmp_path / "kept").iterdir()
    config = nj.Result(folder).manifest["config"]
    assert config["judges"]["assigner"]["window"] == 7
    assert config["data"].get("qrels") is None


def test_an_error_of_input_is_one_line_and_names_the_line_of_the_test(inner, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    unknown = inner([MOON], "--judge-config", "none.yaml").text
    assert re.fullmatch(r"test_tides\.py:11: .*none\.yaml: .*", unknown)
    keyless = inner([MOON], "--judge-model", "openai/none").text
    assert re.fullmatch(r"test_tides\.py:11: .*OPENAI_API_KEY.*", keyless)


def test_results_stay_in_a_folder_of_the_test_and_what_they_hold_may_change(inner, tmp_path):
    kept = "--judge-out", "kept"
    assert inner([MOON, MOON], *kept).outcomes == {"test_tides": "passed"}
    (folder,) = (tmp_path / "kept").iterdir()
    assert "test_tides" in folder.name
    assert nj.Result(folder).score("answers", "V_strict") == 1.0
    assert inner([SUN], *kept).outcomes == {"test_tides": "failed"}  # a question is gone, too
    assert nj.Result(folder).score("answers", "V_strict") == 0.0


def test_every_start_of_pytest_loads_the_plugin_and_nothing_else_of_ours():
    code = "import pytest, sys; before = set(sys.modules); import nuggetjudge.gates.pytest_plugin\n"
    code += "print(*sorted(set(sys.modules) - before))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names = {"lazy_loader", "nuggetjudge", "nuggetjudge.gates", "nuggetjudge.gates.pytest_plugin"}
    assert set(ran.stdout.split()) == names


# The example that docs/howto/gate.md shows, run as a user runs it.
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_the_example_passes(tmp_path):
    test = ROOT / "examples" / "loop" / "test_rag.py"
    ran = run("-m", "pytest", "-p", "no:cacheprovider", test, "--judge-out", tmp_path, cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout
    assert "2 passed" in ran.stdout
    assert len(list(tmp_path.glob("*/manifest.json"))) == 3
