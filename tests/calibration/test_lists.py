"""Judges that make lists: people's lists, scores of lists, and what an optimiser is told."""

import dspy
import numpy as np
import pytest
from json_lines import write_rows
from mock_server import MockServer, Status, input_of
from scipy import stats
from stamp_brain import stamp_brain
from stamped import fact, text_about, wanted_of, write_nugget_data

from nuggetjudge.backends import open_backend
from nuggetjudge.backends.budget import Budget
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.loop import run_sync
from nuggetjudge.calibration.list_examples import ListExample, read_list_examples
from nuggetjudge.calibration.lists import ListMarks, Match, Matcher, compare_lists, make_list_tasks
from nuggetjudge.calibration.prompts.asking import Stopped
from nuggetjudge.judges import (
    ClaimExtractor,
    EntailmentJudge,
    KeyPointExtractor,
    NuggetAssigner,
    Nuggetizer,
    RelevanceJudge,
    SubQuestionGenerator,
    SupportJudge,
)
from nuggetjudge.metrics.key_points import list_scores
from nuggetjudge.programs.config.sections import Config, DataConfig
from nuggetjudge.records.reading.problems import InputError, Problems


# Lists of people with what they are made from, or one clear error.
def read(path, judge, problems=None, **data):
    options = {name: data.pop(name) for name in ("limit", "seed") if name in data}
    config = Config(data=DataConfig(**data))
    problems = problems if problems is not None else Problems()
    return read_list_examples(path, judge("lexical"), config, problems, **options)


def test_nuggets_come_with_the_passages_of_their_topic_and_its_question(tmp_path):
    paths = write_nugget_data(tmp_path, 3)
    examples = read(paths["nuggets"], Nuggetizer, candidates=paths["candidates"])
    first = examples.items[0]
    assert (first.topic_id, first.question) == ("t0", "What of number 0?")
    assert list(first.wanted) == wanted_of(0)
    assert " ".join(first.made_from["passages"]) == text_about(0)
    assert examples.topics == ("t0", "t1", "t2")


def test_with_qrels_nuggets_are_made_from_relevant_passages_alone(tmp_path):
    paths = write_nugget_data(tmp_path, 4)
    qrels = tmp_path / "qrels.txt"
    rows = [f"t{i} 0 d{i}.{p} {p}\n" for i in range(3) for p in range(2)]
    qrels.write_text("".join(rows) + "t3 0 d3.0 0\n", encoding="utf-8")
    problems = Problems()
    examples = read(
        paths["nuggets"], Nuggetizer, problems, candidates=paths["candidates"], qrels=qrels
    )
    assert [len(item.made_from["passages"]) for item in examples.items] == [1, 1, 1]
    assert examples.n_without_text == 1
    assert any("t3 has no input in" in row.what for row in problems.rows)


def test_key_points_come_with_all_documents_and_their_spans(tmp_path):
    points = [
        {"qid": f"t{i}", "query": "Why?", "key_points": [{"text": "Rain.", "spans": ["It rained"]}]}
        for i in range(3)
    ]
    documents = [
        {"topic_id": f"t{i}", "docid": f"d{n}", "text": f"It rained on day {n}."}
        for i in range(3)
        for n in range(2)
    ]
    examples = read(
        write_rows(tmp_path / "points.jsonl", points),
        KeyPointExtractor,
        documents=write_rows(tmp_path / "documents.jsonl", documents),
    )
    assert examples.items[0].made_from["documents"] == [
        "It rained on day 0.",
        "It rained on day 1.",
    ]
    assert examples.items[0].spans == {"Rain.": ("It rained",)}


def test_claims_come_with_their_answer(tmp_path):
    claims = [
        {"topic_id": f"t{i}", "run_id": "r", "claims": ["It rained.", "It rained."]}
        for i in range(3)
    ]
    answers = [
        {"run_id": "r", "topic_id": f"t{i}", "references": [],
         "answer": [{"text": f"It rained on day {i}.", "citations": []}]}
        for i in range(3)
    ]  # fmt: skip
    examples = read(
        write_rows(tmp_path / "claims.jsonl", claims),
        ClaimExtractor,
        runs=(str(write_rows(tmp_path / "run.jsonl", answers)),),
    )
    assert examples.items[1].ids == {"topic_id": "t1", "run_id": "r"}
    assert examples.items[1].made_from == {"answer": "It rained on day 1."}
    assert examples.items[1].wanted == ("It rained.",)


def test_what_cannot_be_fitted_to_is_one_error(tmp_path):
    paths = write_nugget_data(tmp_path, 2)
    with pytest.raises(InputError, match=r"makes its lists from data\.candidates; give them"):
        read(paths["nuggets"], Nuggetizer)
    with pytest.raises(InputError, match=r"lists of 2 topics, wanted at least 3"):
        read(paths["nuggets"], Nuggetizer, candidates=paths["candidates"])
    with pytest.raises(InputError, match="a file of nuggets, wanted questions, which subquestions"):
        read(paths["nuggets"], SubQuestionGenerator, reference=paths["candidates"])


# What an optimiser is told of a made list: its F1, and in words what it lacks.
A, B, C, D = (fact(0, n) for n in range(4))
EXAMPLE = ListExample({"topic_id": "t"}, {"question": "Why?", "passages": ["x"]}, (A, B))


class Says(Matcher):
    """Matches as it is told."""

    def __init__(self, result):
        super().__init__()
        self.result = result

    async def match(self, example, made, concurrency=8):
        return self.result


def marks_of(matcher=None):
    judge = Nuggetizer("lexical")
    tasks = make_list_tasks(judge, [EXAMPLE])
    return ListMarks(judge, matcher or Matcher(), tasks), tasks[0]


def test_a_list_is_worth_its_f1_and_one_that_failed_has_no_gain():
    marks, task = marks_of()
    assert marks.gains(task, dspy.Prediction(updated=[A, C, D])) == [pytest.approx(0.4)]
    assert marks.gains(task, dspy.Prediction(updated=[])) == [0.0]
    assert marks.gains(task, dspy.Prediction(failure="refused")) == [None]


def test_a_list_becomes_a_worked_example_if_it_is_no_worse_than_usual():
    marks, task = marks_of()
    half, none = dspy.Prediction(updated=[A]), dspy.Prediction(updated=[C])
    assert [marks.metric(task.example, prediction, trace=[]) for prediction in (half, none)] == [
        1.0,
        0.0,
    ]
    marks.start(0.9)
    assert marks.metric(task.example, half, trace=[]) == 0.0
    assert marks.metric(task.example, half) == pytest.approx(2 / 3)


def test_feedback_names_what_is_missing_and_what_is_too_much():
    marks, task = marks_of()
    result = marks.metric_with_feedback(task.example, dspy.Prediction(updated=[A, C]))
    assert result.score == 0.5
    assert result.feedback == (
        "Against the list that people made: precision 0.50, recall 0.50.\n"
        f"Missing, which people have:\n- {B}\nNot on the list of people:\n- {C}"
    )
    failed = marks.feedback(task.example, dspy.Prediction(failure="refused: no"))
    assert failed == "No list was made (refused: no)."


def test_what_was_not_matched_is_neither_missing_nor_too_much():
    marks, task = marks_of(Says(Match((True, None), (True, None))))
    prediction = dspy.Prediction(updated=[A, C])
    assert marks.gains(task, prediction) == [1.0]
    assert "Missing" not in marks.feedback(task.example, prediction)
    unknown, task = marks_of(Says(Match((None,), (None, None))))
    assert unknown.gains(task, dspy.Prediction(updated=[A])) == [None]


def test_a_match_for_which_there_is_no_budget_ends_the_search():
    from collections import Counter

    marks, task = marks_of(Says(Match((None,), (None, None), Counter(budget=3))))
    with pytest.raises(Stopped):
        marks.gains(task, dspy.Prediction(updated=[A]))


# Means over lists with intervals by topic, against numbers worked out by hand and by scipy.
def scores(n_right, n_made, n_wanted):
    return list_scores([i < n_right for i in range(n_made)], [i < n_right for i in range(n_wanted)])


def test_the_difference_of_one_list_a_topic_is_that_of_the_paired_t_test():
    before = [scores(n, 4, 4) for n in (1, 2, 2, 3)]
    after = [scores(n, 4, 4) for n in (2, 2, 4, 4)]
    figure = compare_lists(before, after, ["a", "b", "c", "d"], {"resamples": 200})["f1"]
    old, new = (np.array([s.f1.value for s in side]) for side in (before, after))
    paired = stats.ttest_rel(new, old).confidence_interval(0.95)
    assert figure["before"]["value"] == old.mean()
    assert figure["after"]["value"] == new.mean()
    gap = figure["difference"]
    assert (gap["low"], gap["high"]) == pytest.approx((paired.low, paired.high))
    assert (gap["n_topics"], figure["n"]) == (4, 4)
    assert figure["before"]["low"] <= figure["before"]["value"] <= figure["before"]["high"]


def test_a_list_that_made_nothing_counts_for_recall_and_not_for_precision():
    before = [list_scores([], [False, False]), scores(1, 2, 2)]
    after = [scores(2, 2, 2), scores(1, 2, 2)]
    figures = compare_lists(before, after, ["a", "b"], {"resamples": 50})
    assert (figures["precision"]["n"], figures["recall"]["n"], figures["f1"]["n"]) == (1, 2, 2)
    assert figures["precision"]["before"]["value"] == 0.5
    assert figures["f1"]["before"]["value"] == 0.25


# Which items two lists share; what a judge did not say is not counted against a list.
@pytest.fixture
def server():
    with MockServer(stamp_brain) as running:
        yield running


def backend(server, budget=None, **settings):
    entry = ModelConfig(model="openai/mock", api_base=server.base_url, **settings)
    return open_backend(entry, budget=budget)


def match(matcher, made, example=EXAMPLE):
    return run_sync(matcher.match(example, made))


def test_words_alone_match_an_item_with_one_that_says_as_much():
    assert match(Matcher(), [f"It is {B}", C]) == Match((True, False), (False, True))
    assert match(Matcher(), []) == Match((), (False, False))


def test_a_judge_is_asked_about_each_item_with_the_other_list_as_its_text(server):
    result = match(Matcher(EntailmentJudge(backend=backend(server))), [B, C])
    assert result == Match((True, False), (False, True), n_calls=4)
    asked = [input_of(request.body) for request in server.requests]
    assert {tuple(data.values()) for data in asked} == {
        (f"{A}\n{B}", B), (f"{A}\n{B}", C), (f"{B}\n{C}", A), (f"{B}\n{C}", B),
    }  # fmt: skip


def test_a_match_that_failed_is_not_judged_and_never_no_match(server):
    server.faults = lambda index, body: Status(400) if input_of(body)["key_point"] == C else None
    result = match(Matcher(EntailmentJudge(backend=backend(server, retries=0))), [B, C])
    assert (result.made, result.wanted) == ((True, None), (False, True))
    assert result.unjudged.total() == 1


def test_where_the_budget_is_gone_the_rest_is_not_judged(server):
    judge = EntailmentJudge(backend=backend(server, Budget(1), concurrency=1))
    result = match(Matcher(judge), [B, C])
    assert result.unjudged == {"budget": 3}
    assert [*result.made, *result.wanted].count(None) == 3


def test_a_judge_that_looks_for_nothing_in_a_text_cannot_match():
    with pytest.raises(InputError, match="--match relevance: the relevance judge does not look"):
        Matcher(RelevanceJudge("lexical"))
    Matcher(SupportJudge("lexical")).check(EXAMPLE)
    without = ListExample({"topic_id": "t"}, {"report": "x", "n": 3}, (A,))
    with pytest.raises(InputError, match="needs a question, which these lists do not have"):
        Matcher(NuggetAssigner("lexical")).check(without)
