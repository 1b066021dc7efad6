"""Importing does nothing: no file, no socket, no environment, no logging, no DSPy setting."""

import json
import subprocess
import sys

import pytest

WATCH = """
import logging, os, sys
touched = []
def hook(event, args):
    if event.startswith(("socket.", "sqlite3.", "subprocess.", "os.mkdir", "os.putenv")):
        touched.append(f"{event} {args!r}"[:200])
    if event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+"):
        touched.append(f"open {args[0]!r}")
    if event == "open" and str(args[0]).endswith(".env"):
        touched.append(f"open {args[0]!r}")
import dspy, pydantic, aiohttp, diskcache  # what they do themselves is not ours
before = dict(os.environ)
handlers = {n: list(getattr(g, "handlers", [])) for n, g in logging.root.manager.loggerDict.items()}
level, root = logging.root.level, list(logging.root.handlers)
settings = dspy.settings.copy()
sys.addaudithook(hook)
import threading
"""
CHECK = """
import json
changed = {
    "touched": touched,
    "env": sorted(set(os.environ.items()) ^ set(before.items())),
    "root": logging.root.level != level or logging.root.handlers != root,
    "handlers": [
        n for n, g in logging.root.manager.loggerDict.items()
        if getattr(g, "handlers", []) != handlers.get(n, [])
    ],
    "dspy": {k: str(v) for k, v in dspy.settings.copy().items() if settings.get(k) is not v},
    "threads": [t.name for t in threading.enumerate()],
    "heavy": sorted({"litellm", "torch", "vllm", "pyserini", "openai"} & set(sys.modules)),
}
print(json.dumps(changed))
"""
NOTHING = {
    "touched": [],
    "env": [],
    "root": False,
    "handlers": [],
    "dspy": {},
    "threads": ["MainThread"],
    "heavy": [],
}


def watched(code: str, folder: object) -> object:
    done = subprocess.run(
        [sys.executable, "-c", f"{WATCH}\n{code}\n{CHECK}"],
        cwd=str(folder),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    "code",
    [
        "import nuggetjudge",
        "import nuggetjudge.backends",
        "import nuggetjudge.judges",
        "import nuggetjudge.backends.cache, nuggetjudge.backends.http, nuggetjudge.backends.loop",
        "import nuggetjudge.backends.litellm_models",
    ],
)
def test_importing_touches_nothing(code, tmp_path):
    (tmp_path / ".env").write_text(
        "OPENAI_API_KEY=planted\nOPENAI_API_BASE=http://127.0.0.1:9\n", encoding="utf-8"
    )
    assert watched(code, tmp_path) == NOTHING
    assert [path.name for path in tmp_path.iterdir()] == [".env"]


def test_opening_a_model_connects_to_nothing_and_starts_no_thread(tmp_path):
    code = """
from nuggetjudge.backends import open_backend
from nuggetjudge.backends.config import ModelConfig
open_backend(ModelConfig(model="openai/m", api_base="http://127.0.0.1:1/v1"))
open_backend(ModelConfig(model="lexical"))
"""
    assert watched(code, tmp_path) == NOTHING


def test_the_watch_sees_what_it_watches_for(tmp_path):
    code = """
import socket
os.environ["PLANTED"] = "1"
socket.socket().close()
open("made", "w").close()
logging.basicConfig()
dspy.configure(lm=dspy.utils.DummyLM([]))
"""
    seen = watched(code, tmp_path)
    assert isinstance(seen, dict)
    assert [name for name in NOTHING if seen[name] != NOTHING[name]] == [
        "touched",
        "env",
        "root",
        "dspy",
    ]
