"""`judge serve-model` with a stand-in for the `vllm` command; tests/vllm has the real one."""

import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from itertools import pairwise

import pytest
import yaml

from nuggetjudge.backends.vllm.engine import is_installed

# Serves /health after a moment, as `vllm serve` does; what it does on the way is in VLLM_DOES.
PROGRAM = """\
#!{python}
import http.server, os, signal, sys, time
does = os.environ.get("VLLM_DOES", "")
if does == "die at once":
    sys.exit(7)
print("loading", *sys.argv[1:], flush=True)
if does == "die":
    sys.exit("ValueError: no weights in the folder")
if does == "sleep":
    time.sleep(60)
if does == "ignore":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
class Health(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/health" else 404)
        self.end_headers()
port = int(sys.argv[sys.argv.index("--port") + 1])
server = http.server.HTTPServer(("127.0.0.1", port), Health)
if does == "end":
    server.timeout = 5
    server.handle_request()
    time.sleep(0.5)
    sys.exit("out of memory")
server.serve_forever()
"""


@pytest.fixture
def port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@pytest.fixture
def path(tmp_path, environment):
    """A PATH with the stand-in, for a Python that has no vLLM of its own."""
    if is_installed():
        pytest.skip("vLLM is installed here, so the command on the PATH is not used")
    program = tmp_path / "bin" / "vllm"
    program.parent.mkdir()
    program.write_text(PROGRAM.format(python=sys.executable))
    program.chmod(0o755)
    return {"PATH": f"{program.parent}{os.pathsep}{environment['PATH']}"}


def test_the_command_has_what_judging_wants_and_flags_of_ones_own_come_last(judge, path):
    flags = ["--gpus", 2, "--max-model-len", 8192, "--dry-run", "--", "--dtype", "half"]
    ran = judge("serve-model", "org/tiny", "--port", 8123, *flags, env=path)
    assert (ran.code, ran.err) == (0, "")
    words = shlex.split(ran.out)
    assert words[1:3] == ["serve", "org/tiny"]
    said = dict(pairwise(words))
    assert said["--served-model-name"] == "org/tiny"
    assert (said["--host"], said["--port"]) == ("127.0.0.1", "8123")
    assert (said["--tensor-parallel-size"], said["--max-model-len"]) == ("2", "8192")
    assert yaml.safe_load(said["--structured-outputs-config"]) == {
        "backend": "guidance",
        "disable_any_whitespace": True,
    }
    assert {"--enable-prefix-caching", "--enable-prompt-tokens-details"} <= set(words)
    assert words[-2:] == ["--dtype", "half"]


@pytest.mark.parametrize(
    ("flags", "use"),
    [
        (["--port", "9"], "--port after --: use --port, before --"),
        (["--host=0.0.0.0"], "--host after --: use --host, before --"),
        (["--served_model_name", "x"], "--served-model-name after --: use --name, before --"),
        (["--api-key", "sk-secret"], "--api-key after --: set VLLM_API_KEY"),
    ],
)
def test_what_the_command_has_to_know_too_is_not_taken_after_the_dashes(flags, use, judge, path):
    ran = judge("serve-model", "x", "--dry-run", "--", *flags, env=path)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"judge: {use}")
    assert ran.err.count("\n") == 1
    assert "secret" not in ran.err


def test_without_vllm_it_says_in_one_line_what_to_install(judge, path, environment):
    ran = judge("serve-model", "org/tiny", env={"PATH": "/nowhere"})
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        'judge: no vLLM here and no `vllm` on the PATH: pip install "nuggetjudge[vllm]"\n'
    )


def test_a_taken_port_is_told_before_anything_starts(judge, path, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ran = judge("serve-model", "x", "--port", taken.getsockname()[1], env=path)
    assert (ran.code, ran.out) == (2, "")
    assert "Address already in use; another --port may be free\n" in ran.err
    assert not (tmp_path / "vllm.log").exists()


def test_a_server_that_dies_shows_the_last_lines_of_its_log(judge, path, port):
    ran = judge("serve-model", "x", "--port", port, env=path | {"VLLM_DOES": "die"})
    assert (ran.code, ran.out) == (2, "")
    assert "judge: vLLM ended (exit code 1); the last lines of vllm.log:\n" in ran.err
    assert ran.err.endswith("\n  ValueError: no weights in the folder\n")


def test_a_server_that_wrote_nothing_is_told_so(judge, path, port):
    ran = judge("serve-model", "x", "--port", port, env=path | {"VLLM_DOES": "die at once"})
    assert ran.code == 2
    assert ran.err.endswith("judge: vLLM ended (exit code 7); vllm.log is empty\n")


def test_a_server_that_is_not_ready_in_time_is_ended(judge, path, port):
    began = time.monotonic()
    env = path | {"VLLM_DOES": "sleep"}
    ran = judge("serve-model", "x", "--port", port, "--wait", 1, env=env)
    assert ran.code == 2
    assert "vLLM is not ready after 1 s; the last lines of vllm.log:\n  loading serve x" in ran.err
    assert time.monotonic() - began < 30


def test_a_server_that_ends_later_ends_the_command(judge, path, port):
    ran = judge("serve-model", "x", "--port", port, env=path | {"VLLM_DOES": "end"})
    assert ran.code == 2
    assert yaml.safe_load(ran.out)["models"]["default"]["model"] == "hosted_vllm/x"
    assert ran.err.endswith("\n  out of memory\n")


def test_a_key_that_the_server_asks_for_is_named_and_not_shown(judge, path, port):
    env = path | {"VLLM_DOES": "end", "VLLM_API_KEY": "sk-very-secret-0123456789"}
    ran = judge("serve-model", "x", "--port", port, env=env)
    assert yaml.safe_load(ran.out)["models"]["default"]["api_key_env"] == "VLLM_API_KEY"
    assert "secret" not in ran.out + ran.err


@pytest.mark.parametrize(
    ("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 143)]
)
def test_a_signal_ends_the_server_too(path, environment, tmp_path, port, sent, code):
    command = [sys.executable, "-m", "nuggetjudge", "serve-model", "org/x", "--port", str(port)]
    started = subprocess.Popen(
        command,
        cwd=tmp_path,
        env=environment | path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        lines = [started.stdout.readline() for _ in range(5)]
        assert yaml.safe_load("".join(lines)) == {
            "models": {
                "default": {
                    "model": "hosted_vllm/org/x",
                    "api_base": f"http://127.0.0.1:{port}/v1",
                    "concurrency": 256,
                }
            }
        }
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
        started.send_signal(sent)
        _, err = started.communicate(timeout=30)
    finally:
        started.terminate()
        started.wait()
    assert started.returncode == code
    assert err == "vLLM starts, see vllm.log\n"
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=5)
