"""`judge build crux`: from summaries to a collection that `judge run coverage` evaluates with."""

import json
import signal
import time
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from subprocess import DEVNULL

import pytest
from collections_to_build import write_summaries
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
