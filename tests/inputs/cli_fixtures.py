"""Runs `python -m nuggetjudge` as a user does: in an empty home, on six cited sentences."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from json_lines import read_rows, write_rows
from mock_server import Body, Brain, MockServer, input_of
from processes import JUDGE, run

# What the model of these tests answers: the label of each sentence, and whether a nugget is there.
VERDICTS = {
    "Tides follow the moon.": "full",
    "Tides follow the sun alone.": "partial",
    "Kelp bends with the tide.": "none",
    "Water rises twice a day.": "full",
    "Bays funnel the water.": "partial",
    "Lakes have large tides.": "none",
}
NUGGETS = {
    "the moon pulls the sea": ("vital", "support"),
    "the sun adds to it": ("vital", "not_support"),
    "kelp bends with the tide": ("vital", "support"),
    "bays make tides higher": ("vital", "support"),
}


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def rows(self) -> list[Any]:
        """Its output as JSON lines."""
        return [json.loads(line) for line in self.out.splitlines()]


Judge = Callable[..., Ran]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """What a command sees: a home of its own, and nothing of the caller's settings."""
    home = tmp_path / "home"
    home.mkdir()
    return {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}


@pytest.fixture
def judge(tmp_path: Path, environment: dict[str, str]) -> Judge:
    """`judge("run", "demo.yaml", ...)`, run in tmp_path; `env=` adds variables.

    `real=True`: by an interpreter of its own (processes.py).
    """

    def go(
        *arguments: object,
        env: dict[str, str] | None = None,
        cwd: Path = tmp_path,
        real: bool = False,
    ) -> Ran:
        ran = run(*JUDGE, *arguments, cwd=cwd, env=environment | (env or {}), real=real)
        return Ran(ran.returncode, ran.stdout, ran.stderr)

    return go


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """A copy of the example, in `demo`."""
    source = Path(__file__).resolve().parents[2] / "examples" / "demo"
    return Path(shutil.copytree(source, tmp_path / "demo"))


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A folder with one topic, two runs of three cited sentences, their passage and four nuggets.

    `support` takes six calls on it, `nuggets` four with a window of two.
    """
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "topics.tsv").write_text("t1\twhat makes the tides\n", encoding="utf-8")
    write_rows(folder / "passages.jsonl", [{"docid": "p1", "text": "The moon makes the tides."}])
    texts = list(VERDICTS)
    for run_id, sentences in (("one", texts[:3]), ("two", texts[3:])):
        answer = [{"text": text, "citations": [0]} for text in sentences]
        row = {"run_id": run_id, "topic_id": "t1", "topic": "what makes the tides"}
        row |= {"references": ["p1"], "response_length": 12, "answer": answer}
        write_rows(folder / f"{run_id}.jsonl", [row])
    nuggets = [{"text": text, "importance": kind} for text, (kind, _) in NUGGETS.items()]
    bank = {"qid": "t1", "query": "what makes the tides", "nuggets": nuggets}
    write_rows(folder / "nuggets.jsonl", [bank])
    return folder


@pytest.fixture
def run_tiny(judge: Judge, tiny: Path) -> Judge:
    """`run_tiny(server, "support", "--quiet")`: judges the tiny collection, results in `out`."""

    def run(server: MockServer | str, programs: str, *arguments: object, out: str = "out") -> Ran:
        url = server if isinstance(server, str) else server.base_url
        data = ["--topics", tiny / "topics.tsv", "--passages", tiny / "passages.jsonl"]
        data += ["--runs", tiny / "one.jsonl", "--runs", tiny / "two.jsonl"]
        data += ["--nuggets", tiny / "nuggets.jsonl"] if "nuggets" in programs else []
        model = ["--model", "hosted_vllm/mock", "--set", f"models.default.api_base={url}"]
        return judge("run", programs, *data, *model, "--out", out, *arguments)

    return run


@pytest.fixture
def tide_brain() -> Brain:
    """Labels the tiny collection as VERDICTS and NUGGETS say."""

    def brain(body: Body) -> dict[str, Any]:
        asked = input_of(body)
        if "sentence" in asked:
            return {"verdict": VERDICTS[asked["sentence"]]}
        return {"verdicts": {key: NUGGETS[text][1] for key, text in asked["nuggets"].items()}}

    return brain


@pytest.fixture
def tide_server(tide_brain: Brain) -> Iterator[MockServer]:
    """A model that answers with `tide_brain`."""
    with MockServer(brain=tide_brain) as server:
        yield server


@pytest.fixture
def rows_of() -> Callable[[Path], list[Any]]:
    """The objects of a JSONL file."""
    return lambda path: read_rows(path)


@pytest.fixture
def files_of() -> Callable[[Path], dict[str, bytes]]:
    """The bytes of a results folder's files that two equal runs must share."""

    def read(folder: Path) -> dict[str, bytes]:
        return {
            path.name: path.read_bytes()
            for path in sorted(folder.iterdir())
            if path.is_file() and path.name not in ("manifest.json", "spend.jsonl")
        }

    return read
