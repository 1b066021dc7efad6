"""vLLM in this process: the same judgements as through its server, and typed errors."""

import asyncio
import json
import math
import subprocess
import sys

import pytest

from nuggetjudge.backends import open_backend
from nuggetjudge.backends.errors import EndpointUnusable, JudgeError
from nuggetjudge.backends.vllm_engine import _engines
from nuggetjudge.judges import NuggetAssigner, SupportJudge
from nuggetjudge.records.judgements import Reason

SENTENCES = [f"Deck number {n} sways in the wind." for n in range(16)]
PASSAGE = "Wind sheds vortices behind a deck. They push it from side to side. " * 8


def judged(model, sentences=SENTENCES, passage=PASSAGE):
    """The verdict and provenance of each sentence, all asked at one time; the backend's usage."""

    async def ask():
        backend = open_backend(model)
        try:
            judge = SupportJudge(backend=backend)
            asked = [judge.verdict(sentence=s, passage=passage) for s in sentences]
            return await asyncio.gather(*asked), backend.budget.usage
        finally:
            await backend.aclose()

    return asyncio.run(ask())


def test_labels_and_their_probabilities_are_those_that_the_server_gives(in_process, vllm_url):
    served = in_process.model_copy(
        update={
            "model": "hosted_vllm/tiny", "engine": None, "vllm": {}, "api_base": vllm_url,
        }
    )  # fmt: skip
    here, _ = judged(in_process.model_copy(update={"logprobs": True}))
    there, _ = judged(served.model_copy(update={"logprobs": True}))
    for (mine, call), (other, served_call) in zip(here, there, strict=True):
        assert mine.probabilities == pytest.approx(other.probabilities, abs=0.02)  # bfloat16
        assert math.fsum(mine.probabilities.values()) == pytest.approx(1)
        assert call.prompt_tokens == served_call.prompt_tokens > 500
        assert call.finish_reason == served_call.finish_reason == "stop"
        assert call.completion_tokens == served_call.completion_tokens
    assert len({round(mine.probabilities["full"], 6) for mine, _ in here}) > 3
    sure = [i for i, (mine, _) in enumerate(here) if max(mine.probabilities.values()) > 0.6]
    assert sure
    assert [here[i][0].label for i in sure] == [there[i][0].label for i in sure]


def test_tokens_of_a_shared_prefix_count_as_cached(in_process):
    found, usage = judged(in_process.model_copy(update={"concurrency": 1}))
    assert usage.replies == len(found) == 16
    assert all(call.cached_tokens % 32 == 0 for _, call in found)  # whole blocks
    assert usage.cached_tokens > 0.8 * usage.prompt_tokens
    assert usage.known_cost is None


def test_a_window_of_labels_is_constrained_by_its_own_schema(in_process):
    nuggets = [f"Fact {n}." for n in range(7)]
    judge = NuggetAssigner(model=in_process.model_copy(update={"max_tokens": 400}))
    verdicts = judge(question="Why?", answer=PASSAGE, nuggets=nuggets).verdicts
    assert len(verdicts) == 7


def test_a_reply_cut_at_its_limit_is_truncated(in_process):
    with pytest.raises(JudgeError) as told:
        judged(in_process.model_copy(update={"max_tokens": 2}), SENTENCES[:1])
    assert told.value.reason == Reason.TRUNCATED


def test_a_prompt_longer_than_the_context_is_an_error_of_that_judgement_alone(in_process):
    async def ask():
        judge = SupportJudge(model=in_process)
        texts = [PASSAGE, PASSAGE * 20, PASSAGE]
        asked = [judge.verdict(sentence="Decks sway.", passage=text) for text in texts]
        try:
            return await asyncio.gather(*asked, return_exceptions=True)
        finally:
            await judge.backend.aclose()

    first, long, last = asyncio.run(ask())
    assert first[0].label == last[0].label
    assert long.reason == Reason.ERROR
    assert "longer than the model's context" in long.detail


def test_a_parameter_that_vllm_does_not_know_ends_the_run_and_not_the_engine(in_process):
    wrong = in_process.model_copy(update={"extra_body": {"top_kk": 3}})
    with pytest.raises(EndpointUnusable, match=r"rejects the request: .*top_kk"):
        judged(wrong, SENTENCES[:2])
    found, _ = judged(in_process.model_copy(update={"extra_body": {"top_k": 3}}), SENTENCES[:1])
    assert len(found) == 1


def test_a_model_that_is_not_there_is_one_clear_error(in_process, tmp_path):
    missing = in_process.model_copy(update={"model": str(tmp_path / "none")})
    with pytest.raises(EndpointUnusable, match=r"vLLM cannot load '.*none': ") as told:
        judged(missing, SENTENCES[:2])
    assert len(str(told.value).splitlines()) == 2
    assert len(_engines) == 1  # that of the other tests


def test_seeds_are_left_out_on_a_cpu_where_they_end_the_engine(in_process):
    seeded = in_process.model_copy(update={"seed": 7, "temperature": 1.0, "concurrency": 64})
    sentences = [f"{n} {sentence}" for n in range(8) for sentence in SENTENCES]
    found, _ = judged(seeded, sentences, PASSAGE * 3)
    assert len(found) == 128


def test_a_cancelled_question_leaves_the_engine_to_the_others(in_process):
    async def ask():
        judge = SupportJudge(model=in_process.model_copy(update={"max_tokens": None}))
        doomed = [  # more than the engine can be done with before they are given up
            asyncio.ensure_future(judge.verdict(sentence=sentence, passage=f"x {n}"))
            for sentence in SENTENCES
            for n in range(60)
        ]
        await asyncio.sleep(0.05)
        for task in doomed:
            task.cancel()
        ended = await asyncio.gather(*doomed, return_exceptions=True)
        verdict, _ = await judge.verdict(sentence="Decks sway.", passage=PASSAGE)
        await judge.backend.aclose()
        return ended, verdict

    ended, verdict = asyncio.run(ask())
    assert any(isinstance(error, asyncio.CancelledError) for error in ended)
    assert verdict.label in ("full", "partial", "none")


def test_entries_with_one_model_and_options_share_one_engine(in_process):
    async def ask():
        models = [in_process, in_process.model_copy(update={"temperature": 1.0})]
        judges = [SupportJudge(model=model) for model in models]
        for judge in judges:
            await judge.verdict(sentence="Decks sway.", passage=PASSAGE)
        shared = [engine for engine, _ in _engines.values()]
        for judge in judges:
            await judge.backend.aclose()
        return shared

    assert len(asyncio.run(ask())) == 1


def test_judge_run_prints_results_alone_and_replays_them_without_the_model(in_process, tmp_path):
    rows = [{"text": text, "citations": [0]} for text in SENTENCES[:5]]
    answer = {"run_id": "one", "topic_id": "t1", "topic": "why", "references": ["p1"]}
    answer |= {"response_length": 30, "answer": rows}
    (tmp_path / "run.jsonl").write_text(json.dumps(answer) + "\n", encoding="utf-8")
    (tmp_path / "passages.jsonl").write_text(
        json.dumps({"docid": "p1", "text": PASSAGE}) + "\n", encoding="utf-8"
    )
    (tmp_path / "topics.tsv").write_text("t1\twhy\n", encoding="utf-8")
    model = in_process.model_dump(mode="json", include={"model", "engine", "max_tokens", "vllm"})
    config = {
        "program": "support",
        "data": {"topics": "topics.tsv", "runs": "run.jsonl", "passages": "passages.jsonl"},
        "models": {"default": model},
        "run": {"cache": str(tmp_path / "cache")},
    }
    (tmp_path / "judge.yaml").write_text(json.dumps(config), encoding="utf-8")

    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "nuggetjudge", "run", "judge.yaml", "--json", *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )

    asked = run("--out", "out")
    assert asked.returncode == 0, asked.stderr
    assert all(json.loads(line) for line in asked.stdout.splitlines())
    replayed = run("--out", "again", "--offline")
    assert replayed.returncode == 0, replayed.stderr
    assert replayed.stdout == asked.stdout
    for name in ("support.jsonl", "scores.jsonl"):
        again = (tmp_path / "again" / name).read_bytes()
        assert again == (tmp_path / "out" / name).read_bytes() != b""
