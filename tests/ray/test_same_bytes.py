"""Two Ray workers judge what this process would: the same files, the same calls."""

import json
from pathlib import Path

import pytest
from collections_to_build import write_documents, write_seeds, write_summaries
from fact_brain import fact_brain
from json_lines import write_rows
from mock_server import MockServer

import nuggetjudge as nj
from nuggetjudge.plugins.collections.crux import build_crux
from nuggetjudge.plugins.collections.long2rag import build_long2rag
from nuggetjudge.plugins.ray import executor as ray_executor
from nuggetjudge.programs.config.reading import load_config

pytest.importorskip("ray.cloudpickle", reason="Ray is not installed here (extra: ray)")

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
GROUNDED = """\
name: grounded
question: How far does the claim rest on the source? yes, partly or no.
inputs: {claim: a statement, source: the text it should rest on}
labels: {no: 0, partly: 0.5, yes: 1}
measure: groundedness
"""
MAX_BYTES = 4096  # of a stage's way to a worker: code and settings, the data do not come along


def questions_asked(server):
    """Each once, in any order."""
    bodies = (request.body for request in server.requests)
    return sorted(json.dumps([body.get("temperature"), body["messages"]]) for body in bodies)


@pytest.fixture
def shipped(monkeypatch):
    """The bytes that workers got of each stage: a list that grows."""
    packs, pack = [], ray_executor.pack

    def packed(ask, judge_set):
        packs.append(pack(ask, judge_set))
        return packs[-1]

    monkeypatch.setattr(ray_executor, "pack", packed)
    return packs


@pytest.fixture
def in_both_ways(ray, tmp_path, files_of, shipped):
    """Runs something locally and on two workers, and compares files and questions."""

    def check(judge, settings, brain=None):
        outcomes = []
        with MockServer(brain=brain) as server:
            for executor in ("local", "ray"):
                given = {"run.out": tmp_path / executor, "run.cache": tmp_path / f"c-{executor}"}
                given |= {"run.executor": executor, "run.workers": 2}
                sets = [f"models.default.api_base={server.base_url}"]
                judge(load_config(None, settings | given, sets, "hosted_vllm/mock"))
                outcomes.append((files_of(tmp_path / executor), questions_asked(server)))
                server.clear()
        (local, asked), (elsewhere, asked_elsewhere) = outcomes
        assert elsewhere == local
        assert asked_elsewhere == asked
        assert asked
        assert len(set(asked)) == len(asked)  # nothing twice
        assert shipped
        assert max(map(len, shipped)) <= MAX_BYTES

    return check


def test_the_demo_without_a_model(demo, files_of):
    local = demo(None, "local", "nuggets", "support").folder
    assert files_of(demo(None, "ray", "nuggets", "support").folder) == files_of(local)


def test_nuggets_support_and_relevance(in_both_ways):
    folder = EXAMPLES.parent / "tests" / "collection"
    names = {"topics": "topics.tsv", "candidates": "candidates.jsonl", "qrels": "qrels.txt"}
    data = {f"data.{name}": folder / file for name, file in names.items()}
    data |= {"data.passages": [folder / "passages.jsonl"], "data.runs": [str(folder / "runs")]}
    in_both_ways(nj.run, {"program": ["relevance", "nuggets", "support"], **data})


def test_coverage(in_both_ways):
    folder = EXAMPLES.parent / "tests" / "collection"
    topics = [
        line.split("\t")[0]
        for line in (folder / "topics.tsv").read_text(encoding="utf-8").splitlines()
    ]
    reports = [{"id": topic, "report": f"All that is known of {topic}."} for topic in topics]
    data = {"data.topics": folder / "topics.tsv", "data.passages": [folder / "passages.jsonl"]}
    data |= {"data.runs": [str(folder / "runs")], "coverage.contexts": "answers"}

    def judge(config):
        path = config.run.out.parent / "reports.jsonl"
        write_rows(path, reports)
        reference = config.data.model_copy(update={"reference": path})
        nj.run(config.model_copy(update={"data": reference}))

    in_both_ways(judge, {"program": ["coverage"], "coverage.n": 4, **data})


def test_key_points(in_both_ways):
    folder = EXAMPLES / "keypoints"
    data = {"data.topics": folder / "topics.jsonl", "data.documents": folder / "documents.jsonl"}
    data |= {"data.runs": [str(folder / "answers")]}
    in_both_ways(nj.run, {"program": ["keypoints"], **data}, fact_brain)


def test_a_judge_of_ones_own(in_both_ways, tmp_path):
    (tmp_path / "own.yaml").write_text(GROUNDED, encoding="utf-8")
    items = [
        {"topic_id": f"t{n % 3}", "run_id": "a", "sentence_id": str(n), "claim": f"claim {n}"}
        for n in range(40)
    ]
    lines = (json.dumps({**item, "source": "the source"}) + "\n" for item in items)
    (tmp_path / "items.jsonl").write_text("".join(lines), encoding="utf-8")
    settings = {"data.items": tmp_path / "items.jsonl", "items.judge": str(tmp_path / "own.yaml")}
    in_both_ways(nj.run, {"program": ["items"], **settings})


def test_a_crux_collection(in_both_ways, tmp_path):
    texts = {"tide": ("A1 and B2 and C3", ["A1 with B2", "C3 here"]), "kelp": ("E5", ["E5 | F6"])}
    path = write_summaries(tmp_path / "summaries.jsonl", texts)
    in_both_ways(lambda config: build_crux(path, config), {}, fact_brain)


def test_a_long2rag_collection(in_both_ways, tmp_path):
    seeds = write_seeds(tmp_path / "seeds.jsonl", {"tide": "A tide", "kelp": "E kelp"})
    path = write_documents(tmp_path / "docs.jsonl", {"tide": ["A1 is so. B2 is so", "B2 too."]})
    settings = {"long2rag.evolve": 1, "keypoints.rounds": 1, "keypoints.samples": 1}
    in_both_ways(lambda config: build_long2rag(seeds, path, config), settings, fact_brain)


def test_equal_questions_are_asked_once_though_two_workers_have_them(demo, tmp_path):
    answer = [{"text": f"Sentence {n % 7}.", "citations": [0]} for n in range(60)]
    row = {"topic_id": "t1", "topic": "q", "references": ["p1"], "answer": answer}
    (tmp_path / "topics.tsv").write_text("t1\twhat\n", encoding="utf-8")
    (tmp_path / "passages.jsonl").write_text(
        '{"docid": "p1", "text": "The moon."}\n', encoding="utf-8"
    )
    runs = [json.dumps({"run_id": f"r{n}", "response_length": 9, **row}) + "\n" for n in range(5)]
    (tmp_path / "runs.jsonl").write_text("".join(runs), encoding="utf-8")
    data = {"data.topics": tmp_path / "topics.tsv", "data.passages": [tmp_path / "passages.jsonl"]}
    data |= {"data.runs": [str(tmp_path / "runs.jsonl")]}
    with MockServer(latency_s=0.1) as server:
        result = demo(server, "ray", "support", **data)
    assert result.n_judged == 300
    assert len(server.requests) == 7


def test_a_finished_run_is_replayed_without_asking(demo, files_of):
    with MockServer() as server:
        folder = demo(server, "ray", "support").folder
        before, n_asked = files_of(folder), len(server.requests)
        assert files_of(demo(server, "ray", "support").folder) == before
        (folder / "manifest.json").unlink()
        for path in (folder / "journal").iterdir():
            path.unlink()
        assert files_of(demo(server, "ray", "support").folder) == before  # from the reply cache
    assert len(server.requests) == n_asked > 0


def test_a_jury(in_both_ways):
    """Its members are built by each worker from the config, not shipped."""
    folder = EXAMPLES.parent / "tests" / "collection"
    data = {"data.topics": folder / "topics.tsv", "data.passages": [folder / "passages.jsonl"]}
    data |= {"data.runs": [str(folder / "runs")]}
    members = [{"model": "default", "name": name, "temperature": t} for name, t in _MEMBERS.items()]
    jury = {"judges.support.jury": {"members": members, "method": "mean"}}
    in_both_ways(nj.run, {"program": ["support"], **data, **jury}, _by_temperature)


_MEMBERS = {"cold": 0.0, "warm": 0.5, "hot": 1.0}


def _by_temperature(body):
    return {"verdict": {0.0: "none", 0.5: "partial", 1.0: "full"}[body["temperature"]]}
