"""Spans of judge calls, made by the real SDK of OpenTelemetry and taken by a real collector."""

import http.server
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from mock_server import MockServer, Prose, Status

pytest.importorskip("opentelemetry.sdk")
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from .conftest import KEY, PASSAGES, SAMPLES

CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


@pytest.fixture(scope="module")
def exporter():
    """Where the spans of this process go, whose provider can be set only once."""
    in_memory = InMemorySpanExporter()
    provider = trace.get_tracer_provider()
    if not isinstance(provider, TracerProvider):
        provider = TracerProvider()
        trace.set_tracer_provider(provider)
    provider.add_span_processor(SimpleSpanProcessor(in_memory))
    return in_memory


@pytest.fixture
def spans(exporter, monkeypatch):
    """`spans(prefix)`: the finished spans whose names begin so."""
    monkeypatch.delenv(CONTENT, raising=False)
    exporter.clear()
    return lambda prefix="": [s for s in exporter.get_finished_spans() if s.name.startswith(prefix)]


def as_text(spans):
    return "\n".join(span.to_json() for span in spans)


def test_a_request_belongs_to_its_judgement_and_this_to_the_run_of_the_caller(spans, evaluated):
    with (
        MockServer(api_key=KEY, latency_s=lambda i, body: 0.02 * (3 - i % 3)) as server,
        trace.get_tracer("loop").start_as_current_span("my experiment") as mine,
    ):
        evaluated(server)
    (run,), judged, asked = spans("invoke_workflow"), spans("judge "), spans("chat ")
    assert run.name == "invoke_workflow support"
    assert run.parent.span_id == mine.get_span_context().span_id
    assert [s.parent.span_id for s in judged] == [run.context.span_id] * 3
    assert {s.attributes["nuggetjudge.topic_id"] for s in judged} == {"t0", "t1", "t2"}
    topic_of = {s.context.span_id: s.attributes["nuggetjudge.topic_id"] for s in judged}
    # One request a judgement, each of its own, although they were in flight together.
    assert sorted(topic_of[s.parent.span_id] for s in asked) == ["t0", "t1", "t2"]
    assert len({s.context.trace_id for s in (run, *judged, *asked)}) == 1
    assert trace.get_current_span() is trace.INVALID_SPAN  # none is left behind


def test_a_request_says_what_the_conventions_ask_for_and_no_text(spans, evaluated):
    with MockServer(api_key=KEY) as server:
        result = evaluated(server, model={"temperature": 0.5, "seed": 7, "max_tokens": 50})
    usage = [0, 0]
    for span in spans("chat "):
        attributes = span.attributes
        assert (span.name, span.kind) == ("chat mock", trace.SpanKind.CLIENT)
        assert attributes["gen_ai.operation.name"] == "chat"
        assert attributes["gen_ai.provider.name"] == "vllm"
        assert (attributes["gen_ai.request.model"], attributes["gen_ai.response.model"]) == (
            "mock",
            "mock",
        )
        assert attributes["gen_ai.request.temperature"] == 0.5
        assert (attributes["gen_ai.request.seed"], attributes["gen_ai.request.max_tokens"]) == (
            7,
            50,
        )
        assert attributes["gen_ai.response.finish_reasons"] == ("stop",)
        assert (attributes["server.address"], attributes["server.port"]) == (
            "127.0.0.1",
            server.port,
        )
        assert (attributes["nuggetjudge.cache_hit"], attributes["nuggetjudge.requests"]) == (
            False,
            1,
        )
        usage[0] += attributes["gen_ai.usage.input_tokens"]
        usage[1] += attributes["gen_ai.usage.output_tokens"]
    tokens = result.manifest["tokens"]
    assert usage == [tokens["prompt"], tokens["completion"]]
    assert all(usage)
    labels = {row["topic_id"]: row["label"] for row in result.judgements["support"]}
    for span in spans("judge support"):
        (event,) = span.events
        assert event.name == "gen_ai.evaluation.result"
        assert event.attributes["gen_ai.evaluation.name"] == "support"
        label = labels[span.attributes["nuggetjudge.topic_id"]]
        assert event.attributes["gen_ai.evaluation.score.label"] == label
    assert not any(text.rstrip(".") in as_text(spans()) for text in PASSAGES)


def test_a_failed_judgement_has_its_reason_and_no_score(spans, evaluated):
    faults = [Status(429, retry_after="0"), None, Status(500), *[Prose()] * 4]
    with MockServer(api_key=KEY, faults=faults) as server:
        result = evaluated(server, concurrency=1, model={"retries": 1, "reasks": 1})
    by_topic = {s.attributes["nuggetjudge.topic_id"]: s for s in spans("judge ")}
    first, lost = by_topic["t0"], by_topic["t1"]
    asked = {s.parent.span_id: s for s in spans("chat ")}
    retried = asked[first.context.span_id]
    (event,) = retried.events
    assert event.name == "nuggetjudge.request_failed"
    assert event.attributes["http.response.status_code"] == 429
    assert retried.attributes["nuggetjudge.requests"] == 2
    assert retried.status.is_ok or retried.status.status_code is trace.StatusCode.UNSET
    (row,) = [row for row in result.unjudged if row["topic_id"] == "t1"]
    failed = asked[lost.context.span_id]
    for span in (lost, failed):
        assert span.attributes["error.type"] == row["reason"] == "unparseable"
        assert span.status.status_code is trace.StatusCode.ERROR
    (event,) = lost.events
    assert dict(event.attributes) == {
        "gen_ai.evaluation.name": "support",
        "error.type": "unparseable",
    }
    # A 500, and two replies that could not be read, whose tokens were paid for.
    assert failed.attributes["nuggetjudge.requests"] == 3
    assert failed.attributes["gen_ai.usage.output_tokens"] > 0


def test_what_the_cache_answers_is_marked_and_uses_no_tokens(spans, evaluated, exporter, tmp_path):
    with MockServer(api_key=KEY) as server:
        evaluated(server)
        exporter.clear()
        evaluated(server, out=tmp_path / "again")
    asked = spans("chat ")
    assert [s.attributes["nuggetjudge.cache_hit"] for s in asked] == [True] * 3
    assert not any("gen_ai.usage.input_tokens" in s.attributes for s in asked)
    assert not any("nuggetjudge.requests" in s.attributes for s in asked)


def test_texts_stand_on_spans_only_where_they_are_asked_for_and_never_a_key(
    spans, evaluated, monkeypatch
):
    monkeypatch.setenv(CONTENT, "span_only")
    quoted = Status(500, body={"error": {"message": f"no luck with {KEY}"}})
    samples = [SAMPLES[0], {**SAMPLES[1], "contexts": [f"The key is {KEY}."]}]
    with MockServer(api_key=KEY, faults=[quoted, Prose()]) as server:
        evaluated(server, samples=samples, model={"reasks": 0}, concurrency=1)
    asked = {json.loads(s.attributes["gen_ai.input.messages"])[0]["parts"][0]["content"]: s
             for s in spans("chat ")}  # fmt: skip
    assert any(PASSAGES[0] in text for text in asked)
    assert any("***" in text for text in asked)
    for span in asked.values():
        assert json.loads(span.attributes["gen_ai.system_instructions"])[0]["content"]
        (reply,) = json.loads(span.attributes["gen_ai.output.messages"])
        assert reply["role"] == "assistant"
        assert reply["parts"][0]["content"]
    assert KEY not in as_text(spans())


class Collector(http.server.BaseHTTPRequestHandler):
    """Takes OTLP over HTTP, as a collector does."""

    def do_POST(self):
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
            ExportTraceServiceRequest,
        )

        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            import gzip

            body = gzip.decompress(body)
        self.server.taken.append((self.path, ExportTraceServiceRequest.FromString(body)))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *of_request):
        pass


@pytest.fixture
def collector():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector) as server:
        server.taken = []
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join(timeout=5)


def judge_run(tmp_path, server, **variables):
    """`judge run support`, in a process of its own."""
    (tmp_path / "topics.tsv").write_text("t0\twhy?\n")
    answer = [{"text": PASSAGES[0], "citations": [0]}]
    row = {"run_id": "r", "topic_id": "t0", "references": ["p"], "answer": answer}
    (tmp_path / "runs.jsonl").write_text(json.dumps(row) + "\n")
    (tmp_path / "passages.jsonl").write_text(json.dumps({"docid": "p", "text": PASSAGES[0]}) + "\n")
    files = ["--topics", "topics.tsv", "--runs", "runs.jsonl", "--passages", "passages.jsonl"]
    model = ["--model", "hosted_vllm/mock", "--set", f"models.default.api_base={server.base_url}"]
    key = ["--set", "models.default.api_key_env=TIDE_KEY", "--out", "out"]
    judge = Path(sys.executable).with_name("judge")
    home = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "TIDE_KEY": KEY}
    return subprocess.run(
        [judge, "run", "support", *files, *model, *key],
        cwd=tmp_path, env=home | variables, capture_output=True, text=True, timeout=180,
    )  # fmt: skip


def test_judge_run_sends_its_spans_to_the_collector_that_the_environment_names(tmp_path, collector):
    endpoint = f"http://127.0.0.1:{collector.server_port}"
    with MockServer(api_key=KEY) as server:
        ran = judge_run(tmp_path, server, OTEL_EXPORTER_OTLP_ENDPOINT=endpoint)
    assert ran.returncode == 0, ran.stderr
    spans = {}
    for path, sent in collector.taken:
        assert path == "/v1/traces"
        assert KEY.encode() not in sent.SerializeToString()
        for resource in sent.resource_spans:
            named = {a.key: a.value.string_value for a in resource.resource.attributes}
            assert named["service.name"] == "nuggetjudge"
            for scope in resource.scope_spans:
                assert scope.schema_url.startswith("https://opentelemetry.io/schemas/")
                spans |= {span.name: span for span in scope.spans}
    assert set(spans) == {"invoke_workflow support", "judge support", "chat mock"}
    assert spans["chat mock"].parent_span_id == spans["judge support"].span_id
    assert spans["judge support"].parent_span_id == spans["invoke_workflow support"].span_id
