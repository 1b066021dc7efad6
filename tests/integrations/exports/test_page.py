"""What docs/howto/exports.md shows works as it stands there, block after block."""

import os
import re
import subprocess
import sys

import pandas
import pytest

pytest.importorskip("datasets")
pytest.importorskip("opentelemetry.sdk")
pytest.importorskip("pyarrow")

from datasets import load_from_disk

import nuggetjudge as nj

from .conftest import ROOT

PAGE = (ROOT / "docs" / "howto" / "exports.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.slow
def test_the_code_of_the_page_runs(tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    env = os.environ | {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    env |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
    printed = {}
    for language, text in BLOCKS:
        if language == "python" and "import wandb" not in text:  # not installed for the tests
            ran = subprocess.run(
                [sys.executable, "-c", text],
                cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120,
            )  # fmt: skip
            assert ran.returncode == 0, ran.stderr
            printed[text] = ran.stdout
    assert len(printed) == 4
    result = nj.Result(tmp_path / "results" / "demo")
    frame = pandas.read_parquet(tmp_path / "questions.parquet")
    assert frame.V_strict.to_list() == result.frame().V_strict.to_list()
    assert pandas.read_parquet(tmp_path / "scores.parquet").value.size == len(result.scores)
    assert load_from_disk(tmp_path / "dataset").num_rows == len(frame)
    assert any("0 not judged" in out for out in printed.values())
    spans = next(out for text, out in printed.items() if "ConsoleSpanExporter" in text)
    for name in ("my experiment", "invoke_workflow nuggets, support", "judge support"):
        assert f'"name": "{name}"' in spans
