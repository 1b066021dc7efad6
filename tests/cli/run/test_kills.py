"""A run that is killed or interrupted goes on where it was and ends in the same bytes."""

import json
import os
import random
import shutil
import signal
import time
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from subprocess import DEVNULL, PIPE, TimeoutExpired

import processes
import pytest
from mock_batches import Lost, MockBatches
from mock_replies import rng_of
from mock_server import Hang, MockServer
from processes import JUDGE, run, start

from nuggetjudge.views.numbers import format_money

DEMO = Path(__file__).resolve().parents[3] / "tests" / "collection" / "judge.yaml"
KILLS = 20
IN_FLIGHT_S = 0.5  # a reply written so long before a kill has reached the judge, and the cache
CONCURRENCY = 4


@pytest.fixture
def server():
    """A model that takes 80-200 ms a reply."""
    with MockServer(latency_s=lambda i, body: 0.08 + 0.12 * rng_of(body).random()) as up:
        yield up


def key_of(request):
    return json.dumps(request.body, sort_keys=True)


def command(url, out, concurrency):
    settings = [f"models.default.api_base={url}", f"run.concurrency={concurrency}"]
    sets = [part for setting in settings for part in ("--set", setting)]
    model = ["--model", "hosted_vllm/mock", "--out", str(out), "--quiet"]
    return ["run", DEMO, *model, *sets]


@pytest.mark.slow
def test_twenty_kills_repeat_no_finished_call_and_change_no_byte(
    server, environment, tmp_path, files_of
):
    url = server.base_url
    other_home = environment | {"XDG_CACHE_HOME": str(tmp_path / "other")}
    whole = command(url, tmp_path / "whole", 32)
    assert run(*JUDGE, *whole, env=other_home, cwd=tmp_path).returncode == 0

    n_calls = server.n_finished
    server.clear()
    chance = random.Random(411)
    killed_s = []
    again = command(url, tmp_path / "killed", CONCURRENCY)
    for _ in range(KILLS):
        process = start(
            *JUDGE, *again, env=environment, cwd=tmp_path, stdout=DEVNULL, stderr=DEVNULL
        )
        until = server.n_finished + chance.randint(1, n_calls // KILLS)
        while server.n_finished < until and process.poll() is None:
            time.sleep(0.005)
        time.sleep(chance.uniform(0, 0.1))
        process.kill()
        killed_s.append(time.monotonic())
        assert process.wait() == -signal.SIGKILL
    assert run(*JUDGE, *again, env=environment, cwd=tmp_path).returncode == 0

    times = defaultdict(list)
    for request in server.requests:
        if request.finished:
            times[key_of(request)].append((request.started_s, request.finished_s))
    assert len(times) == n_calls
    n_repeated = 0
    for key, asked in times.items():
        asked.sort()
        for (_, finished), (started, _) in pairwise(asked):
            n_repeated += 1
            excuses = [k for k in killed_s if finished > k - IN_FLIGHT_S and k < started]
            assert excuses, f"{key} was finished at {finished:.3f} and asked again"
    assert n_repeated <= 2 * KILLS * CONCURRENCY
    last = max(finished for asked in times.values() for _, finished in asked)
    assert sum(k < last for k in killed_s) >= KILLS / 2  # they hit a run at work
    assert files_of(tmp_path / "killed") == files_of(tmp_path / "whole")
    assert not list((tmp_path / "killed").glob("*.part"))


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_run_tidily_and_the_same_command_goes_on(
    number, code, server, environment, tmp_path, judge
):
    url = server.base_url
    given = command(url, "out", CONCURRENCY)
    process = start(*JUDGE, *given, env=environment, cwd=tmp_path, stderr=PIPE, real=True)
    deadline = time.monotonic() + 30
    while server.n_finished < 10:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(number)
    _, stderr = process.communicate(timeout=10)
    assert process.returncode == code
    assert "the same command continues" in stderr
    assert "Traceback" not in stderr
    assert len(stderr.splitlines()) <= 2
    kept = sum(len(p.read_bytes().splitlines()) for p in (tmp_path / "out/journal").iterdir())
    assert kept >= 1
    assert not (tmp_path / "out" / "scores.jsonl").exists()
    assert not list((tmp_path / "out").glob("*.part"))

    before = {key_of(request) for request in server.requests if request.finished}
    server.clear()
    ran = judge(*command(url, "out", 32))
    assert ran.code == 0, ran.err
    assert len(before & {key_of(request) for request in server.requests}) <= CONCURRENCY


# `judge run --executor batch` that is killed or interrupted at any step sends nothing twice.
STEPS = [
    (call, moment)
    for call in ("upload", "make", "look", "download")
    for moment in ("before", "after")
]


@pytest.fixture
def batches_server(tide_brain):
    with MockBatches() as up:
        yield up


@pytest.fixture
def batches_start(batches_server, environment, tmp_path):
    """Starts `judge run support --executor batch` on the demo, in a process of its own."""

    def go(*more, out="out"):
        sets = [f"models.default.api_base={batches_server.base_url}"]
        sets += ["run.batch.quiet_s=0.2", "run.batch.poll_s=0.1"]
        command = [*JUDGE, "run", DEMO, "--set", "run.executor=batch"]
        command += [part for each in sets for part in ("--set", each)]
        command += ["--model", "hosted_vllm/mock", "--out", out, "--quiet", *more]
        command += ["--set", "program=[support]"]
        return processes.start(*command, env=environment, cwd=tmp_path, stdout=DEVNULL, stderr=PIPE)

    return go


@pytest.mark.slow
def test_a_run_killed_at_every_step_sends_nothing_twice(
    batches_server, batches_start, environment, tmp_path, files_of
):
    left, killed = list(STEPS), []

    def hook(call, moment):
        if left and (call, moment) == left[0]:
            killed.append(left.pop(0))
            os.kill(process.pid, signal.SIGKILL)
            raise Lost

    batches_server.hook = hook
    for _ in range(2 * len(STEPS)):
        process = batches_start()
        _, stderr = process.communicate(timeout=60)
        if process.returncode == 0:
            break
        assert process.returncode == -signal.SIGKILL, stderr
    assert killed == STEPS
    assert process.returncode == 0
    times = Counter(json.dumps(request.body) for request in batches_server.requests)
    assert max(times.values()) == 1
    assert len(batches_server.batches) == 1
    batches_server.hook = lambda call, moment: None
    environment["XDG_CACHE_HOME"] = str(tmp_path / "other")
    whole = batches_start(out="whole")
    assert whole.wait(timeout=60) == 0
    assert len(batches_server.requests) == 2 * len(times)
    assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")


def test_kills_at_any_time_send_nothing_twice(batches_server, batches_start):
    small = ["--set", "run.batch.requests=7"]
    code = None
    for wait_s in (1.2, 1.4, 1.6, 1.8, 2.0, 60):
        process = batches_start(*small)
        try:
            code = process.wait(timeout=wait_s)
        except TimeoutExpired:
            process.kill()
            process.wait()
    assert code == 0
    times = Counter(json.dumps(request.body) for request in batches_server.requests)
    assert sum(times.values()) - len(times) <= 5  # a reply that was being put away, for each kill


def is_looked_at(batches_server):
    """Whether the batch is under way, its requests read, and somebody has asked about it."""
    under_way = [batch.status == "in_progress" for batch in batches_server.batches.values()]
    return "look" in batches_server.calls and under_way == [True]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_leaves_the_batch_running_and_says_how_to_go_on(
    number, code, batches_server, batches_start
):
    batches_server.held.set()
    process = batches_start()
    deadline = time.monotonic() + 30
    while not is_looked_at(batches_server):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(number)
    _, stderr = process.communicate(timeout=10)
    assert process.returncode == code
    assert "the same command continues" in stderr
    n_asked = len(batches_server.batches["batch_0"].lines)
    assert f"Not stopped: batch_0, with {n_asked} requests" in stderr, stderr
    assert "Traceback" not in stderr
    assert batches_server.batches["batch_0"].status == "in_progress"
    batches_server.held.clear()
    again = batches_start()
    _, stderr = again.communicate(timeout=60)
    assert again.returncode == 0, stderr
    assert len(batches_server.batches) == 1
    assert len(batches_server.requests) == n_asked


def test_batches_of_answers_that_a_run_writes_are_named_too(
    batches_server, batches_start, tmp_path
):
    batches_server.held.set()
    process = batches_start("--set", "retrieve=[bm25]", "--set", "generate={k: 2}")
    deadline = time.monotonic() + 30
    while not is_looked_at(batches_server):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=10)
    assert process.returncode == 130
    n_asked = len(batches_server.batches["batch_0"].lines)
    assert list((tmp_path / "out" / "generated" / "journal").glob("batches-*"))
    assert f"Not stopped: batch_0, with {n_asked} requests" in stderr, stderr


def test_an_endpoint_without_batches_is_one_line(tide_server, run_tiny):
    ran = run_tiny(tide_server, "support", "--set", "run.executor=batch", "--quiet")
    assert ran.code == 2
    assert "run.executor: local" in ran.err
    assert "Traceback" not in ran.err


def test_a_plan_is_at_half_price(tide_server, run_tiny):
    price = ["--set", "models.default.price={input: 100, output: 100}", "--dry-run", "--json"]
    local = run_tiny(tide_server, "support", *price).rows
    batch = run_tiny(tide_server, "support", *price, "--set", "run.executor=batch").rows
    assert [row["cost"] for row in batch] == [pytest.approx(row["cost"] / 2) for row in local]


# A run that was killed or stopped can be read as partial results, and what it spent is kept.
AT_ONCE = ("--set", "run.concurrency=1", "--set", "run.cache=false")
PRICED = ("--set", "models.default.price={input: 10, output: 10}")
ASKED = 4  # of the six calls of `support`; the fifth never gets its reply


@pytest.fixture
def stopped(tide_brain, tiny, environment, tmp_path):
    """`stopped(signal)`: a run over `tiny`, into `out`, that got it at its fifth call.

    Gives the server, which answers everything from now on.
    """
    servers = []

    def stop(number, *arguments):
        server = MockServer(brain=tide_brain)
        servers.append(server.__enter__())
        process = None

        def fault(index, body):
            if index == ASKED and process is not None:
                os.kill(process.pid, number)
                return Hang(0.3)
            return None

        server.faults = fault
        data = ["--topics", "tiny/topics.tsv", "--passages", "tiny/passages.jsonl"]
        data += ["--runs", "tiny/one.jsonl", "--runs", "tiny/two.jsonl"]
        model = [
            "--model", "hosted_vllm/mock", "--set", f"models.default.api_base={server.base_url}",
        ]  # fmt: skip
        command = ["run", "support", *data, *model, *AT_ONCE, *PRICED, "--out", "out", "--quiet"]
        process = start(
            *JUDGE, *command, *arguments, env=environment, cwd=tmp_path, stdout=DEVNULL,
            stderr=DEVNULL,
        )  # fmt: skip
        process.wait(timeout=60)
        server.faults = None
        return server, command

    yield stop
    for server in servers:
        server.__exit__(None, None, None)


def bytes_of(folder):
    return {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def precision(ran):
    wanted = ("all", "support_precision")
    return {r["run_id"]: r for r in ran.rows if (r["topic_id"], r["measure"]) == wanted}


def spend_of(folder, rows_of):
    return [
        (row["start"], row["stage"], row["requests"], row["from_journal"])
        for row in rows_of(folder / "spend.jsonl")
    ]


@pytest.mark.parametrize(("number", "known"), [(signal.SIGKILL, ASKED), (signal.SIGINT, ASKED + 1)])
def test_a_stopped_run_is_read_as_partial_results_and_goes_on(
    number, known, stopped, judge, tmp_path, rows_of
):
    server, command = stopped(number)
    out = tmp_path / "out"
    assert not (out / "manifest.json").exists()
    before = bytes_of(out)
    ran = judge("score", "out", "--json")
    assert ran.code == 0, ran.err
    assert "out: stopped run, 4 of 6 judged: partial; `judge run`" in ran.err
    means = precision(ran)
    one, two = means["one"], means["two"]
    assert (one["n"], one["n_unjudged"], one["low"]) == (3, 0, one["value"])
    assert (two["n_unjudged"] > 0, two["low"] < two["high"]) == (True, True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert judge("score", out, "--json", cwd=elsewhere).rows == ran.rows
    compared = judge("compare", "out")
    assert (compared.code, "4 of 6 judged: partial" in compared.err) == (0, True)
    assert bytes_of(out) == before
    assert len(server.requests) == ASKED + 1

    whole = judge(*command)
    assert whole.code == 0, whole.err
    assert len(server.requests) == ASKED + 1 + 2
    final = precision(judge("score", "out", "--json"))["two"]
    assert two["low"] <= final["value"] == final["low"] <= two["high"]
    rows = rows_of(out / "spend.jsonl")
    assert spend_of(out, rows_of) == [
        (1, "support", known, number == signal.SIGKILL),
        (2, "support", 2, False),
    ]
    assert (rows[0]["prompt_tokens"] > 0, rows[0]["model"]) == (True, "hosted_vllm/mock")
    total = sum(row["cost"] for row in rows)
    costs = [format_money(dollars) for dollars in (rows[1]["cost"], total)]
    assert f"0 missing, {costs[0]} ({costs[1]} in all starts)\n" in whole.err
    again = judge(*command)
    assert f"0 missing, $0 ({costs[1]} in all starts)\n" in again.err
    assert len(rows_of(out / "spend.jsonl")) == 2


def test_a_stopped_run_whose_input_changed_is_not_read(stopped, judge, tmp_path):
    stopped(signal.SIGKILL)
    with (tmp_path / "tiny" / "one.jsonl").open("a", encoding="utf-8") as file:
        file.write("\n")
    ran = judge("score", "out")
    assert (ran.code, ran.out) == (2, "")
    assert "tiny/one.jsonl: has changed since the run read it; needed to read" in ran.err


# A journal that somebody edited is named by its line, and all the others are kept.
def relabelled(line):
    row = json.loads(line)
    row["v"]["verdicts"][0]["label"] = "ful"
    return json.dumps(row).encode() + b"\n"


def another_call(line):
    row = json.loads(line)
    row["p"][0][2] = "many"
    return json.dumps(row).encode() + b"\n"


def one_verdict_more(line):
    row = json.loads(line)
    row["v"]["verdicts"] *= 2
    return json.dumps(row).encode() + b"\n"


EDITS = {
    "a label of no scale": (relabelled, "label: wanted one of none, partial, full, got 'ful'"),
    "tokens that are none": (another_call, "p.0.2: wanted a whole number, got 'many'"),
    "a torn line": (lambda line: line[: len(line) // 2] + b"\n", "not JSON"),
    "a verdict too many": (one_verdict_more, "verdicts: 2 of them, wanted 1"),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edited_line_is_named_and_without_it_only_that_item_is_asked_again(
    name, tide_server, run_tiny, tmp_path, files_of
):
    edit, what = EDITS[name]
    given = (tide_server, "support", "--set", "run.cache=false", "--quiet")
    assert run_tiny(*given).code == 0
    before, n_asked = files_of(tmp_path / "out"), len(tide_server.requests)
    (journal,) = (tmp_path / "out" / "journal").glob("support-*.jsonl")
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines[:2], edit(lines[2]), *lines[3:]]))
    ran = run_tiny(*given)
    assert (ran.code, ran.out) == (2, "")
    prefix = f"judge: out/journal/{journal.name}:3: not a journal line ("
    assert ran.err.startswith(prefix), ran.err
    assert what in ran.err
    assert "delete this line and run again" in ran.err
    assert len(tide_server.requests) == n_asked
    journal.write_bytes(b"".join([*lines[:2], *lines[3:]]))
    again = run_tiny(*given)
    assert again.code == 0, again.err
    assert len(tide_server.requests) == n_asked + 1
    assert files_of(tmp_path / "out") == before


# An edited result file is an error by its name, whatever reads it; what may change still reads.
@pytest.fixture
def results(tide_server, run_tiny, tmp_path):
    """Nuggets and support of the tiny collection: support_precision is .5 in both runs."""
    assert run_tiny(tide_server, "nuggets,support", "--quiet").code == 0
    return tmp_path / "out"


def edit(path, old, new):
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


READ = {
    "gate": ("scores.jsonl", ["gate", "out", "--min", "support_precision=0.9"]),
    "gate with a baseline": ("scores.jsonl", ["gate", "again", "--baseline", "out"]),
    "compare": ("scores.jsonl", ["compare", "out"]),
    "score": ("support.jsonl", ["score", "out"]),
    "agree": ("support.jsonl", ["agree", "out/support.jsonl", "again"]),
    "agree by folder": ("support.jsonl", ["agree", "again", "out", "--kind", "support"]),
    "show": ("assignments.jsonl", ["show", "out", "one", "t1"]),
    "a bank of another run": (
        "nuggets.jsonl",
        [
            *("run", "nuggets", "--nuggets", "out/nuggets.jsonl", "--topics", "tiny/topics.tsv"),
            *("--runs", "tiny/one.jsonl", "--model", "lexical", "--out", "new"),
        ],
    ),
}
CHANGES = {
    "scores.jsonl": ('"value":0.5', '"value":1.0'),
    "support.jsonl": ('"label":"none","weight":0.0', '"label":"full","weight":1.0'),
    "assignments.jsonl": ("not_support", "support"),
    "nuggets.jsonl": ("vital", "okay"),
}
OF_PLUGINS = {
    "report": ("assignments.jsonl", ["report", "out"]),
    "export": ("scores.jsonl", ["export", "autojudge", "out", "aj"]),
}
CASES = [pytest.param(*case, id=name) for name, case in READ.items()]


CASES += [pytest.param(*c, id=n, marks=pytest.mark.whole) for n, c in OF_PLUGINS.items()]


@pytest.mark.parametrize(("name", "command"), CASES)
def test_an_edited_file_is_an_error_by_its_name(results, judge, tmp_path, name, command):
    shutil.copytree(results, tmp_path / "again")
    edit(results / name, *CHANGES[name])
    ran = judge(*command)
    assert ran.code == 2, ran.out
    assert f"out/{name}: was edited after the run wrote it" in ran.err
    assert "Traceback" not in ran.err


def test_the_run_started_again_writes_what_was_edited_anew(results, judge, run_tiny, tide_server):
    before = (results / "scores.jsonl").read_bytes()
    edit(results / "scores.jsonl", *CHANGES["scores.jsonl"])
    assert run_tiny(tide_server, "nuggets,support", "--quiet").code == 0
    assert (results / "scores.jsonl").read_bytes() == before
    assert judge("gate", "out", "--min", "support_precision=0.5").code == 0


def test_results_of_an_earlier_version_have_no_digests_and_read(results, judge):
    manifest = json.loads((results / "manifest.json").read_bytes())
    digests = manifest.pop("files")
    assert {"scores.jsonl", "support.jsonl", "nuggets.jsonl", "unjudged.jsonl"} <= digests.keys()
    (results / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    edit(results / "scores.jsonl", *CHANGES["scores.jsonl"])
    assert judge("gate", "out", "--min", "support_precision=0.9").code == 0
