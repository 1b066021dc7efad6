"""Programs that ask no judge need no model library, and start as fast as they can."""

import subprocess
import sys

NAMES = (
    "analysis.agree",
    "analysis.compare",
    "partial",
    "scoring.corrected",
    "scoring.score",
)


def test_what_reads_stored_judgements_does_without_dspy():
    code = f"""
import importlib, sys
for name in {NAMES}:
    importlib.import_module("nuggetjudge.programs." + name)
    assert "dspy" not in sys.modules, name
"""
    subprocess.run([sys.executable, "-c", code], check=True)
