"""What agents search in a run: opened once, and nobody waits for that but who searches."""

import asyncio
import threading
from pathlib import Path

import pytest

from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.pipelines.indexing import Indexes
from nuggetjudge.programs.pipelines.searching import PipelineCorpus
from nuggetjudge.records.reading.problems import InputError

DEMO = Path(__file__).resolve().parents[3] / "tests" / "collection"


@pytest.fixture
def corpus():
    config = load_config(None, {"data.passages": [DEMO / "passages.jsonl"]})
    return PipelineCorpus(config, config.evidence.pipeline)


def test_requests_go_on_while_an_index_is_made(corpus, monkeypatch):
    others, opened, opens = threading.Event(), [], Indexes.open

    def slow(indexes, step):
        assert others.wait(10), "the loop stood still"
        opened.append(threading.current_thread())
        return opens(indexes, step)

    monkeypatch.setattr(Indexes, "open", slow)

    async def work():
        async def other():
            others.set()

        first, second, _ = await asyncio.gather(
            corpus.search("bridges"), corpus.search("bridges"), other()
        )
        assert first == second != []
        return threading.current_thread()

    loop = asyncio.run(work())
    made = [thread for thread in opened if thread is not loop]
    assert len(made) == 1


def test_an_index_that_cannot_be_made_ends_every_search(corpus, monkeypatch):
    def broken(indexes, step):
        raise InputError("no index")

    monkeypatch.setattr(Indexes, "open", broken)
    for _ in range(2):
        with pytest.raises(InputError, match="no index"):
            asyncio.run(corpus.search("bridges"))
