"""`judge index` and `judge retrieve` as a user types them."""

import json
import re
import shlex
import signal
import time
from collections import Counter
from pathlib import Path
from subprocess import DEVNULL

import pytest
from json_lines import write_rows
from mock_server import MockServer, Refusal, Status, input_of
from page_output import is_shown
from processes import JUDGE, run, start


@pytest.fixture
def retrieve_home(tmp_path):
    (tmp_path / "topics.tsv").write_text("t\tdam\nu\tbees\n", encoding="utf-8")
    texts = {"a": "dam dam", "b": "a dam of clay and rock", "c": "bees sing"}
    rows = [json.dumps({"docid": name, "text": text}) for name, text in texts.items()]
    (tmp_path / "passages.jsonl").write_text("\n".join(rows), encoding="utf-8")
    return tmp_path


WHERE = ("--topics", "topics.tsv", "--passages", "passages.jsonl")


def test_a_run_is_written_and_its_counts_are_printed(judge, retrieve_home):
    ran = judge("retrieve", *WHERE, "--pipeline", "bm25 100, cut 1", "--out", "a.run")
    assert ran.code == 0, ran.err
    assert ran.out.split() == ["run", "topics", "passages", "file", "bm25", "2", "2", "a.run"]
    lines = [
        line.split() for line in (retrieve_home / "a.run").read_text(encoding="utf-8").splitlines()
    ]
    assert [(line[0], line[2], line[3], line[5]) for line in lines] == [
        ("t", "a", "1", "bm25"),
        ("u", "c", "1", "bm25"),
    ]
    manifest = json.loads((retrieve_home / "a.run.manifest.json").read_text(encoding="utf-8"))
    assert manifest["config"]["retrieve"][0]["step"] == "bm25"


def test_a_run_goes_straight_into_the_coverage_program(judge, retrieve_home):
    judge("retrieve", *WHERE, "--pipeline", "bm25", "--out", "a.run")
    (retrieve_home / "questions.jsonl").write_text(
        '{"id": "t", "subquestions": ["What is a dam of?"]}\n', encoding="utf-8"
    )
    given = (
        "--set", "data.questions=questions.jsonl", "--set", "data.retrieval=a.run", "--out",
        "results",
    )  # fmt: skip
    ran = judge("run", "coverage", *WHERE, *given, "--json")
    assert {row["run_id"] for row in ran.rows} == {"bm25", "Z*"}


def test_an_index_made_once_is_searched_without_the_passages(judge, retrieve_home):
    made = judge("index", "--passages", "passages.jsonl", "--out", "index", "--json")
    assert made.code == 0, made.err
    assert made.rows[0]["passages"] == 3
    command = ("retrieve", "--topics", "topics.tsv", "--index", "index", "--pipeline", "bm25")
    ran = judge(*command, "--out", "a.run", "--json")
    assert [row["passages"] for row in ran.rows] == [3]


def test_the_command_cuts_and_the_passages_are_retrieved(judge, retrieve_home):
    text = " ".join(f"This is sentence number {i} of it." for i in range(16))
    texts = {"d": text, "e": "Slack water.", "f": "Slack water."}
    rows = [{"docid": name, "text": text} for name, text in texts.items()]
    write_rows(retrieve_home / "documents.jsonl", rows)
    (retrieve_home / "topics.tsv").write_text("t\tsentence number 12\n", encoding="utf-8")
    given = ("--passages", "documents.jsonl", "--out", "index")
    made = judge("index", *given, "--segments", "10,5", "--near-duplicates", ".9")
    assert made.out.startswith("3 documents, 1 near-duplicates left out\n4 passages: bm25-")
    ran = judge("retrieve", "--topics", "topics.tsv", "--index", "index", "--passages",
                "index/passages.jsonl", "--pipeline", "bm25, mmr 2", "--out", "a.run")  # fmt: skip
    assert ran.code == 0, ran.err
    assert (retrieve_home / "a.run").read_text("utf-8").split()[2] in ("d#1", "d#2")
    for wrong in ("5,10", "10", "a,b", "0,0"):
        ran = judge("index", *given, "--segments", wrong)
        assert ran.code == 2
        assert f"--segments {wrong}: wanted sentences per window" in ran.err


def test_a_topic_that_finds_nothing_is_told_and_ends_with_3(judge, retrieve_home):
    (retrieve_home / "topics.tsv").write_text("t\tdam\nv\tzebra\n", encoding="utf-8")
    ran = judge("retrieve", *WHERE, "--pipeline", "bm25", "--out", "a.run")
    assert ran.code == 3
    assert "1 topics found nothing: v" in ran.err


def test_a_reranker_without_replies_ends_with_3_and_keeps_the_order(judge, retrieve_home):
    with MockServer() as server:
        server.faults = lambda index, body: Status(500)
        model = ("--model", "openai/mock", "--set", f"models.default.api_base={server.base_url}")
        few = ("--set", "models.default.retries=0")
        steps = ("--pipeline", "bm25, listwise")
        ran = judge("retrieve", *WHERE, *steps, *model, *few, "--out", "a.run")
    assert ran.code == 3
    assert "1 of 1 calls for listwise failed; the order was kept" in ran.err
    assert [
        line.split()[2]
        for line in (retrieve_home / "a.run").read_text(encoding="utf-8").splitlines()
    ] == [
        *("a", "b", "c"),
    ]


def test_a_dry_run_prints_what_a_reranker_will_take_and_writes_nothing(judge, retrieve_home):
    steps = ("--pipeline", "bm25, listwise", "--model", "openai/gpt-4o")
    ran = judge("retrieve", *WHERE, *steps, "--out", "a.run", "--dry-run")
    assert ran.code == 0, ran.err
    assert ran.out.splitlines()[3].split()[:3] == ["listwise", "openai/gpt-4o", "1"]
    assert not (retrieve_home / "a.run").exists()


# `judge retrieve` and `judge index` where their files cannot or must not be written.
@pytest.fixture
def retrieve_files_home(tmp_path):
    (tmp_path / "topics.tsv").write_text("t\tdam\n", encoding="utf-8")
    texts = {"a": "dam dam dam", "b": "dam dam clay", "c": "dam clay rock"}
    rows = [json.dumps({"docid": name, "text": text}) for name, text in texts.items()]
    (tmp_path / "passages.jsonl").write_text("\n".join(rows), encoding="utf-8")
    return tmp_path


def test_a_limit_ends_with_3_says_that_nothing_was_written_and_can_be_raised(
    judge, retrieve_files_home
):
    with MockServer(lambda body: {"order": [2, 1]}) as server:
        model = ("--model", "openai/mock", "--set", f"models.default.api_base={server.base_url}")
        steps = "{retrieve: [bm25, {listwise: {window: 2, stride: 1}}]}"
        (retrieve_files_home / "steps.yaml").write_text(steps, encoding="utf-8")
        command = ("retrieve", *WHERE, "--pipeline", "steps.yaml", *model, "--out", "a.run")
        ran = judge(*command, "--set", "run.max_calls=1")
        assert ran.code == 3, ran.err
        assert "no run was written" in ran.err
        assert "run the same command with a higher limit" in ran.err
        assert ran.out.split()[-2:] == ["not", "written"]
        assert not list(retrieve_files_home.glob("a.run*"))
        ran = judge(*command, "--set", "run.max_calls=9")
    assert ran.code == 0, ran.err
    assert (retrieve_files_home / "a.run").is_file()


def test_a_place_for_neither_runs_nor_indexes_is_one_line(judge, retrieve_files_home):
    (retrieve_files_home / "x.run").mkdir()
    (retrieve_files_home / "file").write_text("mine", encoding="utf-8")
    for command in (
        ("retrieve", *WHERE, "--pipeline", "bm25", "--out", "x.run"),
        ("retrieve", *WHERE, "--pipeline", "bm25", "--out", "file"),
        ("index", "--passages", "passages.jsonl", "--out", "file"),
    ):
        ran = judge(*command)
        assert (ran.code, ran.out) == (2, "")
        assert len(ran.err.splitlines()) == 1, ran.err


# What the flags of `judge retrieve` take, and what is told of a pipeline beside its table.
@pytest.fixture
def retrieve_flags_home(tmp_path):
    (tmp_path / "topics.tsv").write_text("t\tdam\n", encoding="utf-8")
    texts = {"a": "dam dam", "b": "a dam of clay and rock"}
    rows = [json.dumps({"docid": name, "text": text}) for name, text in texts.items()]
    (tmp_path / "passages.jsonl").write_text("\n".join(rows), encoding="utf-8")
    return tmp_path


def test_a_cut_to_nothing_is_told_and_is_complete(judge, retrieve_flags_home):
    steps = (*WHERE, "--set", "retrieve=[bm25, {cut: {tokens: 1}}]", "--out", "a.run")
    ran = judge("retrieve", *steps)
    assert ran.code == 0
    assert "bm25: 1 topics lost all passages in a cut: t" in ran.err
    assert "found nothing" not in ran.err


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_dry_run_says_that_rankllm_is_not_counted(judge, retrieve_flags_home, more):
    steps = (*WHERE, "--pipeline", "bm25, rankllm", "--out", "a.run")
    ran = judge("retrieve", *steps, "--dry-run", *more)
    assert ran.code == 0, ran.err
    assert "Not counted: calls of rankllm" in ran.err


# `judge generate`: from retrieval runs to answers that `judge run` evaluates.
ROOT = Path(__file__).resolve().parents[2]
TOPICS = {f"t{n}": f"what is known of wave {n}" for n in range(8)}
PASSAGES = {f"p{n}": f"Wave {n} breaks on the outer reef." for n in range(8)}
IN_FLIGHT_S = 0.3  # a reply written so long before a kill has surely reached the judge


def echo(body):
    """Says every passage, citing it."""
    passages = input_of(body)["passages"].items()
    return {"answer": [{"text": text, "citations": [int(number)]} for number, text in passages]}


@pytest.fixture
def data(tmp_path):
    """The options that name eight topics, their passages and a retrieval run of two for each."""
    lines = [f"{name}\t{text}\n" for name, text in TOPICS.items()]
    (tmp_path / "topics.tsv").write_text("".join(lines), encoding="utf-8")
    rows = [json.dumps({"docid": name, "text": text}) + "\n" for name, text in PASSAGES.items()]
    (tmp_path / "passages.jsonl").write_text("".join(rows), encoding="utf-8")
    ranked = [
        f"{topic} Q0 p{(n + i) % 8} {i + 1} {9 - i} bm25\n"
        for n, topic in enumerate(TOPICS)
        for i in range(2)
    ]
    (tmp_path / "bm25.run").write_text("".join(ranked), encoding="utf-8")
    files = ["--topics", tmp_path / "topics.tsv", "--passages", tmp_path / "passages.jsonl"]
    return [*files, "--retrieval", tmp_path / "bm25.run"]


def model_at(server):
    url = f"models.default.api_base={server.base_url}"
    return ["--model", "hosted_vllm/mock", "--set", url]


def test_retrieval_runs_become_answers_that_can_be_judged(judge, data, tmp_path, rows_of):
    ran = judge("generate", *data, "--out", "g")
    assert ran.code == 0, ran.err
    *_, header, row = ran.out.splitlines()
    assert header.split()[:2] == ["run", "answers"]
    assert row.split()[:4] == ["bm25", "8", "of", "8"]
    assert "Answers: g/answers" in ran.err
    answers = rows_of(tmp_path / "g" / "answers" / "bm25.jsonl")
    assert [answer["topic_id"] for answer in answers] == list(TOPICS)
    assert answers[3]["references"] == ["p3", "p4"]
    files = data[:4]
    ran = judge("run", "support", *files, "--runs", "g/answers", "--out", "judged", "--json")
    assert ran.code == 0, ran.err
    means = {row["measure"]: row["value"] for row in ran.rows if row["topic_id"] == "all"}
    assert means["support_precision"] == 1.0  # whole sentences of what they cite


def test_every_flag_reaches_its_setting(judge, data, tmp_path, rows_of):
    (tmp_path / "own.txt").write_text("Answer in rhymes.", encoding="utf-8")
    flags = ["--k", 1, "--words", 90, "--limit", 3, "--out", "g"]
    own = {"citations": 2, "layout": "rag25", "instructions": "own.txt", "run_id": "mine"}
    flags += [each for name in own for each in ("--set", f"generate.{name}={own[name]}")]
    with MockServer(brain=echo) as server:
        ran = judge("generate", *data, *model_at(server), *flags, "--json")
        assert ran.code == 0, ran.err
        asked = [input_of(request.body) for request in server.requests]
        systems = {request.body["messages"][0]["content"] for request in server.requests}
    assert ran.rows[0]["runs"]["mine"]["answers"] == len(asked) == 3
    assert {(len(a["passages"]), a["words"], a["citations"]) for a in asked} == {(1, 90, 2)}
    assert [text.startswith("Answer in rhymes.") for text in systems] == [True]
    (first, *_) = rows_of(tmp_path / "g" / "answers" / "mine.jsonl")
    assert first["metadata"]["narrative_id"] == "t0"


def test_a_config_file_says_it_too(judge, data, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "own.txt").write_text("Answer in rhymes.", encoding="utf-8")
    config = tmp_path / "sub" / "c.yaml"
    config.write_text(
        "data: {topics: ../topics.tsv, passages: ../passages.jsonl, retrieval: ../bm25.run,"
        " runs: generated/answers/*.jsonl}\n"  # what is judged then, and is not there yet
        "generate: {k: 1, instructions: own.txt}\n",
        encoding="utf-8",
    )
    ran = judge("generate", "--config", config, "--out", "g", "--json")
    assert ran.code == 0, ran.err
    assert ran.rows[0]["runs"]["bm25"]["passages"] == 8
    assert ran.rows[0]["runs"]["bm25"]["answers"] == 8


def test_a_dry_run_tells_the_cost_and_leaves_nothing(judge, data, tmp_path):
    with MockServer(brain=echo) as server:
        priced = ["--set", "models.default.price={input: 2.0, output: 8.0}", "--dry-run"]
        ran = judge("generate", *data, *model_at(server), *priced, "--out", "g")
        assert ran.code == 0, ran.err
        assert "Upper bound" in ran.out
        (row,) = judge("generate", *data, *model_at(server), *priced, "--json").rows
        assert not server.requests
    assert (row["judge"], row["calls"]) == ("answer_writer", 8)
    dollars = (2.0 * row["prompt_tokens"] + 8.0 * row["completion_tokens"]) / 1e6
    assert row["cost"] == pytest.approx(dollars)
    assert not (tmp_path / "g").exists()


def test_missing_answers_are_told_and_end_with_3(judge, data, tmp_path, rows_of):
    def not_the_third(index, body):
        return Refusal() if input_of(body)["question"] == TOPICS["t3"] else None

    with MockServer(brain=echo, faults=not_the_third) as server:
        ran = judge("generate", *data, *model_at(server), "--out", "g")
        assert ran.code == 3
        assert "1 missing" in ran.err
        assert "g/unjudged.jsonl" in ran.err
        assert ran.out.splitlines()[-1].split()[:4] == ["bm25", "7", "of", "8"]
        answers = rows_of(tmp_path / "g" / "answers" / "bm25.jsonl")
        assert [a["topic_id"] for a in answers if "failed" not in a] == [
            topic for topic in TOPICS if topic != "t3"
        ]
        lenient = ["--set", "run.allow_missing=0.2", "--set", "run.offline=true"]
        assert judge("generate", *data, *model_at(server), *lenient, "--out", "g").code == 0
        server.faults = None
        assert judge("generate", *data, *model_at(server), "--out", "g").code == 0


def test_a_limit_that_was_reached_ends_with_3_whatever_may_be_missing(judge, data):
    with MockServer(brain=echo) as server:
        few = ["--set", "run.max_calls=5", "--set", "run.allow_missing=1"]
        ran = judge("generate", *data, *model_at(server), *few, "--out", "g")
        assert ran.code == 3
        assert "Stopped at max_calls" in ran.err
        assert len(server.requests) == 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no topics: add a file (data.topics, --topics)"),
        (["--set", "generate.layout=rag99"], "generate.layout"),
        (["--k", "21"], "generate.k: 21, wanted at most 20 (TREC RAG 2024)"),
        (["--set", "generate.instructions=nothing.txt"], "nothing.txt"),
    ],
)
def test_what_cannot_be_used_is_told_in_a_line(judge, data, arguments, message):
    ran = judge("generate", *(data if arguments else []), *arguments)
    assert ran.code == 2
    assert message in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.slow
def test_kills_repeat_no_finished_request_and_change_no_byte(data, environment, tmp_path, files_of):
    concurrency = 1
    with MockServer(brain=echo, latency_s=0.1) as server:
        command = [*JUDGE, "generate", *data]
        command += model_at(server)

        def begin(out, home=environment):
            more = ["--set", f"run.concurrency={concurrency}", "--out", out]
            return start(*command, *more, env=home, cwd=tmp_path, stdout=DEVNULL, stderr=DEVNULL)

        other = environment | {"XDG_CACHE_HOME": str(tmp_path / "other")}
        assert begin("whole", other).wait(timeout=60) == 0
        server.clear()

        process, deadline = begin("killed"), time.monotonic() + 30
        while server.n_finished < 6:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.005)
        process.kill()
        killed_s = time.monotonic()
        assert process.wait() == -signal.SIGKILL
        assert not list((tmp_path / "killed" / "answers").glob("*.jsonl"))
        assert begin("killed").wait(timeout=60) == 0

        done = [json.dumps(r.body) for r in server.requests if r.finished]
        early = {
            json.dumps(r.body)
            for r in server.requests
            if r.finished and r.finished_s < killed_s - IN_FLIGHT_S
        }
        assert early
        assert len(set(done)) == len(TOPICS)
        assert not [body for body, n in Counter(done).items() if n > 1 and body in early]
        assert len(done) - len(TOPICS) <= concurrency
    assert files_of(tmp_path / "killed") == files_of(tmp_path / "whole")
    for name in ("killed", "whole"):
        assert not list((tmp_path / name / "answers").glob("*.part"))
    answers = [(tmp_path / name / "answers" / "bm25.jsonl") for name in ("killed", "whole")]
    assert answers[0].read_bytes() == answers[1].read_bytes()


def test_the_page_shows_what_its_commands_print(judge, tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "results").mkdir()
    page = (ROOT / "docs" / "generate.md").read_text(encoding="utf-8")
    first, program, printed = re.findall(r"^```\w*\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    _, *commands = first.split("$ judge ")
    for shown in commands:
        command, _, output = shown.partition("\n")
        ran = judge(*shlex.split(command))
        assert ran.code == 0, ran.err
        assert is_shown(ran.out, output), ran.out
    ran = run("-c", program)
    assert ran.stdout == printed
    assert len(commands) == 3
