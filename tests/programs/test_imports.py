"""Programs that ask no judge need no model library, and start as fast as they can."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "name",
    [
        "analysis.agree",
        "analysis.compare",
        "analysis.next_labels",
        "partial",
        "scoring.corrected",
        "scoring.score",
    ],
)
def test_what_reads_stored_judgements_does_without_dspy(name):
    code = f"import sys, nuggetjudge.programs.{name}; print('dspy' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"
