"""What docs/howto/exports.md shows works as it stands there, block after block."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("datasets")
pytest.importorskip("opentelemetry.sdk")
pytest.importorskip("polars")
pytest.importorskip("wandb")

from .conftest import ROOT

PAGE = (ROOT / "docs" / "howto" / "exports.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.slow
def test_commands_print_what_the_page_says_and_code_runs(tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("WANDB_")}
    env = kept | {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    env["WANDB_ERROR_REPORTING"] = "false"

    def run(*command):
        ran = subprocess.run(
            command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120
        )
        assert ran.returncode == 0, ran.stderr
        return ran

    judge = Path(sys.executable).with_name("judge")
    output_by_code = {}
    for language, text in BLOCKS:
        if language == "python":
            output_by_code[text] = run(sys.executable, "-c", text).stdout
        elif text.startswith(("$ judge", "judge export")):
            for part in re.split(r"^[$] ", text, flags=re.MULTILINE):
                command, _, shown = part.partition("\n")
                if command:
                    ran = run(judge, *shlex.split(command)[1:])
                    assert shown in ran.stderr
    assert len(output_by_code) == 4
    spans = next(out for text, out in output_by_code.items() if "ConsoleSpanExporter" in text)
    for name in ("my experiment", "invoke_workflow nuggets, support", "judge support"):
        assert f'"name": "{name}"' in spans
    assert any("0 not judged" in out for out in output_by_code.values())
    assert list((tmp_path / "wandb").glob("offline-run-*"))
