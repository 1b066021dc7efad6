"""vLLM's own server, started with what judging wants of it and watched until it ends."""

from __future__ import annotations

import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

import orjson

from ...records.reading.problems import InputError
from ..errors import EndpointUnusable
from .engine import ENVIRONMENT, JUDGING, is_installed

STOP_S = 30.0  # for a server to end by itself
POLL_S = 0.5
TAIL_LINES = 15  # of the log, when the server ends by itself
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}


def server_command(
    model: str,
    *,
    name: str,
    host: str,
    port: int,
    gpus: int = 1,
    max_model_len: int | None = None,
    extra: Sequence[str] = (),
) -> list[str]:
    """The command that serves a model to judges.

    Args:
        model: a name on the Hugging Face hub, or a folder. name: what requests call it.
        gpus: over which each layer is split.
        max_model_len: tokens of prompt and reply; None: what the model allows, or what fits.
        extra: flags of `vllm serve`; they come last and so win over those that stand here, of
            which the address and the name are better left alone.

    Raises: InputError if there is no vLLM, neither in this environment nor on the PATH.
    """
    structured = orjson.dumps(JUDGING["structured_outputs_config"]).decode()
    flags = [
        *("--served-model-name", name, "--host", host, "--port", str(port)),
        *("--tensor-parallel-size", str(gpus)),
        "--enable-prefix-caching",
        "--enable-prompt-tokens-details",  # else no reply tells its cached tokens
        *("--generation-config", JUDGING["generation_config"]),
        *("--max-logprobs", str(JUDGING["max_logprobs"])),
        *("--structured-outputs-config", structured),
    ]
    if max_model_len is not None:
        flags += ["--max-model-len", str(max_model_len)]
    return [*_program(model), *flags, *extra]


class VllmServer:
    """A running server: started on entering, ended on leaving.

    Args:
        command: of `server_command`. log: file for all that the server writes.

    Raises: InputError if its port is taken.
    """

    def __init__(self, command: Sequence[str], *, host: str, port: int, log: Path) -> None:
        self._address = (_EVERYWHERE.get(host, host), port)
        self._log = log
        check_port(host, port)
        with log.open("wb") as out:
            self._process = subprocess.Popen(
                command,
                env=ENVIRONMENT | {"VLLM_LOGGING_LEVEL": "INFO"} | os.environ,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C reaches us alone; its workers go with it
            )

    def __enter__(self) -> VllmServer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def api_base(self) -> str:
        """Its base URL, as `models:` wants it."""
        host, port = self._address
        return f"http://{f'[{host}]' if ':' in host else host}:{port}/v1"

    def wait_until_healthy(self, timeout_s: float) -> None:
        """Return when it answers. Raises: EndpointUnusable if it ends before, or is too slow."""
        until = time.monotonic() + timeout_s
        while self._process.poll() is None:
            if self._is_healthy():
                return
            if time.monotonic() > until:
                raise EndpointUnusable(f"vLLM is not ready after {timeout_s:g} s{self._tail()}")
            time.sleep(POLL_S)
        raise self._ended()

    def wait(self) -> None:
        """Return never but by an error or a signal. Raises: EndpointUnusable when it ends."""
        self._process.wait()
        raise self._ended()

    def stop(self) -> None:
        """End it and its workers: SIGTERM, and after STOP_S seconds SIGKILL."""
        try:
            if self._process.poll() is None:
                self._process.terminate()
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(STOP_S)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)  # with workers that outlived it
            self._process.wait()

    def _is_healthy(self) -> bool:
        host, port = self._address
        connection = http.client.HTTPConnection(host, port, timeout=5)
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def _ended(self) -> EndpointUnusable:
        code = self._process.returncode
        how = f"exit code {code}" if code >= 0 else signal.Signals(-code).name
        return EndpointUnusable(f"vLLM ended ({how}){self._tail()}")

    def _tail(self) -> str:
        lines = self._log.read_text("utf-8", "replace").splitlines()[-TAIL_LINES:]
        if not lines:
            return f"; {self._log} is empty"
        said = "".join(f"\n  {line}" for line in lines)
        return f"; the last lines of {self._log}:{said}"


def check_port(host: str, port: int) -> None:
    """Raise InputError if nothing can listen there."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do
        try:
            probe.bind((host, port))
        except OSError as error:
            what = f"cannot listen on {host}, port {port}: {error.strerror or error}"
            raise InputError(f"{what}; another --port may be free") from None


def _program(model: str) -> list[str]:
    """vLLM of this environment, else of another one: judges need not live beside it."""
    if is_installed():
        return [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", model]
    found = shutil.which("vllm")
    if found is None:
        what = 'no vLLM here and no `vllm` on the PATH: pip install "nuggetjudge[vllm]"'
        raise InputError(what)
    return [found, "serve", model]
