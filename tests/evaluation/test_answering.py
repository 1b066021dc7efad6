"""A function that answers: several calls at a time, one that fails is unjudged, none made twice."""

import asyncio
import os
import signal
import threading
import time

import orjson
import pytest
from mock_server import MockServer
from processes import start

import nuggetjudge as nj
from nuggetjudge.evaluation.samples.asking import Asking
from nuggetjudge.evaluation.samples.reading import read_questions
from nuggetjudge.records.reading.problems import InputError

QUESTIONS = [f"question {i}" for i in range(6)]


def rag(question):
    return {"answer": f"Tides turn on {question} [1].", "contexts": ["Tides turn."]}


def asked(tmp_path, answer, questions=QUESTIONS, **options):
    asking = Asking(tmp_path / "samples" / "kept.jsonl", **{"at_once": 3, **options})
    return asking, list(asking.samples("s", answer, read_questions(questions)))


def test_a_call_that_fails_is_unjudged_with_its_reason_and_never_worth_0():
    def shaky(question):
        if question.endswith("2"):
            raise TimeoutError("no index")
        return {"answer": "Tides turn [1].", "contexts": ["Tides turn."]}

    with pytest.warns(UserWarning, match=r"1 of 6 calls .*samples\[2\]: TimeoutError: no index"):
        result = nj.evaluate(QUESTIONS, "support", answer=shaky, model="lexical")
    rows = result.rows(["support_precision"])
    assert [(row.value, row.is_judged, row.reasons) for row in rows if row.value is None] == [
        (None, False, {"error": 1})
    ]
    assert [row.value for row in rows].count(1.0) == 5
    assert {row.run_id for row in rows} == {"shaky"}
    assert not result.is_complete


HALF = "\ud83d"  # of a surrogate pair, as text[:n] in JavaScript or a cut JSON escape leaves it
BROKEN = {
    "an answer": (f"Tides {HALF}turn.", r"samples\[2\]\.answer: character 6 "),
    "a context": (
        {"answer": "Tides turn [1].", "contexts": [f"Tides{HALF}."]},
        r"samples\[2\]\.contexts\[0\]\.text: character 5 ",
    ),
}


@pytest.mark.parametrize(("broken", "message"), BROKEN.values(), ids=BROKEN.keys())
def test_half_a_surrogate_pair_that_a_function_returns_fails_one_question(broken, message):
    def cut(question):
        return broken if question.endswith("2") else rag(question)

    with pytest.warns(UserWarning, match=rf"1 of 6 calls .*{message}"):
        result = nj.evaluate(QUESTIONS, "support", answer=cut, model="lexical")
    lost = [row for row in result.rows(["support_precision"]) if not row.is_judged]
    assert [row.reasons for row in lost] == [{"error": 1}]


@pytest.mark.parametrize("is_async", [True, False])
def test_as_many_calls_are_under_way_as_were_allowed_and_the_order_stays(tmp_path, is_async):
    under_way, most, lock = 0, 0, threading.Lock()

    def began(n):
        nonlocal under_way, most
        with lock:
            under_way += n
            most = max(most, under_way)

    def slow(question):
        began(1)
        time.sleep(0.1 if question.endswith("0") else 0.02)  # the first ends last
        began(-1)
        return rag(question)

    async def slow_too(question):
        began(1)
        await asyncio.sleep(0.1 if question.endswith("0") else 0.02)
        began(-1)
        return rag(question)

    _, samples = asked(tmp_path, slow_too if is_async else slow)
    assert [sample.question for sample in samples] == QUESTIONS
    assert most == 3


def test_one_slow_call_does_not_hold_up_the_others_nor_memory(tmp_path):
    begun, let_go = [], threading.Event()

    def stuck(question):
        begun.append(question)
        if question == "question 0":
            let_go.wait(10)
        return rag(question)

    watching = threading.Timer(0.6, let_go.set)
    watching.start()
    _, samples = asked(tmp_path, stuck, (f"question {i}" for i in range(40)))
    assert len(samples) == 40
    assert len(begun) == 40


def test_what_was_answered_is_not_asked_again_but_what_failed_is(tmp_path):
    calls = []

    def shaky(question):
        calls.append(question)
        if len(calls) == 3:
            raise ValueError("once")
        return rag(question)

    _, first = asked(tmp_path, shaky, at_once=1)
    file = tmp_path / "samples" / "kept.jsonl"
    with file.open("ab") as kept:
        kept.write(b'{"key": "torn')  # by a kill
    asking, second = asked(tmp_path, shaky, at_once=1)
    assert calls == [*QUESTIONS, "question 2"]
    assert asking.n_called == 1
    assert [s.failed for s in first] == ["", "", "error", "", "", ""]
    assert [s.answer for s in second] == [rag(q)["answer"] for q in QUESTIONS]
    assert second[0].contexts == first[0].contexts
    assert [orjson.loads(line)["answer"] for line in file.read_bytes().splitlines()][-1].endswith(
        "question 2 [1]."
    )


def test_what_one_system_answered_is_no_answer_of_another(tmp_path):
    asking = Asking(tmp_path / "kept.jsonl", at_once=1)
    for name in ("one", "other"):
        answering = {"answer": f"Tides by {name} [1].", "contexts": ["Tides turn."]}
        given = asking.samples(name, lambda _, row=answering: row, read_questions(QUESTIONS[:1]))
        assert [sample.answer for sample in given] == [answering["answer"]]


@pytest.mark.parametrize("returned", [None, 3, {"text": "x"}, {"answer": None}])
def test_something_returned_that_is_no_answer_names_the_sample(tmp_path, returned):
    with pytest.raises(InputError, match=r"samples\[0\]: answer\(\) returned"):
        asked(tmp_path, lambda question: returned)


def test_what_a_coroutine_uses_is_of_the_loop_that_awaits_the_evaluation():
    async def main():
        loop = asyncio.get_running_loop()

        async def answer(question):
            assert asyncio.get_running_loop() is loop
            return rag(question)

        return await nj.aevaluate(QUESTIONS[:2], "support", answer=answer, model="lexical")

    assert asyncio.run(main()).is_complete


SCRIPT = """
import sys, time
import nuggetjudge as nj
out, url, log, pause = sys.argv[1:]
def rag(question):
    time.sleep(float(pause))
    with open(log, "a") as file:
        file.write(question + "\\n")
    return {"answer": f"Tides turn on {question} [1].", "contexts": ["Tides turn."]}
found = nj.evaluate(
    [f"question {i}" for i in range(60)], "support", answer=rag, at_once=4, out=out, name="rag",
    model={"model": "hosted_vllm/mock", "api_base": url, "concurrency": 2}, cache=False,
)
print(found.n_judged, found.n_unjudged)
"""


def wait_until(holds):
    for _ in range(600):
        if holds():
            return
        time.sleep(0.02)
    raise AssertionError("waited in vain")


@pytest.mark.slow
def test_killed_while_answering_and_while_judging_it_asks_nobody_twice(tmp_path):
    log, script = tmp_path / "log", tmp_path / "script.py"
    script.write_text(SCRIPT)
    log.touch()
    with MockServer(latency_s=0.02) as server:
        at = (script, tmp_path / "out", server.base_url, log)
        first = start(*at, 0.05)
        wait_until(lambda: len(log.read_text().splitlines()) >= 20)
        os.kill(first.pid, signal.SIGKILL)
        first.wait()
        n_answered = len(log.read_text().splitlines())
        assert not server.requests
        second = start(*at, 0)
        wait_until(lambda: len(server.requests) >= 20)
        os.kill(second.pid, signal.SIGKILL)
        second.wait()
        third = start(*at, 0, stdout=-1)
        out, _ = third.communicate(timeout=60)
        assert out.split() == ["60", "0"]
        asked = log.read_text().splitlines()
        assert len(asked) <= 60 + 4  # those under way when it was killed
        assert n_answered < 60
        texts = [orjson.dumps(r.body["messages"]) for r in server.requests if r.finished]
        assert len(texts) - len(set(texts)) <= 2  # as above
        assert len(set(texts)) == 60


@pytest.mark.slow
def test_ctrl_c_ends_it_though_a_call_never_returns(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, time\nimport nuggetjudge as nj\n"
        "def rag(question):\n    print('asked', flush=True)\n    time.sleep(600)\n"
        "nj.evaluate(['a', 'b'], 'support', answer=rag, model='lexical')\n"
    )
    process = start(script, stdout=-1, stderr=-1, real=True)
    process.stdout.readline()
    began = time.monotonic()
    os.kill(process.pid, signal.SIGINT)
    _, stderr = process.communicate(timeout=20)
    assert process.returncode != 0
    assert "KeyboardInterrupt" in stderr
    assert time.monotonic() - began < 10
