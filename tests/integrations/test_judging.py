"""Samples judged one by one, as harnesses ask: in rounds, by one judge_set, cache and budget."""

import asyncio
import copy
import threading

import pytest

import nuggetjudge as nj
from nuggetjudge.evaluation.samples.reading import make_sample
from nuggetjudge.plugins.harnesses import judging
from nuggetjudge.plugins.harnesses.judging import SampleJudge
from nuggetjudge.records.reading.problems import InputError

SAMPLES = [
    {
        "question": f"Why does bridge {i} move?",
        "answer": f"Wind moves deck {i}." + " Cables carry load." * (i % 2),
        "nuggets": [f"wind moves deck {i}", "cables carry load"],
    }
    for i in range(24)
]
DECKS = "Wind moves decks. Cables carry load. Iron rusts slowly in the rain."


@pytest.fixture
def n_rounds(monkeypatch):
    """How many evaluations were run; a list, one entry each."""
    made, judge = [], judging.judge_collection

    def counted(config, **options):
        made.append(config.run.out)
        return judge(config, **options)

    monkeypatch.setattr(judging, "judge_collection", counted)
    return made


def scores_at_once(judge, samples):
    async def all_of_them():
        return await asyncio.gather(*map(judge.ascore, samples))

    return asyncio.run(all_of_them())


def together(judge, samples):
    """Their scores, all of them waiting when the round begins."""
    begin = threading.Event()
    judge._rounds._thread.submit(begin.wait, 60)
    waiting = [judge._rounds.submit(make_sample(each, 0), with_feedback=False) for each in samples]
    begin.set()
    return [each.result()[0].score for each in waiting]


def test_many_at_once_are_few_evaluations_with_the_numbers_of_one(n_rounds):
    whole = nj.evaluate(SAMPLES, "nuggets", model="lexical").rows(["V_strict"])
    n_threads = threading.active_count()
    rows = scores_at_once(SampleJudge("V_strict", model="lexical"), SAMPLES)
    assert [row.value for row in rows] == [row.value for row in whole]
    assert {row.value for row in rows} == {0.5, 1.0}
    assert len(n_rounds) <= 3
    assert threading.active_count() <= n_threads + 2
    assert not any(out.exists() for out in n_rounds)  # nothing is left behind


@pytest.mark.parametrize(
    ("measure", "given"),
    [
        ("V_strict", {"nuggets": ["wind moves decks", "lakes freeze"]}),
        (
            "coverage",
            {"questions": ["Do decks move in the wind?", "Why do lakes freeze?"]},
        ),
    ],
)
def test_what_is_made_and_counted_is_that_of_one_evaluation(measure, given):
    answered = {"answer": "Wind moves decks [1].", "contexts": [DECKS, "Lakes are cold."]}
    samples = [{"question": "Why decks?"} | given | answered]
    if measure == "V_strict":  # whoever has no nuggets has them made, though another has some
        samples.append({"question": "Why wind?"} | answered)
    judge = SampleJudge(measure, model="lexical")
    whole = nj.evaluate(samples, judge._rounds._programs, model="lexical").rows(
        [measure], ["answers"]
    )
    rows = together(judge, samples)
    assert [(row.value, row.n, row.low) for row in rows] == [
        (row.value, row.n, row.low) for row in whole
    ]
    assert all(row.n for row in rows)


def test_a_budget_is_for_all_samples_together(model_server):
    entry = {"model": "hosted_vllm/mock", "api_base": model_server.base_url, "retries": 0}
    judge = SampleJudge("V_strict", model=entry, max_calls=3, cache=False)
    rows = [judge.score(sample) for sample in SAMPLES[:2]]
    rows += scores_at_once(judge, SAMPLES[2:6])
    assert [row.is_judged for row in rows].count(True) == 3
    assert len(model_server.requests) == 3
    lost = [row for row in rows if not row.is_judged]
    assert [(row.value, row.n_unjudged, dict(row.reasons)) for row in lost] == [
        (None, 2, {"budget": 1})
    ] * 3


def test_a_failed_judgement_is_no_0_and_of_its_own_sample_alone(refusing):
    judge = SampleJudge("V_strict", model=refusing, cache=False)
    rows = scores_at_once(judge, [SAMPLES[0], SAMPLES[1] | {"answer": "Zebra."}, SAMPLES[2]])
    assert [row.is_judged for row in rows] == [True, False, True]
    assert rows[1].value is None
    assert dict(rows[1].reasons) == {"refused": 1}


def test_a_measure_that_is_not_given_is_told_before_anything_is_asked(model_server):
    entry = {"model": "hosted_vllm/mock", "api_base": model_server.base_url}
    with pytest.raises(InputError, match=r"tasks give V_strict, .*did you mean V_strict\?"):
        SampleJudge("V_strcit", model=entry)
    with pytest.raises(InputError, match=r"support gives .*V_strict is of nuggets"):
        SampleJudge("V_strict", "support", model=entry)
    cited = {"question": "Why?", "answer": "Wind [1].", "contexts": ["Wind moves decks."]}
    judge = SampleJudge("cited_okk", "evidence", model=entry)
    with pytest.raises(InputError, match=r"evidence gives cited_ok, .*did you mean cited_ok"):
        judge.score(cited)
    assert model_server.requests == []


def test_answers_to_one_question_keep_their_own_contexts_and_nuggets(n_rounds):
    judge = SampleJudge("V_strict", model="lexical")
    one = SAMPLES[0]
    same = [one, one | {"answer": "Nothing."}, one | {"nuggets": ["cables carry load"]}]
    assert [row.value for row in together(judge, same)] == [0.5, 0.0, 0.0]
    assert len(n_rounds) == 2  # the first two are held against the same


def test_nuggets_are_made_for_who_has_none_whoever_else_is_judged():
    judge = SampleJudge("V_strict", model="lexical")
    without = {"question": "Why decks?", "answer": "Wind moves decks.", "contexts": [DECKS]}
    alone = judge.score(without)
    assert alone.n > 0
    rows = together(judge, [SAMPLES[0], without])
    assert [row.n for row in rows] == [2, alone.n]
    assert rows[1] == alone


def test_a_sample_at_fault_does_not_take_others_with_it(monkeypatch):
    judge_all = judging.judge_collection

    def refuse(config, **options):
        if b"broken" in config.data.topics.read_bytes():
            raise InputError("topics.jsonl:1: broken")
        return judge_all(config, **options)

    monkeypatch.setattr(judging, "judge_collection", refuse)
    judge = SampleJudge("V_strict", model="lexical")

    async def all_of_them():
        rows = [SAMPLES[0], SAMPLES[1], SAMPLES[2] | {"question": "broken"}, SAMPLES[3]]
        return await asyncio.gather(*map(judge.ascore, rows), return_exceptions=True)

    outcomes = asyncio.run(all_of_them())
    assert [isinstance(row, InputError) for row in outcomes] == [False, False, True, False]


def test_what_an_answer_lost_is_said(refusing):
    judge = SampleJudge("V_strict", ["nuggets", "support"], model="lexical")
    explanation = judge.explain(
        {
            "question": "Why?",
            "answer": "Wind moves decks [1]. Iron rusts [2]. Cables sing.",
            "contexts": ["Wind moves decks.", "Cables carry load."],
            "nuggets": ["wind moves decks", "iron is old"],
        }
    )
    assert explanation.score.value == 0.5
    assert explanation.feedback.splitlines() == [
        "V_strict 0.500 (n 2)", "The answer does not state:", "- iron is old (vital)",
        "Not supported by their citations:", "- Iron rusts.: none support in “Cables carry load.”",
        "- Cables sing.: cites nothing",
    ]  # fmt: skip
    lost = SampleJudge("V_strict", model=refusing, cache=False).explain(
        SAMPLES[0] | {"answer": "Zebra."}
    )
    assert "does not state" not in lost.feedback
    assert "- cables carry load (refused)" in lost.feedback


def test_a_copy_is_the_judge_itself_with_its_budget():
    judge = SampleJudge("V_strict", model="lexical")
    assert copy.deepcopy({"judge": judge})["judge"] is copy.copy(judge) is judge
