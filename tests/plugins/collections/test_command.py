"""`judge build crux`: from summaries to a collection that `judge run coverage` evaluates with."""

import json
import signal
import time
from collections import defaultdict
from itertools import pairwise
from math import inf
from pathlib import Path
from subprocess import DEVNULL

import pytest
from collections_to_build import write_documents, write_seeds, write_summaries
from fact_brain import fact_brain
from mock_server import MockServer, Refusal
from processes import JUDGE, start

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "summaries"
SUMMARIES = EXAMPLE / "summaries.jsonl"
WHOLE_S = 60  # for a build and two evaluations
IN_FLIGHT_S = 0.3  # a reply written so long before a kill has surely reached the judge


@pytest.fixture
def coded(tmp_path):
    """Three topics in the codes of the mock model."""
    facts = {"tide": "A1 B2 C3 D4", "kelp": "E5 F6 G7", "gull": "H8 I9"}
    return write_summaries(
        tmp_path / "coded.jsonl",
        {
            topic: (" and ".join(text.split()), [f"{text} | {text[:2]}", f"more on {text[-2:]}"])
            for topic, text in facts.items()
        },
    )


def evaluation(collection, **more):
    """Arguments of `judge run coverage` on a collection."""
    files = {name: collection / f"{name}.jsonl" for name in ("topics", "questions", "passages")}
    files |= {"reference": collection / "reports.jsonl", "ratings": collection / "ratings.jsonl"}
    files |= {"pool": collection / "qrels.txt", **more}
    return [part for name, path in files.items() for part in ("--set", f"data.{name}={path}")]


def means(ran):
    rows = [row for row in ran.rows if row["topic_id"] == "all"]
    return {(row["run_id"], row["measure"]): row["value"] for row in rows}


def test_the_example_is_built_and_evaluates_two_runs_without_a_model(judge, tmp_path, rows_of):
    began = time.monotonic()
    built = judge("build", "crux", SUMMARIES, "--out", "c")
    assert built.code == 0, built.err
    planned = [line.split()[:3] for line in built.err.splitlines()]  # before anything is asked
    manifest = json.loads((tmp_path / "c/manifest.json").read_text("utf-8"))
    calls = manifest["judged"]["ratings"]
    assert calls == (18 + 3) * 9  # by nine questions: passages of three topics, and the summaries
    assert ["answerability", "lexical", str(calls)] in planned
    assert "coverage of the reference reports" in built.out.lower()

    collection = tmp_path / "c"
    both = evaluation(collection, retrieval=EXAMPLE / "runs")
    ran = judge("run", "coverage", *both, "--set", "coverage.k=4", "--out", "r", "--json")
    assert ran.code == 0, ran.err
    scores = means(ran)
    assert {run for run, _ in scores} == {"Z*", "y*", "broad", "echo"}
    assert scores["Z*", "coverage"] == 1.0
    assert scores["broad", "coverage"] > scores["echo", "coverage"]
    assert scores["broad", "redundancy"] < scores["echo", "redundancy"]
    pool = {row["id"] for row in rows_of(collection / "passages.jsonl")}
    ranked = {
        line.split()[2]
        for run in (EXAMPLE / "runs").iterdir()
        for line in run.open(encoding="utf-8")
    }
    assert ranked <= pool

    answers = evaluation(collection, retrieval=EXAMPLE / "runs", runs=EXAMPLE / "answers")
    ran = judge("run", "coverage", *answers, "--set", "coverage.k=4", "--out", "r", "--json")
    assert ran.code == 0, ran.err
    scores = means(ran)
    assert scores["y*", "report_coverage"] > scores["broad", "report_coverage"]
    assert scores["broad", "report_coverage"] > scores["echo", "report_coverage"]
    assert time.monotonic() - began < WHOLE_S


def test_a_collection_made_by_a_model_needs_no_model_to_evaluate_own_passages(
    judge, coded, tmp_path
):
    with MockServer(brain=fact_brain) as server:
        model = ["--model", "hosted_vllm/mock", "--set"]
        model += [f"models.default.api_base={server.base_url}"]
        built = judge("build", "crux", coded, *model, "--out", "c", "--json")
        assert built.code == 0, built.err
        assert "unknown" in built.err  # the price of a model of one's own
        (report,) = built.rows
        assert (report["topics"], report["texts"]["passages"]["n"]) == (3, 9)
        n = len(server.requests)
        lines = [f"{t} Q0 {t}:0#0 1 2 r1\n" for t in ("tide", "kelp", "gull")]
        (tmp_path / "r1.run").write_text("".join(lines), encoding="utf-8")
        run = evaluation(tmp_path / "c", retrieval=tmp_path / "r1.run")
        ran = judge("run", "coverage", *run, *model, "--json")
        assert ran.code == 0, ran.err
        assert means(ran)["r1", "coverage"] == 1.0
        assert len(server.requests) == n


def test_a_dry_run_tells_the_cost_and_leaves_nothing(judge, coded, tmp_path):
    with MockServer(brain=fact_brain) as server:
        model = ["--model", "hosted_vllm/mock", "--set"]
        model += [f"models.default.api_base={server.base_url}"]
        priced = ["--set", "models.default.price={input: 2.0, output: 8.0}"]
        ran = judge("build", "crux", coded, *model, *priced, "--dry-run", "--out", "c")
        assert ran.code == 0, ran.err
        assert "Upper bound" in ran.out
        rows = judge("build", "crux", coded, *model, *priced, "--dry-run", "--json").rows
        assert not server.requests
    assert [row["judge"] for row in rows] == [
        "request", "subquestions", "decontextualizer", "answerability",
    ]  # fmt: skip
    for row in rows:
        dollars = (2.0 * row["prompt_tokens"] + 8.0 * row["completion_tokens"]) / 1e6
        assert row["cost"] == pytest.approx(dollars)
    assert [row["calls"] for row in rows] == [3, 3, 6, 3 * (2 + 1) * 15]
    assert not (tmp_path / "c").exists()


def test_a_topic_that_is_left_out_is_told_and_ends_with_3(judge, coded, tmp_path):
    def no_kelp(index, body):
        return Refusal() if "E5 and F6" in json.dumps(body["messages"][-1]) else None

    with MockServer(brain=fact_brain, faults=no_kelp) as server:
        model = ["--model", "hosted_vllm/mock", "--set"]
        model += [f"models.default.api_base={server.base_url}"]
        ran = judge("build", "crux", coded, *model, "--out", "c")
        assert ran.code == 3
        assert "kelp: requests failed (refused)" in ran.err
        assert "c/unjudged.jsonl" in ran.err
        server.faults = None
        assert judge("build", "crux", coded, *model, "--out", "c").code == 0


def test_a_limit_that_was_reached_ends_with_3_whatever_may_be_missing(judge, coded):
    with MockServer(brain=fact_brain) as server:
        model = ["--model", "hosted_vllm/mock", "--set"]
        model += [f"models.default.api_base={server.base_url}", "--set", "run.allow_missing=1"]
        # 3 requests, 2 calls for the questions of each, a passage call for each of 6 documents
        limit = ["--set", "run.max_calls=16", "--set", "run.concurrency=1"]
        ran = judge("build", "crux", coded, *model, *limit, "--out", "c")
        assert "Stopped at max_calls" in ran.err
        assert "topics were left out" not in ran.err
        assert ran.code == 3
        assert judge("build", "crux", coded, *model, "--out", "c").code == 0


def test_the_number_of_questions_is_a_setting(judge, coded):
    asked = ("--set", "coverage.n=4", "--model", "openai/gpt-4o", "--dry-run", "--json")
    ran = judge("build", "crux", coded, *asked)
    assert ran.code == 0, ran.err
    calls = {row["judge"]: row["calls"] for row in ran.rows}
    assert calls["answerability"] == 3 * (2 + 1) * 4


def test_bad_input_is_named_by_file_and_line(judge, tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_text(
        '{"id": "a", "documents": ["text"], "summary": "text"}\n{"id": "b"}\n', encoding="utf-8"
    )
    ran = judge("build", "crux", path)
    assert ran.code == 2
    assert f"{path}:2: field 'summary' is missing" in ran.err
    assert "Traceback" not in ran.err


def test_a_run_does_not_replace_a_collection(judge, tmp_path):
    assert judge("build", "crux", SUMMARIES, "--limit", 1, "--out", "c").code == 0
    before = (tmp_path / "c" / "manifest.json").read_bytes()
    run = evaluation(tmp_path / "c")
    ran = judge("run", "coverage", *run, "--out", "c")
    assert ran.code == 2
    assert "name another" in ran.err
    assert (tmp_path / "c" / "manifest.json").read_bytes() == before


def test_commands_on_results_say_that_a_collection_is_none(judge, tmp_path):
    assert judge("build", "crux", SUMMARIES, "--limit", 1, "--out", "c").code == 0
    for command in (["score", "c"], ["compare", "c", "c"]):
        ran = judge(*command)
        assert ran.code == 2
        assert "c: a collection of judge build crux, not results of judge run" in ran.err


@pytest.mark.slow
def test_kills_repeat_no_finished_request_and_change_no_byte(
    coded, environment, tmp_path, files_of
):
    concurrency = 4
    with MockServer(brain=fact_brain, latency_s=0.06) as server:
        command = [*JUDGE, "build", "crux", str(coded)]
        command += ["--model", "hosted_vllm/mock"]
        command += ["--set", f"models.default.api_base={server.base_url}", "--set"]

        def begin(out, n, home=environment):
            more = [f"run.concurrency={n}", "--out", out]
            return start(*command, *more, env=home, cwd=tmp_path, stdout=DEVNULL, stderr=DEVNULL)

        other = environment | {"XDG_CACHE_HOME": str(tmp_path / "other")}
        assert begin("whole", 16, other).wait(timeout=60) == 0
        n_whole = len(server.requests)
        server.clear()

        killed_s = []
        for n_more in (4, 12, 14):  # in the requests and questions, the passages, the ratings
            process, until = begin("killed", concurrency), server.n_finished + n_more
            deadline = time.monotonic() + 30
            while server.n_finished < until:
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.005)
            process.kill()
            killed_s.append(time.monotonic())
            assert process.wait() == -signal.SIGKILL
        files = {path.name for path in (tmp_path / "killed").glob("*.jsonl")}
        assert files <= {"spend.jsonl"}  # nothing of the collection
        assert begin("killed", concurrency).wait(timeout=60) == 0

        times = defaultdict(list)
        for each in server.requests:
            if each.finished:
                body = json.dumps(each.body, sort_keys=True)
                times[body].append((each.started_s, each.finished_s))
        assert len(times) == n_whole
        repeated = [pair for asked in times.values() for pair in pairwise(sorted(asked))]
        for (_, finished), (started, _) in repeated:
            assert any(finished > k - IN_FLIGHT_S and k < started for k in killed_s)
        assert len(repeated) <= len(killed_s) * concurrency
    assert files_of(tmp_path / "killed") == files_of(tmp_path / "whole")
    assert not list((tmp_path / "killed").glob("*.part"))


# `judge build long2rag`: from seed questions and documents to verified key points.
LONG2RAG_COMMAND_EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "long2rag"
SEEDS, DOCUMENTS = (
    LONG2RAG_COMMAND_EXAMPLE / "seeds.jsonl",
    LONG2RAG_COMMAND_EXAMPLE / "documents.jsonl",
)
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
    verify = ("build", "long2rag", "c", "--verified", LONG2RAG_COMMAND_EXAMPLE / "verified.csv")
    ran = judge(*verify)
    assert ran.code == 0, ran.err
    # 16 key points; most say that one is not grounded, and that 6 more do not help.
    assert ["all", "16", "15", "9", "7", "0", ".562"] in map(str.split, ran.out.splitlines())
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
        "--topics", "c/topics.jsonl", "--set", "data.keypoints=c/keypoints.jsonl", "--runs",
        "r.jsonl",
    )  # fmt: skip
    ran = judge("run", "keypoints", *data, "--out", "scores", "--json")
    assert ran.code == 0, ran.err
    recall = {row["value"] for row in ran.rows if row["measure"] == "KPR"}
    assert recall == {1.0}  # an answer of all key points


def test_without_documents_it_tells_how_to_go_on_and_does(judge, seeds, documents):
    with MockServer(brain=fact_brain) as server:
        ran = build(judge, server, seeds, "--evolve", 1, "--out", "c", "--json")
        assert ran.code == 0, ran.err
        assert "the same command with --documents continues" in ran.err
        assert ran.rows[0]["questions"] == {"seed": 2, "depth": 2, "width": 2}
        n = len(server.requests)
        going_on = (seeds, "--documents", documents, "--evolve", 1, "--out", "c", "--json")
        ran = build(judge, server, *going_on)
        assert ran.code == 0, ran.err
        assert ran.rows[0]["key_points"]["kept"] == 3 * (3 + 2)
        assert not any("unambiguous" in json.dumps(r.body) for r in server.requests[n:])


def test_long2rag_command_a_dry_run_tells_the_cost_and_leaves_nothing(
    judge, seeds, documents, tmp_path
):
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
    ran = judge("build", "long2rag", "c", "--verified", LONG2RAG_COMMAND_EXAMPLE / "verified.csv")
    assert ran.code == 3
    assert "have no verdict on both tasks" in ran.err
    lines = (LONG2RAG_COMMAND_EXAMPLE / "verified.csv").read_text(encoding="utf-8").splitlines()
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
        ((SEEDS, "--verified", LONG2RAG_COMMAND_EXAMPLE / "verified.csv"), "is not a folder"),
        (
            (".", "--verified", LONG2RAG_COMMAND_EXAMPLE / "verified.csv", "--dry-run"),
            "goes with the folder",
        ),
        (
            (".", "--verified", LONG2RAG_COMMAND_EXAMPLE / "verified.csv"),
            "manifest.json is missing",
        ),
    ],
)
def test_a_folder_and_a_file_are_told_apart(arguments, message, judge):
    ran = judge("build", "long2rag", *arguments)
    assert ran.code == 2
    assert message in " ".join(ran.err.replace("│", " ").split())


@pytest.mark.slow
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
