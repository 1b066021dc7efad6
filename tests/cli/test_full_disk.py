"""A full disk is one line that names the file, whatever is written, and room lets it go on."""

import re
from pathlib import Path

import pytest
from processes import JUDGE, PIPE, run, start

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
COLLECTION = EXAMPLES.parent / "tests" / "collection"
# No file of the process grows beyond so many bytes; the others are as large as they are.
LIMITED = """
import resource, sys
_, most = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)), most))
from nuggetjudge.cli import main
main()
"""
COMMANDS = {
    "run": ("run", COLLECTION / "judge.yaml", "--out", "new/out", "--set", "run.cache=false"),
    "index": ("index", "--passages", COLLECTION / "passages.jsonl", "--out", "new/index"),
    "retrieve": ("retrieve", "--topics", COLLECTION / "topics.tsv", "--passages",
                 COLLECTION / "passages.jsonl", "--pipeline", "bm25 5", "--out", "new/a.run"),
    "build": ("build", "crux", EXAMPLES / "summaries" / "summaries.jsonl", "--out", "new/crux",
              "--set", "run.cache=false"),
    "init": ("init", "new/try", "--demo"),
    "next": ("next", "done", "--out", "new/sheet.csv"),
    "probe": ("probe", "done", "--judge", "support", "--sample", "4", "--out", "new/probe"),
}  # fmt: skip


@pytest.fixture
def limited(environment, tmp_path):
    def go(size, *arguments):
        return run("-c", LIMITED, size, *arguments, cwd=tmp_path, env=environment)

    return go


@pytest.mark.parametrize(
    ("name", "size"),
    [*(("run", size) for size in (100, 3000, 10_000, 40_000)), ("index", 50),
     pytest.param("build", 2000, marks=pytest.mark.whole), ("index", 1000),
     ("retrieve", 3000), pytest.param("next", 100, marks=pytest.mark.whole),
     pytest.param("init", 500, marks=pytest.mark.whole),
     pytest.param("probe", 500, marks=pytest.mark.whole)],
)  # fmt: skip
def test_a_full_disk_names_the_file(name, size, limited, judge, tmp_path):
    if "done" in COMMANDS[name]:
        done = judge(*COMMANDS["run"][:-4], "--out", "done", "--set", "run.cache=false")
        assert done.code == 0, done.err
    ran = limited(size, *COMMANDS[name])
    assert ran.returncode == 2, (ran.stdout, ran.stderr)
    (message,) = (line for line in ran.stderr.splitlines() if line.startswith("judge: "))
    assert re.match(r"judge: \S*(new|nuggetjudge-)\S+: .*cannot be written \(.+\)$", message), (
        message
    )
    assert "Traceback" not in ran.stderr
    assert not list((tmp_path / "new").rglob("*.part"))
    again = judge(*COMMANDS[name])
    assert again.code in ((0, 2) if name == "init" else (0,)), again.err


@pytest.mark.parametrize("command", [("--json",), ()])
def test_a_full_device_behind_stdout_is_named(command, judge, environment, tmp_path):
    assert judge(*COMMANDS["run"]).code == 0
    with open("/dev/full", "wb") as full:
        process = start(
            *(*JUDGE, "score", "new/out", *command),
            **{"cwd": tmp_path, "env": environment, "stdout": full.fileno(), "stderr": PIPE},
        )
        _, stderr = process.communicate(timeout=30)
    what = "judge: stdout: cannot be written (No space left on device)\n"
    assert (process.returncode, stderr) == (2, what)
