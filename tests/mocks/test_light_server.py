"""The benchmarks' mock endpoint says the same in C as in Python, faults included."""

import json
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "benchmarks" / "light_server" / "server.c"
SAID = 'say "yes"\nor no'
OPTIONS = ("--content", SAID, "--reply", "SPECIAL", '{"a": 1}')


@pytest.fixture(params=["C", "Python"])
def command(request, tmp_path):
    if request.param == "Python":
        return [sys.executable, str(SOURCE.with_suffix(".py"))]
    if sys.platform != "linux" or shutil.which("cc") is None:
        pytest.skip("the C server needs Linux and a compiler")
    made = tmp_path / "light_server"
    subprocess.run(["cc", "-Wall", "-Werror", "-O1", "-o", made, SOURCE], check=True)
    return [str(made)]


@contextmanager
def served(command, *options):
    with subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def ask(url, text):
    """The status and what was said; status 0: nothing came."""
    try:
        with urllib.request.urlopen(f"{url}/chat/completions", text.encode(), timeout=1) as reply:
            return reply.status, json.load(reply)["choices"][0]["message"]["content"]
    except urllib.error.HTTPError as error:
        return error.code, ""
    except TimeoutError:
        return 0, ""


def test_it_says_what_it_was_told_to_and_counts(command):
    with served(command, *OPTIONS) as url:
        assert ask(url, "anything") == (200, SAID)
        assert ask(url, "x" * 200_000 + "SPECIAL") == (200, '{"a": 1}')
        with urllib.request.urlopen(url.removesuffix("/v1") + "/stats") as reply:
            counts = json.load(reply)
    assert (counts["requests"], counts["body_bytes"]) == (2, 200_007 + len("anything"))
    assert counts["max_in_flight"] == 1


def test_each_fault_comes_once_in_so_many_requests(command):
    with served(command, *OPTIONS, "--fault-every", "8") as url:
        answers = [ask(url, str(number)) for number in range(8)]
    well = (200, SAID)
    broken = (200, '{"verdict":')
    assert answers == [well, (500, ""), well, (0, ""), well, broken, well, (429, "")]


def test_a_reply_takes_as_long_as_was_asked_for(command):
    with served(command, *OPTIONS, "--latency-ms", "300") as url:
        began = time.monotonic()
        assert ask(url, "hello") == (200, SAID)
        assert 0.29 < time.monotonic() - began < 2
