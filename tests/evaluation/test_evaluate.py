"""`nuggetjudge.evaluate`: as by files, by programs or one judge, with a bank, compared."""

import asyncio
import gc
import json
import warnings
from pathlib import Path

import orjson
import pytest
from mock_server import MockServer

import nuggetjudge as nj
from nuggetjudge.records.reading.problems import InputError

DEMO = Path(__file__).resolve().parents[2] / "tests" / "collection"
GROUNDED = DEMO / "grounded.yaml"


def lines(path):
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


@pytest.fixture(scope="module")
def demo():
    """The demo's runs as samples: by sentence with the ids that are cited, by system."""
    texts = {row["docid"]: row for row in lines(DEMO / "passages.jsonl")}
    banks = {row["qid"]: row["nuggets"] for row in lines(DEMO / "nuggets.jsonl")}
    topics = dict(line.split("\t") for line in (DEMO / "topics.tsv").read_text().splitlines())
    return {
        path.stem: [
            {
                "id": row["topic_id"], "question": topics[row["topic_id"]],
                "answer": row["answer"], "contexts": [texts[name] for name in row["references"]],
                "nuggets": banks[row["topic_id"]],
            }
            for row in lines(path)
        ]
        for path in sorted((DEMO / "runs").iterdir())
    }  # fmt: skip


def values(result):
    return {(r.run_id, r.topic_id, r.measure): (r.value, r.n, r.low) for r in result.scores}


def test_the_same_answers_score_the_same_in_memory_and_from_files(demo, result):
    in_memory = nj.evaluate(demo, ["nuggets", "support"], model="lexical")
    answered = {
        row["topic_id"] for of_run in map(lines, (DEMO / "runs").iterdir()) for row in of_run
    }
    assert {topic for _, topic, _ in values(in_memory)} == {*answered, "all"}
    assert values(in_memory) == values(result)
    shown = str(in_memory.show("miscited", "demo-bridges", passages=True))
    assert demo["miscited"][0]["answer"][0]["text"][:40] in shown
    assert "<td" in in_memory._repr_html_()


@pytest.mark.whole
def test_answers_in_memory_have_a_report(demo, tmp_path):
    in_memory = nj.evaluate(demo, ["nuggets", "support"], model="lexical")
    page = in_memory.report(tmp_path / "page.html", open=False).read_text("utf-8")
    assert "miscited" in page


def test_all_programs_that_samples_have_something_for_are_run():
    sample = {
        "question": "what makes tides", "answer": "The moon makes tides [1].",
        "contexts": ["The moon makes tides."], "nuggets": ["the moon makes tides"],
        "key_points": ["the moon makes tides"], "questions": ["What makes tides?", "How high?"],
    }  # fmt: skip
    result = nj.evaluate([sample], model="lexical")
    assert result.manifest["config"]["program"] == ["nuggets", "support", "coverage", "keypoints"]
    scores = {row.measure: row.value for row in result.rows()}
    assert scores["V_strict"] == scores["support_precision"] == scores["KPR"] == 1.0
    assert scores["coverage"] is not None
    for name, field in (
        ("support", "contexts"),
        ("coverage", "questions"),
        ("keypoints", "key_points"),
    ):
        with pytest.raises(InputError, match=f"{name} needs {field}"):
            nj.evaluate([{"question": "q", "answer": "a", "nuggets": ["n"]}], name, model="lexical")


def test_a_judge_labels_each_sample_by_the_fields_that_it_reads():
    given = [
        {"claim": "The moon makes tides.", "source": "The moon makes the tides rise."},
        {"claim": "Cheese makes tides.", "source": ["Boats", "sail."]},
        {"claim": "x", "source": "y", "failed": "refused"},
    ]
    result = nj.evaluate(given, GROUNDED, model="lexical")
    assert [row["label"] for row in result.judgements["labels"]] == ["yes", "no", None]
    own = nj.judges.CustomJudge(GROUNDED, model="lexical")
    assert nj.evaluate(given, own, model="lexical").scores == result.scores
    qa = [{"user_input": "what makes tides", "contexts": ["The moon makes tides.", "Boats."]}]
    rated = nj.evaluate(qa, "answerability", model="lexical")
    assert next(row["label"] for row in rated.judgements["labels"]) is not None
    named = nj.evaluate(
        [{"q": "what makes tides", "text": "The moon."}], "items", judge="relevance",
        fields={"question": "q", "passage": "text"}, model="lexical",
    )  # fmt: skip
    assert named.n_judged == 1


def test_a_name_or_field_that_a_judge_lacks_is_told():
    with pytest.raises(InputError, match=r"no task or judge 'nugets'.*did you mean nuggets\?"):
        nj.evaluate([], "nugets")
    with pytest.raises(
        InputError,
        match=r"samples\[0\]: no claim; the judge grounded needs .*did you mean claim",
    ):
        nj.evaluate([{"clam": "a", "source": "b"}], GROUNDED, model="lexical")  # fmt: skip


def variant(answer, question="what makes tides", context="The moon makes tides every day."):
    return {"question": question, "answer": answer, "contexts": [context]}


def test_a_bank_is_kept_and_only_what_it_lacks_is_made(tmp_path):
    bank = tmp_path / "bank.jsonl"
    one = nj.evaluate([variant("The moon.")], "nuggets", bank=bank, model="lexical")
    (first,) = before = lines(bank)
    assert first["query"] == "what makes tides"
    assert first["nuggets"]
    new = {"question": "what do bees eat", "context": "Bees eat nectar and pollen."}
    samples = [
        variant("Moon", context="Other words of the moon and tides."),
        variant("Nectar", **new),
    ]
    two = nj.evaluate(samples, "nuggets", bank=bank, model="lexical")
    assert lines(bank)[:1] == before
    assert [row["query"] for row in lines(bank)] == ["what makes tides", "what do bees eat"]
    assert {row["topic_id"] for row in lines(two.folder / "relevance.jsonl")} == {
        lines(bank)[1]["qid"]
    }
    judged = [
        row["nuggets"] for row in one.judgements["assignments"] + two.judgements["assignments"]
    ]
    assert [n["text"] for n in judged[0]] == [n["text"] for n in judged[1]]
    other = '{"qid": "t", "query": "one", "nuggets": [{"text": "a", "importance": "vital"}]}'
    bank.write_text(other, encoding="utf-8")
    with pytest.raises(InputError, match=r"bank.jsonl: topic 't' is 'one', but "):
        nj.evaluate([{**variant("x"), "id": "t"}], "nuggets", bank=bank, model="lexical")


def test_systems_in_one_call_are_judged_by_nuggets_of_all_their_contexts():
    two = {
        "a": [variant("The moon makes tides.")],
        "b": [variant("The sun helps tides.", context="The sun helps to make tides.")],
    }
    result = nj.evaluate(two, "nuggets", model="lexical")
    (bank,) = lines(result.folder / "nuggets.jsonl")
    texts = " ".join(nugget["text"] for nugget in bank["nuggets"])
    assert "moon" in texts
    assert "sun" in texts


def test_a_frame_has_a_row_a_question_and_no_value_for_what_was_not_judged():
    pytest.importorskip("pandas")
    rows = [{"id": "e", "question": "why", "answer": "x", "nuggets": ["x y"]}]
    rows += [{"id": "n", "question": "how", "failed": "error", "nuggets": ["x y"]}]
    frame = nj.evaluate(rows, "nuggets", model="lexical").frame(["V_strict"]).set_index("topic_id")
    assert frame.question.to_dict() == {"e": "why", "n": "how"}
    assert frame.V_strict.isna().to_dict() == {"e": False, "n": True}
    assert frame.reasons.to_dict() == {"e": "", "n": "error 1"}


def test_a_temporary_folder_goes_with_its_result_and_not_before():
    result = nj.evaluate([variant("x [1].")], "support", model="lexical")
    folder = result.folder
    gc.collect()
    assert {row.measure for row in result.rows("support_precision")} == {"support_precision"}
    with pytest.raises(InputError, match="no measure 'V'; there is support_precision"):
        result.rows("V")
    with pytest.raises(InputError, match="no run 'answrs'; there is answers; did you mean answers"):
        result.frame(runs=["answrs"])
    del result
    gc.collect()
    assert not folder.parent.exists()


def test_judgements_that_fail_are_no_scores_and_are_asked_again_in_the_same_folder(tmp_path):
    def brain(body):
        return (
            '{"verdict": "perhaps"}'
            if "nectar" in orjson.dumps(body).decode()
            else {"verdict": "full"}
        )

    samples = [
        variant("The moon makes tides [1]."),
        variant("Bees eat nectar [1].", "what do bees eat"),
    ]
    with MockServer(brain) as server:
        model = {"model": "hosted_vllm/mock", "api_base": server.base_url}
        given = {"model": model, "cache": False, "out": tmp_path / "out"}
        result = nj.evaluate(samples, "support", **given)
        lost, judged = sorted(result.rows(["support_precision"]), key=lambda row: row.topic_id)
        assert (judged.value, judged.is_judged) == (1.0, True)
        assert (lost.value, lost.n_unjudged) == (None, 1)
        assert sum(lost.reasons.values()) == 1
        n_before = len(server.requests)
        server.brain = lambda body: {"verdict": "none"}
        again = nj.evaluate(samples, "support", **given)
        assert len(server.requests) == n_before + 1
        assert [row.value for row in again.rows(["support_precision"])].count(None) == 0


def test_a_running_loop_goes_on_while_it_is_awaited():
    async def notebook():
        beats = 0

        async def beating():
            nonlocal beats
            while True:
                beats += 1
                await asyncio.sleep(0.001)

        heart = asyncio.create_task(beating())
        result = await nj.aevaluate([variant("x [1].")], "support", model=model, cache=False)
        heart.cancel()
        return result, beats

    with MockServer(latency_s=0.5) as server:  # no beat while it answers, were the loop blocked
        model = {"model": "hosted_vllm/mock", "api_base": server.base_url}
        result, beats = asyncio.run(notebook())
    assert result.is_complete
    assert beats > 10


def test_one_that_is_cancelled_asks_nothing_more():
    async def main(server):
        model = {"model": "hosted_vllm/mock", "api_base": server.base_url, "concurrency": 1}
        samples = [variant(f"x {i} [1].", f"question {i}") for i in range(60)]
        work = nj.aevaluate(samples, "support", model=model, cache=False)
        task = asyncio.create_task(work)
        while len(server.requests) < 2:
            await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        n_asked = len(server.requests)
        await asyncio.sleep(0.8)
        assert len(server.requests) <= n_asked + 1

    with MockServer(latency_s=0.05) as server:
        asyncio.run(asyncio.wait_for(main(server), 20))


CITED = {"question": "q", "answer": "Wind moves it [1].", "contexts": ["Wind moves it."]}


def test_word_overlap_in_the_place_of_a_model_is_said_where_nobody_named_it(tmp_path):
    (tmp_path / "topics.jsonl").write_text('{"id": "t", "title": "q"}\n', "utf-8")
    row = {"run_id": "a", "topic_id": "t", "references": ["p"], "answer": [{"text": "x"}]}
    (tmp_path / "runs.jsonl").write_text(json.dumps(row), "utf-8")
    files = {name: tmp_path / f"{name}.jsonl" for name in ("topics", "runs")}
    said = "No model named: the lexical judge answers"
    with pytest.warns(UserWarning, match=said) as warned:
        nj.evaluate([CITED], "support")
    assert [each.filename for each in warned] == [__file__]
    with pytest.warns(UserWarning, match=said) as warned:
        nj.run(program="support", out=tmp_path / "out", **files)
    assert [each.filename for each in warned] == [__file__]
    with pytest.warns(UserWarning, match=said):  # a setting of a judge names no model
        nj.evaluate([CITED], "support", **{"judges.support.titles": False})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nj.evaluate([CITED], "support", model="lexical")
        nj.evaluate([CITED], "support", **{"models.own.model": "lexical",
                                           "judges.support.model": "own"})  # fmt: skip
