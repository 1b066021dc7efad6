"""Programs that ask no judge need no model library, and start as fast as they can."""

import subprocess
import sys
from pathlib import Path

DEMO = Path(__file__).parents[2] / "examples" / "demo" / "judge.yaml"
NAMES = (
    "analysis.agree", "analysis.compare", "partial", "scoring.corrected", "scoring.score",
)  # fmt: skip


def test_what_reads_stored_judgements_does_without_dspy():
    code = f"""
import importlib, sys
for name in {NAMES}:
    importlib.import_module("nuggetjudge.programs." + name)
    assert "dspy" not in sys.modules, name
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_run_loads_no_task_judge_or_step_that_it_does_not_need(tmp_path):
    code = f"""
import sys
from nuggetjudge.cli import main
sys.argv = ["judge", "run", "support", "--config", {str(DEMO)!r}, "--out", {str(tmp_path)!r}]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
protocols = ("nuggets", "keypoints", "evidence", "relevance")
parts = ["programs.protocols." + name for name in protocols]
parts += ["plugins.trec.", "programs.pipelines", "retrieval.encoders", "judges.combined"]
print([n for n in sys.modules for part in parts if n.startswith(f"nuggetjudge.{{part}}")])
"""
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    loaded = ran.stdout.splitlines()[-1]
    assert loaded in ("[]", "['nuggetjudge.plugins.trec.settings']")  # its settings may be given
