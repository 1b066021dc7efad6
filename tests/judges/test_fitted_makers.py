"""Judge files of judges that make lists: the prompt of the file is the one that is sent."""

import pytest

from nuggetjudge.judges import (
    ClaimExtractor,
    JudgeFile,
    KeyPointExtractor,
    NuggetImportance,
    Nuggetizer,
    SubQuestionGenerator,
)
from nuggetjudge.judges.fitted import Correction, FittedPrompt

MADE_FROM = {
    Nuggetizer: {"question": "Why?", "passages": ["Rain fell.", "A dam broke."]},
    SubQuestionGenerator: {"report": "Rain fell. A dam broke.", "n": 2},
    KeyPointExtractor: {"question": "Why?", "documents": ["Rain fell.", "A dam broke. It hurt."]},
    ClaimExtractor: {"answer": "Rain fell and a dam broke."},
}


def file_of(maker, **changes):
    prompt = FittedPrompt(instructions="List it all.")
    fields = {
        "judge": maker.name,
        "version": maker.version,
        "model": "any",
        "prompts": {maker.predictor: prompt},
    }
    return JudgeFile(**(fields | changes))


@pytest.mark.parametrize("kind", MADE_FROM)
def test_a_list_of_people_is_a_worked_example_that_the_judge_can_be_shown(kind):
    judge = kind("lexical")
    before = list(getattr(judge, judge.predictor).demos)
    example = judge.example(MADE_FROM[kind], ["A dam broke."], {})
    fields = getattr(judge, judge.predictor).signature.fields
    assert example.keys() == fields.keys()
    prompt = FittedPrompt(instructions="List it all.", demos=(example,))
    fitted = judge.fitted(file_of(judge, prompts={judge.predictor: prompt}))
    messages = fitted.prompt(judge.predictor).fixed
    assert "List it all." in messages[0]["content"]
    assert [message["role"] for message in messages[1:]] == ["user", "assistant"]
    assert "A dam broke." in messages[-1]["content"]
    assert getattr(judge, judge.predictor).demos == before  # the judge itself is as it was


def test_a_worked_example_of_key_points_is_the_document_that_states_most_with_words_that_do():
    judge = KeyPointExtractor("lexical")
    texts = ["A dam broke.", "It hurt many.", "Nobody knows why."]
    example = judge.example(MADE_FROM[KeyPointExtractor], texts, {"It hurt many.": ["It hurt."]})
    assert example["document"] == "A dam broke. It hurt."
    assert example["points"] == [
        {"text": "A dam broke.", "spans": ["A dam broke."]},
        {"text": "It hurt many.", "spans": ["It hurt."]},
    ]


@pytest.mark.parametrize("kind", MADE_FROM)
def test_what_it_makes_is_what_a_run_keeps(kind):
    from nuggetjudge.backends.loop import run_sync

    text = "Heavy rain filled the lake in March. The old dam broke on Monday in Sennick."
    inputs = {"question": "Why did the dam of Sennick break?", "report": text, "answer": text}
    inputs |= {"passages": [text], "documents": [text], "n": 2}
    judge = kind("lexical")
    made = run_sync(judge.made(**{name: inputs[name] for name in judge.made_from}))
    assert made
    assert all(isinstance(each, str) and each for each in made)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"judge": "subquestions"}, "a file of the subquestions judge, wanted nuggetizer"),
        ({"version": "0"}, "fitted to version 0 of the nuggetizer judge, this is"),
        ({"prompts": {"make": FittedPrompt(instructions="x")}}, "the judge asks update"),
        (
            {"prompts": {"update": FittedPrompt(instructions="x", demos=({"topic": "y"},))}},
            "an example has 'topic', wanted question, passages",
        ),
        (
            {"correction": Correction(), "model": "lexical"},
            "it corrects labels, and the nuggetizer",
        ),
        ({"words": {"rain": 1.0}, "model": "lexical"}, "it corrects labels"),
        ({"scale": ("no", "yes")}, "its labels are no, yes"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(changes, message):
    judge = Nuggetizer("lexical")
    with pytest.raises(ValueError, match=message):
        judge.fitted(file_of(judge, **changes))


def test_importance_is_corrected_as_any_judge_of_items_but_not_by_topic():
    judge = NuggetImportance("lexical")
    strict = JudgeFile(
        judge="importance",
        version=judge.version,
        scale=judge.scale,
        model="lexical",
        window=judge.window,
        correction=Correction(cuts=(2.0,)),
    )
    asked = {"question": "Why did the dam break?", "nuggets": ["The dam broke.", "It rained."]}
    assert judge(**asked).importance == ["vital", "okay"]
    assert judge.fitted(strict)(**asked).importance == ["okay", "okay"]
    by_topic = strict.model_copy(update={"correction": Correction(cuts=(0.5,), topics={"t": 1.0})})
    with pytest.raises(ValueError, match="without topic ids"):
        judge.fitted(by_topic)
