"""Fitted judges: corrections, worked examples, and judge files."""

import json
import math
import pickle
import subprocess
import sys

import pytest
from json_lines import write_rows
from mock_server import MockServer, default_brain, input_of
from pydantic import ValidationError

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.judges import (
    JudgeFile,
    KeyPointExtractor,
    NuggetAssigner,
    QuestionDecomposer,
    SubQuestionGenerator,
    SupportJudge,
    read_judge_file,
)
from nuggetjudge.judges.demonstrations import with_demonstrations
from nuggetjudge.judges.fitted import Correction, FittedPrompt, IsotonicCurve, OrdinalCurve
from nuggetjudge.judges.verdicts import Verdict
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.records.reading.problems import InputError

# How a fitted correction turns scores into labels, and what it refuses to be.
SCALE = ("none", "partial", "full")


@pytest.mark.parametrize(
    ("score", "label"), [(0.0, "none"), (0.3, "partial"), (0.59, "partial"), (0.6, "full")]
)
def test_a_label_is_given_from_its_cut_on(score, label):
    corrected = Correction(cuts=(0.3, 0.6)).verdict(Verdict("none", score), SCALE, None)
    assert corrected == Verdict(label, score)


def test_a_judge_without_scores_is_cut_by_the_place_of_its_label():
    correction = Correction(cuts=(0.5, 0.5))  # partial is as good as full
    assert correction.verdict(Verdict("partial"), SCALE, None).label == "full"
    assert correction.verdict(Verdict("none"), SCALE, None).label == "none"


def test_grades_become_the_two_labels_of_people():
    correction = Correction(cuts=(0.5,), labels=("no", "yes"))  # eta = 3 of 0-5 lies at 0.6
    grades = ("0", "1", "2", "3", "4", "5")
    given = [correction.verdict(Verdict(grade), grades, None).label for grade in grades]
    assert given == ["no", "no", "no", "yes", "yes", "yes"]


def test_a_topics_shift_moves_its_items_alone():
    correction = Correction(cuts=(0.3, 0.6), topics={"t1": 0.2})
    labels = [correction.verdict(Verdict("none", 0.45), SCALE, t).label for t in ("t1", "t2", None)]
    assert labels == ["full", "partial", "partial"]


def test_a_curve_gives_probabilities_and_the_median_label():
    curve = OrdinalCurve(slope=2.0, thresholds=(0.0, 1.0))
    corrected = Correction(curve=curve).verdict(Verdict("none", 0.5), SCALE, None)
    full = 0.5  # 2 * 0.5 - 1 = 0
    some = 1 / (1 + math.exp(-1.0))
    assert corrected.probabilities == pytest.approx(
        {"none": 1 - some, "partial": some - full, "full": full}
    )
    assert corrected.label == "full"
    assert corrected.score == pytest.approx((some + full) / 2)


def test_cuts_decide_the_label_where_both_are_known():
    curve = OrdinalCurve(slope=2.0, thresholds=(0.0, 1.0))
    corrected = Correction(curve=curve, cuts=(0.6, 0.9)).verdict(Verdict("none", 0.5), SCALE, None)
    assert corrected.label == "none"


def test_isotonic_curves_are_straight_between_knots_and_level_outside():
    curve = IsotonicCurve(places=(0.2, 0.6), shares=((0.4, 0.8), (0.0, 0.4)))
    assert curve.at_least(0.0) == [0.4, 0.0]
    assert curve.at_least(0.3) == pytest.approx([0.5, 0.1])
    assert curve.at_least(0.6) == curve.at_least(1.0) == [0.8, 0.4]


def test_log_odds_are_taken_of_scores_kept_off_0_and_1():
    correction = Correction(cuts=(0.0,), log_odds=True, topics={"t": 1.0})
    assert correction.position(0.5) == 0
    assert correction.position(0.5, "t") == 1
    assert correction.position(0.0) == pytest.approx(math.log(0.001 / 0.999))
    assert correction.position(1.0) == pytest.approx(-correction.position(0.0))


def test_an_empty_correction_changes_nothing():
    verdict = Verdict("partial", 0.4, {"none": 0.2, "partial": 0.6, "full": 0.2})
    assert Correction().verdict(verdict, SCALE, "t") == verdict


@pytest.mark.parametrize("score", [0.0, 0.37, 1.0, None])
def test_json_holds_all_of_it(score):
    for curve in (
        OrdinalCurve(slope=1 / 3, thresholds=(0.1, 0.1)),
        IsotonicCurve(places=(0.0, 1 / 3), shares=((0.1, 1.0), (0.1, 0.2))),
    ):
        one = Correction(
            cuts=(0.1, 0.7), curve=curve, log_odds=True, topics={"a": -0.25}, spread=0.3
        )
        other = Correction.model_validate_json(one.model_dump_json())
        assert other == one
        verdict = Verdict("partial", score)
        assert other.verdict(verdict, SCALE, "a") == one.verdict(verdict, SCALE, "a")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"cuts": (0.6, 0.3)}, "cuts must ascend, got 0.3 after 0.6 at 1"),
        ({"cuts": ()}, "at least 1"),
        ({"cuts": (float("nan"),)}, "finite"),
        ({"cuts": (0.5,), "labels": ("a", "b", "c")}, "cuts for 2, labels for 3"),
        (
            {"cuts": (0.5,), "curve": {"kind": "ordinal", "slope": 1, "thresholds": (0, 1)}},
            "cuts for 2, the curve for 3",
        ),
        ({"curve": {"kind": "ordinal", "slope": 1, "thresholds": (1, 0)}}, "thresholds must"),
        (
            {"curve": {"kind": "isotonic", "places": (0, 1), "shares": ((0.5, 0.2),)}},
            "shares of label 1 must ascend",
        ),
        (
            {"curve": {"kind": "isotonic", "places": (0,), "shares": ((0.2,), (0.3,))}},
            "last label first must ascend",
        ),
        (
            {"curve": {"kind": "isotonic", "places": (0, 1), "shares": ((0.2,),)}},
            "1 for 2 places",
        ),
        ({"curve": {"kind": "pickle"}}, "kind"),
        ({"topics": {"t": 0.1}}, "without cuts or a curve"),
        ({"code": "import os"}, "Extra inputs"),
    ],
)
def test_a_correction_that_means_nothing_is_refused(fields, message):
    with pytest.raises(ValidationError, match=message):
        Correction.model_validate(fields)


def test_a_correction_for_another_scale_is_refused():
    curve = OrdinalCurve(slope=1.0, thresholds=(0.0,))
    for correction in (Correction(cuts=(0.5,)), Correction(curve=curve)):
        with pytest.raises(ValueError, match="full"):
            correction.verdict(Verdict("none", 0.5), SCALE, None)


# Worked examples of one's own reach the model before each question; wrong ones are refused.
EXTRACTED = {
    "question": "Why did the mill burn?",
    "document": "Dust lay on the beams. A lamp fell.",
    "known": [],
    "points": [{"text": "A lamp fell into dust.", "spans": ["Dust lay", "A lamp fell."]}],
}
SPLIT = {"question": "Why, and when?", "kind": "Complex", "subquestions": ["Why?", "When?"]}
CITED = {"passage": "It rained.", "sentence": "It was wet.", "verdict": "full"}


@pytest.fixture
def shown(tmp_path):
    """A lexical judge with these examples, and the messages of one question."""

    def with_rows(judge, *rows):
        return with_demonstrations(judge, write_rows(tmp_path / "examples.jsonl", rows))

    return with_rows


def data_of(message):
    return json.loads(message["content"].split("\n")[1])


def test_an_example_is_an_exchange_before_the_question(shown):
    judge = KeyPointExtractor("lexical", example=False)
    asked = {"question": "q", "document": "d", "known": []}
    plain = judge.prompt("find").messages(asked)
    system, question, reply, last = shown(judge, EXTRACTED).prompt("find").messages(asked)
    assert [system, last] == plain
    assert (question["role"], reply["role"]) == ("user", "assistant")
    assert data_of(question) == {name: EXTRACTED[name] for name in asked}
    assert json.loads(reply["content"]) == {"points": EXTRACTED["points"]}
    assert judge.prompt("find").messages(asked) == plain  # the judge itself stays


def test_labels_are_read_as_those_of_a_reply_and_maps_by_their_keys(shown):
    (demo,) = shown(QuestionDecomposer("lexical"), SPLIT).split.demos
    assert demo["kind"] == "complex"
    asked = {"question": "q", "answer": "a", "nuggets": {"1": "n", "2": "m"}}
    labels = {"verdicts": {"2": "support", "1": "not_support"}}
    (demo,) = shown(NuggetAssigner("lexical"), asked | labels).assign.demos
    assert demo["verdicts"]["2"] == "support"


def test_they_take_the_place_of_the_examples_of_a_judge(shown):
    judge = shown(
        SubQuestionGenerator("lexical"),
        {"report": "r", "known": [], "wanted": 1, "questions": ["Why r?"]},
    )
    assert [demo["report"] for demo in judge.write.demos] == ["r"]


@pytest.mark.whole
def test_of_a_judge_that_asks_several_questions_an_example_says_which(shown):
    from nuggetjudge.plugins.collections.judges import QuestionEvolver

    row = {"question": "q", "domain": "", "category": "", "wanted": 1, "questions": ["why q?"]}
    judge = shown(QuestionEvolver("lexical"), row | {"predictor": "width"})
    assert (len(judge.depth.demos), len(judge.width.demos)) == (0, 1)
    with pytest.raises(
        InputError, match=r"examples.jsonl:1: .*it fits depth and width; choose one with"
    ):
        shown(QuestionEvolver("lexical"), row)


def test_an_example_may_have_a_title_and_a_question_none(shown):
    judge = shown(SupportJudge("lexical"), CITED, CITED | {"title": "Weather"})
    asked = {"passage": "p", "sentence": "s"}
    _, first, _, second, _, _ = judge.prompt("judge").messages(asked | {"title": "t"})
    assert (data_of(first).get("title"), data_of(second).get("title")) == (None, "Weather")
    assert "not supplied" not in first["content"]
    untitled = judge.prompt("judge").messages(asked)
    assert not any("title" in message["content"] for message in untitled)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"verdict": None}, "its reply is invalid: verdict"),
        ({"verdict": "most"}, "its reply is invalid: verdict"),
        ({"passage": 3}, "field 'passage': Input should be a valid string"),
        ({"passages": "p"}, "field 'passages' is not one of passage, title, sentence, verdict"),
        ({"predictor": "assign"}, "no question 'assign', wanted one of judge"),
    ],
)
def test_what_is_no_example_is_refused_by_line(shown, changes, message):
    with pytest.raises(InputError) as caught:
        shown(SupportJudge("lexical"), CITED, CITED | changes)
    assert "examples.jsonl:2: " in str(caught.value)
    assert message in str(caught.value)


def test_a_missing_field_and_an_empty_file_are_refused(shown):
    with pytest.raises(InputError, match=r"examples.jsonl:1: field 'sentence' is missing"):
        shown(SupportJudge("lexical"), {"passage": "p", "verdict": "full"})
    with pytest.raises(InputError, match=r"examples.jsonl:1: no examples"):
        shown(SupportJudge("lexical"))
    labels = {"question": "q", "answer": "a", "nuggets": {"1": "n"}, "verdicts": {"2": "support"}}
    with pytest.raises(InputError, match=r"its reply is invalid: verdicts: 0 of 1 verdicts"):
        shown(NuggetAssigner("lexical"), labels)


@pytest.mark.whole
def test_a_build_shows_the_examples_that_its_config_names(tmp_path):
    from nuggetjudge.plugins.collections.long2rag import build_long2rag

    seeds = write_rows(tmp_path / "seeds.jsonl", [{"id": "a", "text": "Why did the mill burn?"}])
    path = write_rows(tmp_path / "examples.jsonl", [SPLIT])
    given = {"run.out": tmp_path / "out", "run.cache": False, "long2rag.min_points": 0}
    given["judges.question_decomposer.demonstrations"] = path
    with MockServer(default_brain) as server:
        sets = [f"models.default.api_base={server.base_url}"]
        manifest = build_long2rag(seeds, None, load_config(None, given, sets, "openai/mock"))
        asked = [r.body["messages"] for r in server.requests]
    split = next(messages for messages in asked if len(messages) > 2)
    assert data_of(split[1]) == {"question": SPLIT["question"]}
    assert str(path) in manifest["inputs"]
    assert input_of({"messages": split})["question"] == "Why did the mill burn?"


def test_examples_beside_those_of_a_judge_file_are_refused(tmp_path):
    given = {
        "judges.support.state": tmp_path / "s",
        "judges.support.demonstrations": tmp_path / "d",
    }
    with pytest.raises(InputError, match=r"judges.support.demonstrations: state has its own"):
        load_config(None, given)


def test_a_judge_that_says_why_takes_examples_with_and_without_reasons(shown):
    """With them its example would else teach it to leave them out."""
    judge = SupportJudge().explaining(evidence=True, reasoning=True)
    why = {"reasoning": "rain wets", "passage_quotes": ["It rained."], "sentence_quotes": []}
    with_why, bare = shown(judge, CITED | why, CITED).judge.demos
    assert (with_why["passage_quotes"], "reasoning" in bare) == (["It rained."], False)
    with pytest.raises(InputError, match=r"jsonl:1: .*passage_quotes: Input should be a"):
        shown(judge, CITED | why | {"passage_quotes": "It rained."})
    with pytest.raises(InputError, match="'reasoning' is not one of"):
        shown(SupportJudge(), CITED | why)


# Judge files: JSON data that loads without code, and is refused where it does not fit.
CORRECTION = Correction(
    cuts=(0.2, 0.6),
    curve=OrdinalCurve(slope=4.0, thresholds=(1.0, 3.0)),
    topics={"t1": 0.1, "größe": -0.2},
    spread=0.4,
)
FILE = JudgeFile(
    judge="support", version=SupportJudge.version, scale=SCALE, model="lexical",
    prompts={"judge": FittedPrompt(instructions="Judge »strictly«.\nIndeed.")},
    words={"tide": 1.5}, correction=CORRECTION,
    fitted={"method": "topic", "n": 3, "figures": {"kappa": None}},
)  # fmt: skip


# What a fresh process runs: pickle raises as soon as anything is loaded with it.
WITHOUT_PICKLE = """
import pickle, sys
from pathlib import Path
def refuse(*args, **options):
    raise AssertionError("pickle was used")
pickle.load = pickle.loads = pickle.Unpickler = refuse
from nuggetjudge.judges import SupportJudge, read_judge_file
judge = SupportJudge(model="lexical").copy_with_fit(read_judge_file(Path(sys.argv[1])))
print(judge(sentence="tides turn", passage="the tides turn twice").verdict)
"""


def written(tmp_path, **changes):
    path = tmp_path / "judge.json"
    path.write_text(json.dumps({**json.loads(FILE.text()), **changes}), encoding="utf-8")
    return path


def test_what_is_written_is_read_and_equal_files_have_equal_bytes(tmp_path):
    path = tmp_path / "judge.json"
    path.write_text(FILE.text(), encoding="utf-8")
    reread = read_judge_file(path)
    assert reread == FILE
    assert reread.text() == FILE.text()
    isotonic = Correction(curve=IsotonicCurve(places=(0.1, 0.5), shares=((0.2, 0.9), (0.0, 0.4))))
    other = FILE.model_copy(update={"correction": isotonic})
    path.write_text(other.text(), encoding="utf-8")
    assert read_judge_file(path) == other != FILE


def test_a_byte_order_mark_is_no_part_of_the_file(tmp_path):
    path = tmp_path / "judge.json"
    path.write_text(FILE.text(), encoding="utf-8-sig")
    assert read_judge_file(path) == FILE


def test_a_file_loads_in_a_fresh_process_that_blocks_pickle(tmp_path):
    command = [sys.executable, "-c", WITHOUT_PICKLE, str(written(tmp_path))]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout == "full\n"


def test_a_fitted_judge_has_the_prompt_the_words_and_the_correction_of_its_file():
    judge = SupportJudge(model="lexical")
    fitted = judge.copy_with_fit(FILE)
    assert fitted.judge.signature.instructions == "Judge »strictly«.\nIndeed."
    assert (fitted.correction, fitted.fitted_words) == (CORRECTION, {"tide": 1.5})
    assert judge.correction is None
    assert judge.judge.signature.instructions != fitted.judge.signature.instructions
    heavy = {"sentence": "tide wall", "passage": "the wall"}
    plain = judge.copy_with_fit(FILE.model_copy(update={"words": None, "correction": None}))
    assert plain(**heavy).score != fitted(**heavy).score


REFUSED = {
    "another judge": ({"judge": "relevance"}, "it belongs to the relevance judge, wanted support"),
    "another version": ({"version": "0"}, "version 0 of the support judge; this is version 3"),
    "another scale": (
        {"scale": ["no", "some", "yes"]}, "labels are no, some, yes; the judge's labels are none"
    ),
    "another model": ({"model": "openai/gpt-4o"}, "fitted to scores of openai/gpt-4o, which"),
    "a question it does not ask": (
        {"prompts": {"rate": {"instructions": "x"}}}, "a prompt for 'rate', the judge asks judge"
    ),
    "an example of another judge": (
        {"prompts": {"judge": {"instructions": "x", "demos": [{"nugget": "n"}]}}},
        "an example has 'nugget', wanted passage, title, sentence, verdict",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "what"), REFUSED.values(), ids=REFUSED)
def test_a_file_for_something_else_is_refused(tmp_path, changes, what):
    file = read_judge_file(written(tmp_path, **changes))
    with pytest.raises(ValueError, match=what):
        SupportJudge(model="lexical").copy_with_fit(file)


def test_prompts_alone_serve_any_model():
    file = FILE.model_copy(update={"model": "openai/gpt-4o", "correction": None, "words": None})
    assert SupportJudge(model="lexical").copy_with_fit(file).fitted_prompts == FILE.prompts


BROKEN = {
    "cuts for fewer labels": ({"correction": {"cuts": [0.5]}}, "correction: it has 2 labels,"),
    "cuts that fall": ({"correction": {"cuts": [0.5, 0.1]}}, "correction: cuts must ascend"),
    "an unknown key": ({"code": "print()"}, "code: Extra inputs are not permitted, got 'print()'"),
    "an unknown key inside": ({"correction": {"cut": [1]}}, "correction: cut: Extra inputs are"),
    "words that are no numbers": ({"words": {"a": "heavy"}}, "words: a: Input should be a valid"),
    "words without an end": ({"words": {"a": float("nan")}}, "words: a: Input should be a finite"),
    "another format": ({"format": "nuggetjudge-judge-9"}, "not a judge file, wanted format"),
    "no instructions": ({"prompts": {"judge": {"instructions": ""}}}, "prompts: judge: instru"),
    "no scale": ({"scale": None}, "scale: Input should be a valid array"),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "what"), BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_refused_by_name_and_place(tmp_path, changes, what):
    path = written(tmp_path, **changes)
    with pytest.raises(InputError) as error:
        read_judge_file(path)
    assert str(error.value).startswith(f"{path}: {what}")
    assert "\n" not in str(error.value)


WHOLE = {
    "cuts that fall": (
        {"cuts": [0.5, 0.1]},
        "correction: cuts must ascend, got 0.1 after 0.5 at 1",
    ),
    "a curve of no kind": ({"curve": {"slope": 1}}, "correction: curve: Unable to extract tag"),
    "a curve without places": (
        {"curve": {"kind": "isotonic", "shares": [[0.5]]}},
        "correction: curve: isotonic: places: Field required",
    ),
}


@pytest.mark.parametrize(("correction", "what"), WHOLE.values(), ids=WHOLE)
def test_what_is_wrong_with_a_whole_object_is_said_without_the_object(tmp_path, correction, what):
    path = written(tmp_path, correction=correction)
    with pytest.raises(InputError) as error:
        read_judge_file(path)
    assert str(error.value).startswith(f"{path}: {what}")
    assert "{" not in str(error.value)


NOT_JSON = {
    "torn": (FILE.text().encode()[:100], ":6: not JSON"),
    "empty": (b"", ":1: not JSON"),
    "a list": (b"[]", ": not a judge file, wanted format"),
    "too deep": (b"[" * 100_000, ": not a judge file, its JSON is nested too deeply"),
    "pickled": (pickle.dumps(json.loads(FILE.text())), ": cannot be read"),
}


@pytest.mark.parametrize(("content", "what"), NOT_JSON.values(), ids=NOT_JSON)
def test_bytes_that_are_no_judge_file_are_refused(tmp_path, content, what):
    path = tmp_path / "judge.json"
    path.write_bytes(content)
    with pytest.raises(InputError) as error:
        read_judge_file(path)
    assert str(error.value).startswith(f"{path}{what}")


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"none.json: cannot be read"):
        read_judge_file(tmp_path / "none.json")


def test_cuts_for_log_probability_scores_are_refused_by_a_judge_without_them():
    entry = {"model": "openai/mock", "api_base": "http://127.0.0.1:9/v1"}
    plain = SupportJudge(model=ModelConfig(**entry))
    sure = SupportJudge(model=ModelConfig(**entry, logprobs=True))
    file = JudgeFile(
        judge="support",
        version=plain.version,
        scale=plain.scale,
        model="openai/mock",
        logprobs=True,
        correction=Correction(cuts=(0.3, 0.6)),
    )
    assert sure.copy_with_fit(file).correction == file.correction
    with pytest.raises(ValueError, match="fitted with log-probabilities; this model is used with"):
        plain.copy_with_fit(file)
