"""Results to label, and people who come to a server's page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from browser.conftest import one_at_a_time
from labelling import Person, Server
from processes import JUDGE, run

RUNS = (
    "webis.webis-rag-run1-taskrag",
    "ldisnu.ldilab_gpt_4o",
    "h2oloo.listgalore_gpt4o_ragnarokv4_top20",
)
COLLECTION = Path(__file__).resolve().parents[4] / "tests" / "collection"


def rows_of(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def judge(*arguments: object, cwd: Path) -> str:
    """What `judge ...` prints; it must not fail."""
    ran = run(*JUDGE, *arguments, cwd=cwd)
    assert ran.returncode in (0, 3), ran.stderr
    return ran.stdout


class ToLabel(NamedTuple):
    """Results, and what people said before by the texts that they read then."""

    results: Path
    truth: dict[tuple[str, str], str]


@pytest.fixture(scope="session")
def trec(shared_data: Path, home: Path) -> ToLabel:
    """TREC 2024's answers of three runs, judged without a model, and NIST's labels of citations."""
    data = shared_data / "rag24_support"
    out = home / "trec"
    with one_at_a_time(out) as is_to_be_made:
        if is_to_be_made:
            out.mkdir(exist_ok=True)
            _judged(data, shared_data / "rag24_e2e" / "topics.tsv", out)
    passages = {row["docid"]: row["text"] for row in rows_of(data / "passages.jsonl")}
    names = ("none", "partial", "full")
    pairs = [row for row in rows_of(data / "pairs.jsonl") if row["run_id"] in RUNS]
    truth = {(row["sentence"], passages[row["docid"]]): names[row["label"]] for row in pairs}
    return ToLabel(out / "results", truth)


def _judged(data: Path, topics: Path, out: Path) -> None:
    """Judge the answers of those runs."""
    queries = dict(line.split("\t") for line in topics.read_text("utf-8").splitlines())
    lines: dict[str, list[str]] = {name: [] for name in RUNS}
    for answer in rows_of(data / "answers.jsonl"):
        if answer["run_id"] in RUNS and answer["topic_id"] in queries:
            query = queries[answer["topic_id"]]
            lines[answer["run_id"]].append(json.dumps(_as_written(answer, query)) + "\n")
    (out / "runs").mkdir(exist_ok=True)
    for name, answers in lines.items():
        (out / "runs" / f"{name}.jsonl").write_text("".join(answers), "utf-8")
    given = ("--topics", topics, "--passages", data / "passages.jsonl", "--runs", out / "runs")
    judge("run", "support", *given, "--model", "lexical", "--out", out / "results", cwd=out)


def _as_written(answer: dict[str, Any], query: str) -> dict[str, Any]:
    """A judged answer as its run had it."""
    cited = [[one["docid"] for one in each["citations"]] for each in answer["sentences"]]
    ids = list(dict.fromkeys(docid for each in cited for docid in each))
    texts = [sentence["text"] for sentence in answer["sentences"]]
    return {
        "run_id": answer["run_id"],
        "topic_id": answer["topic_id"],
        "topic": query,
        "references": ids,
        "response_length": sum(len(text.split()) for text in texts),
        "answer": [
            {"text": text, "citations": [ids.index(one) for one in each]}
            for text, each in zip(texts, cited, strict=True)
        ],
    }


@pytest.fixture(scope="session")
def demo(folders: Callable[[str], Path]) -> ToLabel:
    """The demo on its own nuggets, and the labels that come with it."""
    rows = rows_of(COLLECTION / "labels" / "nuggets.jsonl")
    each = [(row["answer_text"], nugget) for row in rows for nugget in row["nuggets"]]
    return ToLabel(folders("demo"), {(text, one["text"]): one["assignment"] for text, one in each})


@pytest.fixture
def at_work(chromium: Any) -> Iterator[Callable[..., Person]]:
    """`at_work(server, "ann", keys)`: a person at their page, in a browser profile of their own."""
    contexts = []

    def come(
        server: Server, name: str, keys: Any = None, view: str = "item", **options: Any
    ) -> Person:
        window = {"viewport": {"width": 1280, "height": 900}}
        contexts.append(chromium.new_context(**window, **options))
        page = contexts[-1].new_page()
        page.set_default_timeout(10_000)
        person = Person(page, keys or {})
        page.goto(f"{server.links[name]}#{view}")
        page.locator("html[data-ready=yes]").wait_for()
        return person

    yield come
    for context in contexts:
        context.close()
