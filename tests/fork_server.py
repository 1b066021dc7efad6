"""One process with everything imported, which forks for each command that tests start.

A start of Python with all that a command imports costs more than a CPU-second; a fork 0.05. Each
child has its own folder, environment, standard files, signals and exit code. `processes.py` talks
to it, from any number of processes; the protocol is one message with four open files (the answer's
socket, stdin, stdout, stderr), then a line of JSON on that socket. The answers are two C ints: the
child's pid, and in the end its wait status.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import io
import json
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import struct
import sys
import tempfile
import threading
import traceback
from typing import Any

FOLDERS = (
    "records", "metrics", "backends", "judges", "retrieval", "agents", "programs", "calibration",
    "cli", "plugins.annotate", "plugins.exports", "plugins.figures", "plugins.lab",
    "plugins.report",
)  # fmt: skip
LATE = (  # what the folders' functions import when they run
    *("dspy", "orjson", "diskcache", "numpy", "scipy.stats", "scipy.optimize", "scipy.sparse"),
    *("bm25s", "Stemmer", "yaml", "rich.progress", "asyncio", "sqlite3", "httpx", "aiohttp"),
    *("uvicorn.protocols.http.h11_impl", "uvicorn.lifespan.off"),
)


def import_all() -> None:
    """All modules of the package and what they need, as far as it is installed here."""
    for folder in FOLDERS:
        try:
            package = importlib.import_module(f"nuggetjudge.{folder}")
        except ModuleNotFoundError:
            if folder.startswith("plugins."):
                continue  # the core by itself
            raise
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            _import(module.name)
    for name in LATE:
        _import(name)
    _build_models()


def _import(name: str) -> None:
    try:
        importlib.import_module(name)
    except ImportError:
        needs_an_extra = any(part in name for part in ("vllm", "plugins."))
        if name.startswith("nuggetjudge") and not needs_an_extra:
            raise


def _build_models() -> None:
    """What checks a config: built when first used, and alike in every command that reads one."""
    models = list(importlib.import_module("pydantic").BaseModel.__subclasses__())
    for model in models:  # grows
        models += model.__subclasses__()
        if model.__module__.startswith("nuggetjudge.") and not model.__pydantic_complete__:
            model.model_rebuild()
    importlib.import_module("nuggetjudge.programs.engine.manifest")._versions()


def serve(listener: socket.socket) -> None:
    """Forks until the first to connect is gone; children end with whoever asked for them."""
    selector = selectors.DefaultSelector()
    first, _ = listener.accept()
    selector.register(first, selectors.EVENT_READ)
    selector.register(listener, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.data:
                selector.unregister(key.fileobj)
                _answer(key.fd, *key.data[:2])
            elif key.fileobj is listener:
                selector.register(listener.accept()[0], selectors.EVENT_READ)
            elif not _forked(key.fileobj, selector):
                selector.unregister(key.fileobj)
                key.fileobj.close()
                for other in selector.get_map().values():
                    if other.data and key.fileobj in (first, other.data[2]):
                        os.kill(other.data[0], signal.SIGKILL)
                if key.fileobj is first:
                    return


def _forked(control: Any, selector: selectors.BaseSelector) -> bool:
    """Whether somebody asked there for a child, which then runs."""
    _, files, _, _ = socket.recv_fds(control, 1, 4)
    if not files:
        return False
    answer = socket.socket(fileno=files[0])
    with answer.makefile() as line:
        request = json.loads(line.readline())
    pid = os.fork()
    if not pid:
        _child(request, files[1:])
    for file in files[1:]:
        os.close(file)
    answer.sendall(struct.pack("i", pid))
    selector.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, answer, control))
    return True


def _answer(pidfd: int, pid: int, answer: socket.socket) -> None:
    _, status = os.waitpid(pid, 0)
    os.close(pidfd)
    with contextlib.suppress(OSError):  # nobody waits for it
        answer.sendall(struct.pack("i", status))
    answer.close()


def _child(request: dict[str, Any], files: list[int]) -> None:
    """Runs the request in this process, which ends here, as an interpreter of its own would."""
    code = 1
    try:
        for number, file in enumerate(files):
            os.dup2(file, number)
        os.closerange(3, 1024)
        _become(request)
        code = _run(request["arguments"])
        threading._shutdown()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        code = 120  # as Python ends whose last bytes nobody reads
    except BaseException:
        traceback.print_exc(file=sys.__stderr__)
    finally:
        os._exit(code)


def _become(request: dict[str, Any]) -> None:
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    tempfile.tempdir = None
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    sys.path[0] = request["cwd"]
    kinds = (
        ("stdin", "r", "surrogateescape"),
        ("stdout", "w", "surrogateescape"),
        ("stderr", "w", "backslashreplace"),
    )
    for number, (name, mode, errors) in enumerate(kinds):
        binary = open(number, f"{mode}b", closefd=False)  # noqa: SIM115
        text = io.TextIOWrapper(
            binary, "utf-8", errors, line_buffering=name == "stderr" or os.isatty(number)
        )
        setattr(sys, name, text)
        setattr(sys, f"__{name}__", text)


def _run(arguments: list[str]) -> int:
    try:
        match arguments:
            case ["-m", module, *rest]:
                sys.argv = [module, *rest]
                runpy.run_module(module, run_name="__main__", alter_sys=True)
            case ["-c", code, *rest]:
                sys.argv = ["-c", *rest]
                exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
            case [script, *rest]:
                sys.argv = [script, *rest]
                sys.path[0] = os.path.dirname(script)
                runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return (end.code or 0) & 0xFF
        sys.stderr.write(f"{end.code}\n")
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    import_all()
    gc.collect()
    gc.freeze()
    serve(socket.socket(fileno=int(sys.argv[1])))
