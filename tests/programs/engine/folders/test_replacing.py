"""Results of another run are not replaced unless that is asked for; the same run goes on."""

import shutil
from pathlib import Path

import pytest

import nuggetjudge as nj
from nuggetjudge.records.reading.problems import InputError

DEMO = Path(__file__).resolve().parents[4] / "tests" / "collection"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Judges support of the demo's data, copied beside `out`."""
    shutil.copytree(DEMO, tmp_path / "data")
    monkeypatch.chdir(tmp_path)

    def judged(**settings):
        given = {"runs": "data/runs", "topics": "data/topics.tsv", "program": "support"}
        given |= {"passages": "data/passages.jsonl", "model": "lexical", "out": "out"}
        given |= {name.replace("__", "."): value for name, value in settings.items()}
        return nj.run(**given)

    return judged


def bytes_of(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


OTHER = {"model": "openai/gpt-4o", "api_base": "http://127.0.0.1:1/v1"}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"model": OTHER}, "judges.support.model.model: lexical then, openai/gpt-4o now"),
        ({"support__citations": "all"}, "support.citations: first then, all now"),
        ({"judges__support__titles": False}, "judges.support.titles: True then, False now"),
        ({"explain": True}, "run.explain: False then, True now"),
        ({"limit": 1}, "its topic demo-bees and 3 more of 5 would go"),
        ({"runs": "data/runs/thin.jsonl"}, "its run complete and 2 more of 4 would go"),
        (
            {"program": "relevance", "candidates": DEMO / "candidates.jsonl"},
            "holds results of support, which this run would remove",
        ),
    ],
)
def test_results_of_another_run_stay_unless_it_is_forced(run, tmp_path, change, reason):
    run()
    before = bytes_of(tmp_path / "out")
    with pytest.raises(InputError) as refused:
        run(**change)
    message = str(refused.value)
    assert reason in message
    assert (message.count("\n"), message.startswith("out: "), "--force" in message) == (0, 1, 1)
    assert "name another --out" in message
    assert bytes_of(tmp_path / "out") == before


def test_forced_it_takes_their_place(run):
    run()
    result = run(runs="data/runs/thin.jsonl", limit=1, force=True)
    assert (result.manifest["data"]["run_ids"], result.manifest["data"]["topics"]) == (["thin"], 1)


def test_the_same_run_goes_on_with_what_changed_and_with_more(run, tmp_path):
    first = run(runs="data/runs/thin.jsonl", limit=1)
    run(runs="data/runs/thin.jsonl", limit=2, concurrency=3, max_calls=9, allow_missing=0.1)
    data = {name: tmp_path / "data" / name for name in ("runs", "topics.tsv", "passages.jsonl")}
    run(runs=str(data["runs"]), topics=data["topics.tsv"], passages=data["passages.jsonl"])
    thin = data["runs"] / "thin.jsonl"
    thin.write_text(thin.read_text(encoding="utf-8").replace("bees", "wasps"), encoding="utf-8")
    shutil.copy(data["topics.tsv"], tmp_path / "same.tsv")
    pool = {"candidates": DEMO / "candidates.jsonl", "qrels": DEMO / "qrels.txt"}
    whole = run(topics="same.tsv", program=["support", "nuggets"], **pool)
    assert whole.manifest["data"]["runs"] == 4
    assert whole.n_judged > first.n_judged


def test_inputs_are_the_same_wherever_the_command_is_given(run, tmp_path, monkeypatch):
    bank = {"program": ["nuggets"], "nuggets": "data/nuggets.jsonl"}
    run(**bank)
    monkeypatch.chdir(tmp_path / "data")
    there = {"runs": "runs", "topics": "topics.tsv", "passages": "passages.jsonl", "out": "../out"}
    run(**bank | there | {"nuggets": "nuggets.jsonl"})
    other = tmp_path / "other.jsonl"
    other.write_text((DEMO / "nuggets.jsonl").read_text(encoding="utf-8") + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"data.nuggets: nuggets.jsonl then, /.* now"):
        run(**bank | there | {"nuggets": other})
