"""Steps that give bounds and samples: the required passages, no passages, random contexts."""

import pytest
from json_lines import write_rows

from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.pipelines.retrieve import retrieve
from nuggetjudge.records.reading.problems import InputError, Problems
from nuggetjudge.records.relevance import read_trec_run

# How often a passage says "dam" decides BM25.
PASSAGES = {"t:a#1": "dam dam dam", "t:b#2": "dam dam water", "t:c#3": "dam water clay"}
BY_BM25 = [*PASSAGES]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "topics.tsv").write_text("t\tdam\nu\tbees\n", encoding="utf-8")
    rows = [{"docid": name, "text": text} for name, text in PASSAGES.items()]
    write_rows(tmp_path / "passages.jsonl", rows)
    return tmp_path


def config_of(folder, pipelines, **more):
    given = {
        "data.topics": folder / "topics.tsv",
        "data.passages": [folder / "passages.jsonl"],
        "run.cache": folder / "cache",
        "pipelines": pipelines,
    }
    return load_config(None, {**given, **more})


def rankings(folder, steps, **more):
    """Topic -> passage ids, and the manifest."""
    manifest = retrieve(config_of(folder, {"x": steps}, **more), folder / "a.run")
    run = read_trec_run(folder / "a.run", Problems())
    return {topic: list(ranking.passage_ids) for topic, ranking in run.items()}, manifest


def questions_of(folder):
    write_rows(folder / "questions.jsonl", [{"id": "t", "subquestions": ["why?", "when?"]}])
    rated = {"t:a#1": [5, 0], "t:b#2": [5, 1], "t:c#3": [0, 4]}
    rows = [{"id": "t", "docid": name, "rating": rating} for name, rating in rated.items()]
    write_rows(folder / "ratings.jsonl", rows)
    files = {"data.questions": folder / "questions.jsonl"}
    return {**files, "data.ratings": [folder / "ratings.jsonl"], "run.limit": 1}


def test_the_oracle_gives_the_required_passages_and_none_says_that_there_are_to_be_none(folder):
    """a answers why? as b does and comes first, c answers when?: P** is a, c."""
    run, manifest = rankings(folder, ["oracle"], **questions_of(folder))
    assert run["t"] == ["t:a#1", "t:c#3"]
    run, manifest = rankings(folder, ["none"])
    assert run == {"t": [], "u": []}
    [about] = manifest["runs"].values()
    assert (about["topics_without_passages"], about["passages"]) == ([], 0)


def test_random_contexts_are_drawn_of_the_first_passages_by_seed_and_keep_their_order(folder):
    """Two of the first three passages: each seed its own, the same again, of any other topics."""
    pipeline = {"bm25": ["bm25", {"random": {"hits": 2, "depth": 3, "seed": 4, "samples": 9}}]}
    retrieve(config_of(folder, pipeline), folder / "runs")
    drawn = {
        path.stem: list(read_trec_run(path, Problems())["t"].passage_ids)
        for path in (folder / "runs").glob("*.run")
    }
    assert sorted(drawn) == sorted(f"bm25-{seed}" for seed in range(4, 13))
    a, b, c = BY_BM25[:3]
    assert {tuple(ids) for ids in drawn.values()} == {(a, b), (a, c), (b, c)}
    alone = ["bm25", {"random": {"hits": 2, "depth": 3, "seed": 7}}]
    assert rankings(folder, alone, **{"run.limit": 1})[0]["t"] == drawn["bm25-7"]


REFUSED = {
    "none before another": ({"x": ["none", "cut 2"]}, "none: must be the only step"),
    "two draws": (
        {"x": ["bm25", "random 5", "random 2"]},
        "random: use it only once in a pipeline",
    ),
    "a name twice": (
        {"x": ["bm25", {"random": {"samples": 2}}], "x-1": ["bm25"]},
        "its sample x-1 has the name of another",
    ),
    "no ratings": ({"x": ["oracle"]}, "rated sub-questions"),
}


@pytest.mark.parametrize(("pipelines", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_pipelines_of_bounds_that_cannot_be_are_refused(folder, pipelines, message):
    with pytest.raises(InputError, match=message):
        retrieve(config_of(folder, pipelines), folder / "runs")
