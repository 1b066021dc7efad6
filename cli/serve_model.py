"""`judge serve-model`: a local model behind vLLM's server, with the flags that judging wants."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ..records.reading.problems import InputError
from .exits import TERMINATED
from .stopping import Terminated
from .terminal import shown

# Flags of vLLM that have to be known here too, and how they are given.
_OWN = {
    "--host": "use --host, before --",
    "--port": "use --port, before --",
    "--served-model-name": "use --name, before --",
    "--api-key": "set VLLM_API_KEY, which no list of processes shows",
}


def serve_model(
    model: Annotated[str, typer.Argument(help="A Hugging Face name, or a folder with weights.")],
    flags: Annotated[
        list[str] | None, typer.Argument(help="Further flags of `vllm serve`, after --.")
    ] = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 8000,
    host: Annotated[
        str, typer.Option(help="Address to listen on; 0.0.0.0 lets other machines in.")
    ] = "127.0.0.1",
    gpus: Annotated[int, typer.Option(min=1, help="GPUs to split the model over.")] = 1,
    max_model_len: Annotated[
        int | None, typer.Option(min=1, help="Longest prompt and reply, tokens.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="What requests call it; default: MODEL, or its folder.")
    ] = None,
    wait: Annotated[
        float, typer.Option(min=1, help="Seconds until it must be ready, download included.")
    ] = 1800,
    log: Annotated[Path, typer.Option(help="File for what vLLM writes.")] = Path("vllm.log"),
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the command; start nothing.")
    ] = False,
) -> None:
    """Serve a model with vLLM until Ctrl-C, and print its entry for `models:` when it is ready.

    Example: judge serve-model Qwen/Qwen3-8B --gpus 2 -- --gpu-memory-utilization 0.85
    """
    from ..backends.vllm.server import VllmServer, server_command

    _check(flags or ())
    called = name or (Path(model).resolve().name if Path(model).is_dir() else model)
    command = server_command(
        model,
        name=called,
        host=host,
        port=port,
        gpus=gpus,
        max_model_len=max_model_len,
        extra=flags or (),
    )
    if dry_run:
        sys.stdout.write(shown(shlex.join(command)) + "\n")
        return
    signal.signal(signal.SIGHUP, _terminate)  # the terminal went away: do not leave it running
    try:
        with VllmServer(command, host=host, port=port, log=log) as server:
            sys.stderr.write(f"vLLM starts, see {shown(str(log))}\n")
            server.wait_until_healthy(wait)
            sys.stdout.write(shown(_entry(called, server.api_base)))
            sys.stdout.flush()
            server.wait()
    except Terminated:  # typer would take it for Ctrl-C
        raise typer.Exit(TERMINATED) from None


def _check(flags: Sequence[str]) -> None:
    """Raise InputError for a flag that vLLM would follow and this program would not."""
    for flag in flags:
        told = flag.partition("=")[0].replace("_", "-")
        if told in _OWN:
            raise InputError(f"{told} after --: {_OWN[told]}")


def _entry(name: str, api_base: str) -> str:
    """A config's `models:` for this server, in YAML."""
    lines = [
        "models:",
        "  default:",
        f"    model: {json.dumps(f'hosted_vllm/{name}')}",
        f"    api_base: {json.dumps(api_base)}",
        "    concurrency: 256",
    ]
    if os.environ.get("VLLM_API_KEY"):  # vLLM asks for it then
        lines.append("    api_key_env: VLLM_API_KEY")
    return "\n".join(lines) + "\n"


def _terminate(number: int, frame: object) -> None:
    raise Terminated
