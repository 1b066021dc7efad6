"""The answerability judge: pairs and lists of questions, by words, by a model, and their cost."""

import asyncio
import itertools
import json
from typing import NamedTuple

import pytest
from json_lines import read_rows
from mock_server import MockServer, Reply, input_of

import nuggetjudge as nj
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.judges import AnswerabilityGrader, ClaimJudge, JudgeFile
from nuggetjudge.judges.fitted import Correction, FittedPrompt
from nuggetjudge.judges.items import calls, judge_items
from nuggetjudge.judges.keypoints import number_key_points
from nuggetjudge.judges.lexical.questions import answer_overlap, subject_words

BUILT = "Who built the bridge?"  # about: built bridge; 8 runs of five letters
TEXT = "They built a bridge. Its deck sways in wind."
QUESTIONS = [BUILT, "Which bees make honey?", "Why does the deck sway?"]
GRADES = {BUILT: 5, QUESTIONS[1]: 0, QUESTIONS[2]: 3}


class Asked(NamedTuple):
    ids: dict[str, str]
    inputs: dict[str, str]


@pytest.fixture
def served():
    """A server that grades as GRADES says, in whichever form it is asked, and its model."""

    def brain(body):
        asked = input_of(body)
        if "question" in asked:
            return {"grade": GRADES[asked["question"]]}
        return {"grades": {i: str(GRADES[text]) for i, text in asked["questions"].items()}}

    with MockServer(brain) as server:
        yield server, ModelConfig(model="openai/mock", api_base=server.base_url)


def says(reply, window, **settings):
    """What the judge makes of a reply about one text: of a question, or of two."""
    asked = {"question": BUILT} if window == 1 else {"questions": QUESTIONS[:2]}
    with MockServer(lambda body: reply) as server:
        model = ModelConfig(model="openai/mock", api_base=server.base_url, reasks=0, **settings)
        return AnswerabilityGrader(model, window=window)(context=TEXT, **asked)


# Of its two words and 8 runs: the second holds "bridge" and 3 runs, the third all but 3 runs.
@pytest.mark.parametrize(
    ("text", "overlap", "grade"),
    [
        ("Bees make honey.", 0.0, 0),
        ("A bridge stood.", (1 / 2 + 3 / 8) / 2, 2),
        ("They built a bridge.", (2 / 2 + 5 / 8) / 2, 5),
        ("", 0.0, 0),
    ],
)
def test_a_text_is_graded_by_the_words_of_the_question_that_it_holds(text, overlap, grade):
    assert answer_overlap(BUILT, text, {}) == pytest.approx(overlap)
    prediction = AnswerabilityGrader("lexical")(context=text, question=BUILT)
    assert (prediction.grade, prediction.score) == (grade, pytest.approx(overlap))


def test_the_words_that_ask_do_not_count_unless_there_are_no_others():
    assert subject_words("According to the text, how many towers does it have?") == "towers"
    assert subject_words("Who is who?") == "Who is who?"


@pytest.mark.parametrize(("window", "n_requests"), [(1, 1 + 3), (15, 1 + 1)])
def test_one_question_or_several_are_asked_in_either_form(served, window, n_requests):
    server, model = served
    judge = AnswerabilityGrader(model, window=window)
    assert judge(context=TEXT, question=BUILT).grade == 5
    assert judge(context=TEXT, questions=QUESTIONS).grades == [5, 0, 3]
    asked = "question" if window == 1 else "questions"
    assert [[*input_of(request.body)] for request in server.requests] == [
        ["context", asked]
    ] * n_requests


@pytest.mark.parametrize("grade", ["6", "-1", "3.5", '"3"', "null"])
def test_a_grade_off_the_scale_is_no_grade(grade):
    with pytest.raises(JudgeError) as caught:
        says(f'{{"grade": {grade}}}', 1)
    assert caught.value.reason == "unparseable"


@pytest.mark.parametrize(
    ("grades", "reason"),
    [
        ({"1": "5"}, "incomplete"),
        ({"1": "5", "2": "0", "3": "0"}, "unparseable"),
        ({"1": "5", "2": "6"}, "unparseable"),
        ({"1": "5", "2": None}, "unparseable"),
        (["5", "0"], "unparseable"),
    ],
    ids=["a question short", "one too many", "off the scale", "null", "by position"],
)
def test_grades_of_a_list_go_by_the_number_of_the_question(grades, reason):
    with pytest.raises(JudgeError) as caught:
        says(json.dumps({"grades": grades}), 15)
    assert caught.value.reason == reason


def test_a_grade_of_a_list_may_be_a_bare_whole_number():
    assert says('{"grades": {"1": 5, "2": " 0"}}', 15).grades == [5, 0]


@pytest.mark.parametrize("grade", ["6", "-1", '"-1"', "3.0", "true"])
def test_what_is_no_whole_grade_is_none_in_a_list_either(grade):
    with pytest.raises(JudgeError) as caught:
        says(f'{{"grades": {{"1": {grade}, "2": "0"}}}}', 15)
    assert caught.value.reason == "unparseable"


def test_what_is_not_a_question_or_a_list_of_them_is_refused():
    judge = AnswerabilityGrader("lexical")
    for asked in ({}, {"question": BUILT, "questions": QUESTIONS}):
        with pytest.raises(ValueError, match="either question or questions"):
            judge(context=TEXT, **asked)
    assert judge(context=TEXT, questions=[]).grades == []
    with pytest.raises(ValueError, match="window must be 1 or more"):
        AnswerabilityGrader("lexical", window=0)


def test_scores_are_mean_grades_where_the_model_gives_probabilities():
    sure, torn = {"4": 0.5, "5": 0.5}, {"0": 0.8, "3": 0.2}
    one = says(Reply('{"grade": 4}', probabilities=sure), 1, logprobs=True)
    assert one.score == pytest.approx(4.5 / 5)
    assert one.probabilities == pytest.approx(dict.fromkeys("0123", 0.0) | sure)
    reply = Reply('{"grades": {"1": 5, "2": 0}}', probabilities={"1": sure, "2": torn})
    several = says(reply, 15, logprobs=True)
    assert several.grades == [5, 0]
    assert several.scores == pytest.approx([4.5 / 5, 0.6 / 5])


def test_numbers_of_a_file_fit_either_form_but_its_prompts_only_their_own():
    words = {"built": 3.0, "bridg": 1.0}
    parts = {
        "judge": "answerability",
        "version": AnswerabilityGrader.version,
        "scale": tuple("012345"),
    }
    cuts = Correction(cuts=(0.8, 0.8, 0.8, 0.8, 0.8))
    file = JudgeFile(model="lexical", words=words, correction=cuts, **parts)
    for window in (1, 15):
        judge = AnswerabilityGrader("lexical", window=window).copy_with_fit(file)
        prediction = judge(context="They built it.", questions=[BUILT, QUESTIONS[1]])
        # Three quarters by weight, and "built" and "uilt " of 8 runs.
        assert prediction.scores == pytest.approx([(3 / 4 + 2 / 8) / 2, 0.0])
        assert prediction.grades == [0, 0]
        assert judge(context=TEXT, question=BUILT).grade == 5
    prompts = {"grade_one": FittedPrompt(instructions="Grade as we do.")}
    file = JudgeFile(model="lexical", prompts=prompts, **parts)
    assert AnswerabilityGrader("lexical").copy_with_fit(file).fitted_prompts == prompts
    with pytest.raises(ValueError, match="a prompt for 'grade_one', the judge asks grade_each"):
        AnswerabilityGrader("lexical", window=15).copy_with_fit(file)


def pairs(n_questions, n_texts):
    """Every question of a topic with every passage, question by question."""
    words = itertools.cycle(("wind", "deck", "sway", "bridge", "tower", "cable", "load", "river"))
    texts = [" ".join(itertools.islice(words, 97 + i)) for i in range(n_texts)]
    return [
        Asked(
            {"topic_id": "t1", "passage_id": f"t1:{p}#0", "question_id": str(q)},
            {"question": f"What is known of cause {q} of the sway of long bridges?", "context": c},
        )
        for q in range(n_questions) for p, c in enumerate(texts)
    ]  # fmt: skip


def test_a_list_holds_the_questions_about_one_text_and_pairs_are_asked_alone():
    items = pairs(3, 2)
    assert calls(AnswerabilityGrader("lexical"), items) == [[i] for i in range(6)]
    several = AnswerabilityGrader("lexical", window=2)
    assert calls(several, items) == [[0, 2], [4], [1, 3], [5]]


@pytest.fixture
def labelled(tmp_path):
    """Pairs of 5 topics with labels of people: 5 where the text holds the answer, else 0."""
    path = tmp_path / "labels.jsonl"
    with path.open("w", encoding="utf-8") as stream:
        for t, p, q in itertools.product(range(5), range(2), range(3)):
            ids = {"topic_id": f"t{t}", "passage_id": f"t{t}:0#{p}", "question_id": str(q)}
            context = f"In year {t} the keeper painted tower {q}." if (p + q) % 2 else "It rained."
            row = {**ids, "question": f"When did the keeper paint tower {q}?", "context": context}
            stream.write(json.dumps(row | {"label": 5 * ((p + q) % 2)}) + "\n")
    return path


@pytest.mark.parametrize("window", [1, 15])
def test_items_are_run_fitted_and_compared_with_people_in_either_form(labelled, tmp_path, window):
    given = {"judges.answerability.window": window}
    out = tmp_path / "out"
    run = nj.run(program="items", items=labelled, judge="answerability", out=out, **given)
    people = read_rows(labelled)
    assert [(int(row["label"]) >= 3) * 5 for row in run.judgements["labels"]] == [
        row["label"] for row in people
    ]
    assert all(0 <= row["score"] <= 1 for row in run.judgements["labels"])
    calibrated = nj.calibrate(
        labelled, "answerability", "threshold", folds=5, resamples=0,
        scale={"0": "0", "1": "0", "2": "0", "3": "5", "4": "5", "5": "5"}, **given,
    )  # fmt: skip
    kappa = calibrated.report["figures"]["kappa"]
    assert (kappa["before"]["value"], kappa["after"]["value"]) == (1.0, 1.0)
    assert calibrated.file.correction.labels == ("0", "5")
    state = tmp_path / "fitted.json"
    state.write_text(calibrated.file.text(), encoding="utf-8")
    again = nj.run(
        program="items", items=labelled, judge="answerability", out=tmp_path / "fitted", **given,
        **{"judges.answerability.state": state},
    )  # fmt: skip
    assert [int(row["label"]) for row in again.judgements["labels"]] == [
        row["label"] for row in people
    ]


# Claims that state a key point, by a model and by the baseline.
POINTS = ["Bees make honey from nectar\nof flowers.", "Bees hum."]


@pytest.fixture
def claim_served():
    """A server that takes claims about bees for statements of a key point, and its model."""

    def brain(body):
        claims = input_of(body)["claims"].items()
        return {"verdicts": {i: "yes" if "Bees" in claim else "no" for i, claim in claims}}

    with MockServer(brain) as server:
        yield server, ModelConfig(model="openai/mock", api_base=server.base_url)


def test_key_points_are_one_text_with_a_line_for_each():
    assert number_key_points(POINTS) == "1. Bees make honey from nectar of flowers.\n2. Bees hum."
    assert number_key_points([]) == ""


def test_claims_are_asked_about_ten_at_a_time_beside_all_key_points(claim_served):
    server, model = claim_served
    claims = [f"{'Bees' if i % 3 else 'Wasps'} know fact {i}." for i in range(12)]
    prediction = ClaimJudge(model)(key_points=number_key_points(POINTS), claims=claims)
    assert prediction.verdicts == ["yes" if i % 3 else "no" for i in range(12)]
    asked = [input_of(request.body) for request in server.requests]
    assert [call["key_points"] for call in asked] == [number_key_points(POINTS)] * 2
    assert [list(call["claims"].values()) for call in asked] == [claims[:10], claims[10:]]
    assert list(asked[1]["claims"]) == ["1", "2"]


def test_no_claim_takes_no_call(claim_served):
    server, model = claim_served
    assert ClaimJudge(model)(key_points=number_key_points(POINTS), claims=[]).verdicts == []
    assert server.requests == []


def test_claims_of_one_answer_share_calls_and_answers_do_not():
    items = [
        Asked({"topic_id": "t1", "run_id": run}, {"key_points": "1. a", "claim": f"claim {i}"})
        for i in range(3)
        for run in "xy"
    ]
    assert calls(ClaimJudge("lexical", window=2), items) == [[0, 2], [4], [1, 3], [5]]
    judged = asyncio.run(judge_items(ClaimJudge("lexical"), items))
    assert [verdict.label for verdict, _ in judged] == ["no"] * 6


@pytest.mark.parametrize(
    ("verdicts", "reason"),
    [
        ({"1": "yes"}, "incomplete"),
        ({"1": "yes", "2": "no", "3": "no"}, "unparseable"),
        ({"1": "yes", "2": "partly"}, "unparseable"),
        (["yes", "no"], "unparseable"),
    ],
)
def test_labels_go_by_the_number_of_the_claim_and_none_is_made_up(verdicts, reason):
    with MockServer(lambda body: json.dumps({"verdicts": verdicts})) as server:
        model = ModelConfig(model="openai/mock", api_base=server.base_url, reasks=0)
        with pytest.raises(JudgeError) as caught:
            ClaimJudge(model)(key_points="1. a", claims=["a", "b"])
    assert caught.value.reason == reason


def test_the_score_is_the_probability_of_yes_where_the_model_gives_it():
    chances = {"1": {"no": 0.1, "yes": 0.9}, "2": {"no": 0.6, "yes": 0.4}}
    reply = Reply('{"verdicts": {"1": "yes", "2": "no"}}', probabilities=chances)
    with MockServer(lambda body: reply) as server:
        model = ModelConfig(model="openai/mock", api_base=server.base_url, logprobs=True)
        prediction = ClaimJudge(model)(key_points="1. a", claims=["a", "b"])
    assert prediction.scores == pytest.approx([0.9, 0.4])


@pytest.mark.parametrize(
    ("claim", "score", "verdict"),
    [
        ("Bees hum!", 1.0, "yes"),  # all of the second
        ("Bees make honey.", 1.0, "yes"),  # a part of the first, without a word of its own
        # Of the shorter "Bees hum.": bee of 2 words; bee, ees, "es " and "s h" of 6 runs.
        ("Bees hate smoke.", (1 / 2 + 4 / 6) / 2, "yes"),
        ("Wasps sting.", 0.0, "no"),
    ],
)
def test_the_baseline_takes_the_nearest_point_and_looks_for_the_shorter_text(claim, score, verdict):
    prediction = ClaimJudge("lexical")(key_points=number_key_points(POINTS), claims=[claim])
    assert prediction.verdicts == [verdict]
    assert prediction.scores == [pytest.approx(score)]


def test_without_key_points_no_claim_states_one():
    prediction = ClaimJudge("lexical")(key_points=number_key_points([]), claims=["Bees hum."])
    assert (prediction.verdicts, prediction.scores) == (["no"], [0.0])
