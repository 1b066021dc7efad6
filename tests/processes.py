"""Starts Python as tests do: `run("-m", "nuggetjudge", ...)`, forked where nothing is against it.

Where forking from a process that has everything imported is not possible, or `real=True`, or
NUGGETJUDGE_REAL_STARTS is set, it is a fresh interpreter. All workers of xdist fork from one
process. `end_all` ends what a test left running.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from subprocess import PIPE, CompletedProcess, TimeoutExpired
from types import TracebackType
from typing import IO, Any

SERVER = Path(__file__).with_name("fork_server.py")
CAN_FORK = hasattr(os, "pidfd_open") and "NUGGETJUDGE_REAL_STARTS" not in os.environ
READ_AT_START = {"LC_ALL", "PYTHONHASHSEED", "PYTHONIOENCODING", "PYTHONPATH", "PYTHONUTF8"}
JUDGE = ("-m", "nuggetjudge")

_ONE_AT_A_TIME = threading.Lock()
_started: list[Forked | subprocess.Popen[Any]] = []
_address = ""  # of a process that forks for others, too


def start(
    *arguments: object,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdout: int | None = None,
    stderr: int | None = None,
    text: bool = True,
    real: bool = False,
) -> Any:
    """A process of Python with these arguments, to be used like `subprocess.Popen`."""
    words = list(map(str, arguments))
    process: Forked | subprocess.Popen[Any]
    if real or not CAN_FORK or READ_AT_START & set(os.environ if env is None else env):
        process = subprocess.Popen(
            [sys.executable, *words],
            **{"cwd": cwd, "env": env, "stdout": stdout, "stderr": stderr, "text": text},
        )
    else:
        request = {"arguments": words, "cwd": str(cwd or Path.cwd())}
        process = Forked(
            request | {"env": dict(os.environ if env is None else env)}, stdout, stderr, text
        )
    _started.append(process)
    return process


def run(
    *arguments: object, timeout: float = 90, check: bool = False, **options: Any
) -> CompletedProcess[str]:
    """What such a process printed, and its exit code."""
    process = start(*arguments, stdout=PIPE, stderr=PIPE, **options)
    try:
        out, err = process.communicate(timeout=timeout)
    finally:
        process.kill()
        process.wait()
    ran = CompletedProcess(list(map(str, arguments)), process.returncode, out, err)
    if check and ran.returncode:
        raise AssertionError(f"{ran.args} ended with {ran.returncode}: {err}")
    return ran


def end_all() -> None:
    """Kills what is still running of all that was started here."""
    while _started:
        process = _started.pop()
        process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


class Forked:
    """A child of the fork server; the part of `subprocess.Popen` that tests use."""

    def __init__(
        self, request: dict[str, Any], stdout: int | None, stderr: int | None, text: bool
    ) -> None:
        self.args = request["arguments"]
        self.returncode: int | None = None
        for is_last in (False, True):  # a fork server that is gone is started again, once
            try:
                self._fork(request, stdout, stderr, text)
                return
            except OSError:
                if is_last:
                    raise
                _start_again()

    def _fork(
        self, request: dict[str, Any], stdout: int | None, stderr: int | None, text: bool
    ) -> None:
        server = _server()
        self._answers, theirs = socket.socketpair()
        nothing = os.open(os.devnull, os.O_RDWR)
        self.stdout, out = _output(stdout, 1, nothing, text)
        self.stderr, err = _output(stderr, 2, nothing, text)
        self._answers.sendall(json.dumps(request).encode() + b"\n")
        try:
            socket.send_fds(server, [b"!"], [theirs.fileno(), nothing, out, err])
        finally:
            theirs.close()
            for file in {nothing, out, err} - {1, 2}:
                os.close(file)
        self.pid = self._answer()

    def _answer(self) -> int:
        reply = self._answers.recv(struct.calcsize("i"))
        if not reply:
            raise ConnectionError("the fork server is gone")
        return int(struct.unpack("i", reply)[0])

    def poll(self) -> int | None:
        try:
            return self.wait(timeout=0)
        except TimeoutExpired:
            return None

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            self._answers.settimeout(timeout)
            try:
                status = self._answer()
            except (TimeoutError, BlockingIOError):
                raise TimeoutExpired(self.args, timeout or 0) from None
            self.returncode = os.waitstatus_to_exitcode(status)
            self._answers.close()
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[Any, Any]:
        """All of its output, once it has ended; after a timeout it can be called again."""
        if not hasattr(self, "_readers"):
            self._readers = [_Reader(stream) for stream in (self.stdout, self.stderr)]
        self.wait(timeout)
        return tuple(reader.read() for reader in self._readers)  # type: ignore[return-value]

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def __enter__(self) -> Forked:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.wait()


class _Reader:
    """Reads a stream in a thread, so that a child never waits for it."""

    def __init__(self, stream: IO[Any] | None) -> None:
        self.stream, self.found = stream, None
        self.thread = threading.Thread(target=self._all, daemon=True)
        self.thread.start()

    def _all(self) -> None:
        if self.stream is not None:
            self.found = self.stream.read()

    def read(self) -> Any:
        self.thread.join()
        return self.found


def _output(wanted: int | None, own: int, nothing: int, text: bool) -> tuple[IO[Any] | None, int]:
    """The end to read, and the file that the child writes."""
    if wanted is None:
        return None, own
    if wanted == subprocess.DEVNULL:
        return None, nothing
    if wanted != PIPE:
        return None, os.dup(wanted)
    ours, theirs = os.pipe()
    return open(ours, "r" if text else "rb", **({"encoding": "utf-8"} if text else {})), theirs


@functools.cache
def shared() -> str:
    """The address of a new process that forks, for `share`; it ends when this one does."""
    folder = tempfile.mkdtemp()
    address = f"{folder}/forks"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(address)
        listener.listen()
        process = subprocess.Popen(
            [sys.executable, str(SERVER), str(listener.fileno())],
            pass_fds=[listener.fileno()],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    first = _connected(address)

    def end() -> None:
        first.close()
        process.wait()
        shutil.rmtree(folder)

    atexit.register(end)
    return address


def share(address: str) -> None:
    """Have this process fork from there."""
    global _address
    _address = address


def _start_again() -> None:
    """From now on this process forks from a server of its own."""
    with _ONE_AT_A_TIME:
        share("")
        shared.cache_clear()
        _connection.cache_clear()


def _server() -> socket.socket:
    with _ONE_AT_A_TIME:  # a second process would end with its caller, and all that it forked
        return _connection()


@functools.cache
def _connection() -> socket.socket:
    server = _connected(_address or shared())
    atexit.register(server.close)
    return server


def _connected(address: str) -> socket.socket:
    server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server.connect(address)
    return server
