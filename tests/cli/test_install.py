"""What the plain install brings is enough, and of it a lexical run loads little."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.install import LOADED, Cost, Installed, report_of

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.litellm_models import LiteLLMTransport
from nuggetjudge.records.reading.problems import InputError

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "examples" / "demo" / "judge.yaml"
IMPORTED = re.compile(r"^ *(?:import|from) (\w+)", re.MULTILINE)
OF_TESTS = {"hypothesis", "krippendorff", "pyndeval", "sklearn", "statsmodels", "truescore"}


def test_the_package_imports_nothing_that_is_installed_for_tests_alone():
    folders = [path.resolve() for path in (ROOT / "src" / "nuggetjudge").iterdir() if path.is_dir()]
    imported = {}
    for path in (path for folder in folders for path in folder.rglob("*.py")):
        imported |= dict.fromkeys(IMPORTED.findall(path.read_text("utf-8")), path)
    assert {"dspy", "numpy", "scipy"} <= imported.keys()
    assert {name: imported[name] for name in OF_TESTS & imported.keys()} == {}


def test_a_lexical_run_needs_neither_litellm_nor_any_client_of_a_provider(tmp_path):
    code = f"""
import json, sys
absent = {LOADED.split()!r}
sys.modules.update(dict.fromkeys(absent))  # an import of them fails
from nuggetjudge.cli import main
sys.argv = ["judge", "run", {str(DEMO)!r}, "--out", {str(tmp_path)!r}, "--json", "--quiet"]
main()
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert len(ran.stdout.splitlines()) > 50
    assert all(json.loads(line)["measure"] for line in ran.stdout.splitlines())


def test_a_model_of_another_provider_without_litellm_is_told_in_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "litellm", None)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a key")
    with pytest.raises(InputError) as error:
        LiteLLMTransport(ModelConfig(model="anthropic/claude-sonnet-4-5"))
    expected = "litellm is not installed: pip install litellm, or ask an OpenAI-compatible "
    assert str(error.value) == expected + "endpoint: openai/NAME with api_base"


def installed(name, **packages):
    cost = {"judge --help": Cost(0.1, 50)}
    return Installed(name, sum(packages.values()), 1, packages, frozenset({"a"}), cost, "")


def test_the_table_sets_what_was_beside_what_is_and_is_held_to_its_bounds():
    before, after = installed("old", a=400, b=100, c=300), installed("this folder", a=400, b=100)
    report = report_of([before, after])
    table = {row[0]: row[1:] for row in report.table}
    assert table["all, MB"] == ["800", "500"]
    assert table["packages, pip's own too"] == ["3", "2"]
    assert table["only for LiteLLM, MB"] == ["400", "400"]
    assert table["c, MB"] == ["300.0", "-"]
    assert report.is_within
    assert not report_of([after, before]).is_within, "800 MB are too much"
