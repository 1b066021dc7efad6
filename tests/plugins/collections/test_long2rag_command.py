"""`judge build long2rag`: from seed questions and documents to verified key points."""

import json
import signal
import time
from collections import defaultdict
from itertools import pairwise
from math import inf
from pathlib import Path
from subprocess import DEVNULL

import pytest
from collections_to_build import write_documents, write_seeds
from fact_brain import fact_brain
from mock_server import MockServer, Refusal
from processes import JUDGE, start

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "long2rag"
SEEDS, DOCUMENTS = EXAMPLE / "seeds.jsonl", EXAMPLE / "documents.jsonl"
COMMIT_S = 0.3  # a reply that came so long before a kill is surely in the cache
MODEL = ("--model", "hosted_vllm/mock", "--set", "keypoints.samples=1")


@pytest.fixture
def seeds(tmp_path):
    """Two questions in the codes of the mock model."""
    questions = {"tide": "Why A1 and B2 and C3?", "kelp": "Why E5 and F6?"}
    return write_seeds(tmp_path / "seeds.jsonl", questions)


@pytest.fixture
def documents(tmp_path):
    texts = {"tide": ["A1 is so. B2 is so", "C3 is so"], "kelp": ["E5 is so", "F6 and E5"]}
    return write_documents(tmp_path / "docs.jsonl", texts)


def build(judge, server, *arguments):
    where = ("--set", f"models.default.api_base={server.base_url}")
    return judge("build", "long2rag", *arguments, *MODEL, *where)


def test_the_example_is_built_and_verified_without_a_model(judge, tmp_path, rows_of):
    ran = judge("build", "long2rag", SEEDS, "--documents", DOCUMENTS, "--limit", 1, "--out", "c")
    assert ran.code == 0, ran.err
    assert ["question_scorer", "lexical", "1"] in [
        line.split()[:3] for line in ran.err.splitlines()
    ]
    assert "c/verification.csv" in ran.err
    verify = ("build", "long2rag", "c", "--verified", EXAMPLE / "verified.csv")
    ran = judge(*verify)
    assert ran.code == 0, ran.err
    # 16 key points; most say that one is not grounded, and that 6 more do not help.
    assert ["all", "16", "15", "9", "7", "0", "0.562"] in map(str.split, ran.out.splitlines())
    (report,) = judge(*verify, "--json").rows
    assert report["agreement"]["grounded"]["observed"] == pytest.approx((15 + 1 / 3) / 16)
    assert report["agreement"]["key_point"]["observed"] == pytest.approx((12 + 3 / 3) / 15)
    (left,) = rows_of(tmp_path / "c" / "keypoints.jsonl")
    assert len(left["key_points"]) == 9

    answer = {"run_id": "r", "topic_id": "marsh", "topic": "", "references": []}
    sentences = [{"text": point["text"], "citations": []} for point in left["key_points"]]
    (tmp_path / "r.jsonl").write_text(
        json.dumps({**answer, "answer": sentences}) + "\n", encoding="utf-8"
    )
    data = (
        "--topics",
        "c/topics.jsonl",
        "--set",
        "data.keypoints=c/keypoints.jsonl",
        "--runs",
        "r.jsonl",
    )
    ran = judge("run", "keypoints", *data, "--out", "scores", "--json")
    assert ran.code == 0, ran.err
    recall = {row["value"] for row in ran.rows if row["measure"] == "KPR"}
    assert recall == {1.0}  # an answer of all key points


def test_without_documents_it_tells_how_to_go_on_and_does(judge, seeds, documents):
    with MockServer(brain=fact_brain) as server:
        ran = build(judge, server, seeds, "--evolve", 1, "--out", "c", "--json")
        assert ran.code == 0, ran.err
        assert "the same command with --documents goes on" in ran.err
        assert ran.rows[0]["questions"] == {"seed": 2, "depth": 2, "width": 2}
        n = len(server.requests)
        going_on = (seeds, "--documents", documents, "--evolve", 1, "--out", "c", "--json")
        ran = build(judge, server, *going_on)
        assert ran.code == 0, ran.err
        assert ran.rows[0]["key_points"]["kept"] == 3 * (3 + 2)
        assert not any("unambiguous" in json.dumps(r.body) for r in server.requests[n:])


def test_a_dry_run_tells_the_cost_and_leaves_nothing(judge, seeds, documents, tmp_path):
    with MockServer(brain=fact_brain) as server:
        priced = ("--set", "models.default.price={input: 2.0, output: 8.0}", "--dry-run")
        what = (seeds, "--documents", documents, "--evolve", 1, *priced)
        ran = build(judge, server, *what, "--out", "c")
        assert ran.code == 0, ran.err
        assert "Upper bound" in ran.out
        rows = build(judge, server, *what, "--json").rows
        assert not server.requests
    assert [row["judge"] for row in rows] == [
        "question_scorer", "question_evolver", "question_decomposer", "keypoint_extractor",
        "keypoint_merger", "keypoint_filter",
    ]  # fmt: skip
    for row in rows:
        dollars = (2.0 * row["prompt_tokens"] + 8.0 * row["completion_tokens"]) / 1e6
        assert row["cost"] == pytest.approx(dollars)
    assert not (tmp_path / "c").exists()


def test_a_question_that_is_left_out_is_told_and_ends_with_3(judge, seeds, documents):
    def no_kelp(index, body):
        return Refusal() if "F6 and E5" in json.dumps(body["messages"][-1]) else None

    with MockServer(brain=fact_brain, faults=no_kelp) as server:
        ran = build(judge, server, seeds, "--documents", documents, "--out", "c")
        assert ran.code == 3
        assert "kelp: extract failed (refused)" in ran.err
        assert "c/unjudged.jsonl" in ran.err
        server.faults = None
        assert build(judge, server, seeds, "--documents", documents, "--out", "c").code == 0


def test_key_points_that_nobody_decided_end_with_3(judge, tmp_path):
    assert judge("build", "long2rag", SEEDS, "--documents", DOCUMENTS, "--out", "c").code == 0
    ran = judge("build", "long2rag", "c", "--verified", EXAMPLE / "verified.csv")
    assert ran.code == 3
    assert "have no verdict on both tasks" in ran.err
    lines = (EXAMPLE / "verified.csv").read_text(encoding="utf-8").splitlines()
    (tmp_path / "bad.csv").write_text(
        "\n".join([*lines[:2], lines[2].replace(",yes", ",y")]), encoding="utf-8"
    )
    ran = judge("build", "long2rag", "c", "--verified", "bad.csv")
    assert ran.code == 2
    assert "bad.csv:3: field 'grounded' is 'y', wanted yes, no or nothing" in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((".",), "is a folder"),
        ((SEEDS, "--verified", EXAMPLE / "verified.csv"), "is no folder"),
        ((".", "--verified", EXAMPLE / "verified.csv", "--dry-run"), "goes with the folder"),
        ((".", "--verified", EXAMPLE / "verified.csv"), "manifest.json is missing"),
    ],
)
def test_a_folder_and_a_file_are_told_apart(arguments, message, judge):
    ran = judge("build", "long2rag", *arguments)
    assert ran.code == 2
    assert message in " ".join(ran.err.replace("│", " ").split())


def test_a_kill_repeats_no_finished_request_and_changes_no_byte(
    judge, seeds, documents, environment, tmp_path, files_of
):
    with MockServer(brain=fact_brain, latency_s=0.05) as server:
        command = ["build", "long2rag", seeds, "--documents", documents, "--evolve", 1, *MODEL]
        command += ["--set", f"models.default.api_base={server.base_url}"]
        command += ["--set", "run.concurrency=2"]
        other = {"XDG_CACHE_HOME": str(tmp_path / "other")}
        assert judge(*command, "--out", "whole", env=other).code == 0
        n_whole = len(server.requests)
        server.clear()
        whole = [*JUDGE, *command, "--out", "killed"]
        killed_s = []
        for n_more in (6, 20):  # in the new questions, and in the key points
            until = server.n_finished + n_more
            process = start(*whole, env=environment, cwd=tmp_path, stdout=DEVNULL, stderr=DEVNULL)
            deadline = time.monotonic() + 30
            while server.n_finished < until and time.monotonic() < deadline:
                time.sleep(0.005)
            process.kill()
            killed_s.append(time.monotonic())
            assert process.wait() == -signal.SIGKILL
        assert not (tmp_path / "killed" / "manifest.json").exists()
        assert judge(*command, "--out", "killed").code == 0
        times = defaultdict(list)
        for each in server.requests:
            body = json.dumps(each.body, sort_keys=True)
            times[body].append((each.started_s, each.finished_s if each.finished else inf))
    assert len(times) == n_whole
    repeated = [pair for asked in times.values() for pair in pairwise(sorted(asked))]
    for (_, finished), (started, _) in repeated:  # one repeat for a kill, of what it cut short
        assert any(finished > k - COMMIT_S and k < started for k in killed_s)
    assert files_of(tmp_path / "killed") == files_of(tmp_path / "whole")
