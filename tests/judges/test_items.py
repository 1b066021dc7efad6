"""Judges of items: how many go into a call, and which inputs they share."""

import asyncio
import inspect
from collections.abc import Mapping

import dspy
import pytest

from nuggetjudge.judges import ItemJudge, NuggetAssigner, SupportJudge
from nuggetjudge.judges.verdicts import Listed

FACTS = ["Tides turn turbines.", "Silt wears them down.", "Kelp bends."]
ANSWER = "Tides turn turbines."


def items(*facts):
    return [{"question": "why", "answer": ANSWER, "nugget": fact} for fact in facts]


def test_a_call_takes_as_many_items_as_the_window_has_and_no_more():
    judge = NuggetAssigner(model="lexical", window=2)
    verdicts, _ = asyncio.run(judge.verdicts(items(*FACTS[:2])))
    assert [verdict.label for verdict in verdicts] == ["support", "not_support"]
    with pytest.raises(ValueError, match="wanted 1 to 2 items in a call, got 3"):
        asyncio.run(judge.verdicts(items(*FACTS)))
    with pytest.raises(ValueError, match="wanted 1 to 2 items in a call, got 0"):
        asyncio.run(judge.verdicts([]))


def test_items_of_one_answer_are_asked_as_those_that_a_list_holds_and_can_be_taken_apart():
    judge, each = NuggetAssigner(model="lexical"), items(*FACTS)
    of_one = Listed({"question": "why", "answer": ANSWER, "nugget": FACTS}, "nugget", FACTS)
    assert list(of_one) == each
    assert list(of_one[1:]) == each[1:]
    for given, wanted in ((of_one, each), (of_one[1:], each[1:])):
        assert list(judge.call_inputs(given).items()) == list(judge.call_inputs(wanted).items())
        assert asyncio.run(judge.verdicts(given)) == asyncio.run(judge.verdicts(wanted))
    assert of_one.shared["nugget"] == FACTS  # no call takes the inputs of the next away


def test_a_judge_of_one_item_a_call_refuses_two():
    pair = {"sentence": ANSWER, "passage": ANSWER}
    with pytest.raises(ValueError, match="wanted 1 to 1 items in a call, got 2"):
        asyncio.run(SupportJudge(model="lexical").verdicts([pair, pair]))


class IsShort(ItemJudge):
    """As docs/extending.md has them: without a decide() of its own."""

    name, kind, key = "short", "other", ("topic_id",)
    inputs, optional, scale = ("question", "answer"), ("title",), ("no", "yes")
    gains: Mapping[str, float] = {"no": 0.0, "yes": 1.0}
    predictor, output = "judge", "verdict"

    def __init__(self, *args, listed=None, **options):
        super().__init__(*args, **options)
        signature = "question, answer -> verdict: Literal['no', 'yes']"
        if listed is not None:
            self.listed, self.window = listed, 2
            signature = "question, answers: dict[str, str] -> verdict: dict[str, str]"
        self.seen = []
        title = dspy.InputField(desc="of the page", default="")
        self.judge = dspy.Predict(dspy.Signature(signature).prepend("title", title, str))
        self.baselines = {"judge": self.rule}

    def rule(self, asked):
        self.seen.append(sorted(asked))
        return {"verdict": "yes" if self.listed is None else {"1": "yes"}}


@pytest.mark.parametrize("listed", [None, "answer"])
def test_a_judge_of_another_package_is_called_by_its_inputs(listed):
    judge = IsShort("lexical", listed=listed)
    assert judge(question="why", answer=ANSWER).label == "yes"
    judge(question="why", answer=ANSWER, title="Tides")
    judge(question="why", answer=ANSWER, title=" ")
    answer = "answer" if listed is None else "answers"
    plain = [answer, "question"]
    assert judge.seen == [plain, [*plain, "title"], plain]
    assert list(inspect.signature(judge).parameters) == ["question", "answer", "title"]
    with pytest.raises(ValueError, match="wanted the inputs question, answer, got question, text"):
        judge(question="why", text=ANSWER)


def test_any_number_of_items_is_judged_window_by_window_in_order():
    judge = NuggetAssigner(model="lexical", window=2)
    verdicts = asyncio.run(judge.in_windows(items(FACTS[1], FACTS[0], FACTS[2], FACTS[0])))
    assert [v.label for v in verdicts] == ["not_support", "support", "not_support", "support"]


def test_the_items_of_a_call_share_all_inputs_but_the_numbered_one():
    asked = NuggetAssigner(model="lexical").call_inputs(items(*FACTS[:2]))
    assert asked == {
        "question": "why",
        "answer": ANSWER,
        "nuggets": {"1": FACTS[0], "2": FACTS[1]},
    }
