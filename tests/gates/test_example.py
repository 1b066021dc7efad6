"""The example that docs/howto/gate.md shows, run as a user runs it."""

from pathlib import Path

import pytest
from processes import run

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_the_example_passes(tmp_path):
    test = ROOT / "examples" / "loop" / "test_rag.py"
    ran = run("-m", "pytest", "-p", "no:cacheprovider", test, "--judge-out", tmp_path, cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout
    assert "2 passed" in ran.stdout
    assert len(list(tmp_path.glob("*/manifest.json"))) == 3
