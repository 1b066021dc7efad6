"""Key points in responses: alone or in lists, with quotes that are looked for, and the baseline."""

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
from nuggetjudge.judges import EntailmentJudge, JudgeFile
from nuggetjudge.judges.fitted import Correction
from nuggetjudge.judges.items import calls, judge_items
from nuggetjudge.judges.lexical.keypoints import measure_stated
from nuggetjudge.metrics.label_agreement import agreement

RESPONSE = "Bees make honey.\n\nThey hum  while they fly, and few sting. Wasps do."
POINTS = ["Bees produce honey.", "All bees sting.", "Bees see red."]
FOUND = {
    POINTS[0]: ("Bees make honey.", "yes"),
    POINTS[1]: ("few bees sting", "no"),  # not the response's words
    POINTS[2]: ("", "neutral"),
}


class Asked(NamedTuple):
    ids: dict[str, str]
    inputs: dict[str, str]


@pytest.fixture
def served():
    """A server that finds what FOUND says, in whichever form it is asked, and its model."""

    def brain(body):
        asked = input_of(body)
        if "key_point" in asked:
            return dict(zip(("evidence", "verdict"), FOUND[asked["key_point"]], strict=True))
        replies = {i: FOUND[text] for i, text in asked["key_points"].items()}
        return {
            "evidence": {i: evidence for i, (evidence, _) in replies.items()},
            "verdicts": {i: label for i, (_, label) in replies.items()},
        }

    with MockServer(brain) as server:
        yield server, ModelConfig(model="openai/mock", api_base=server.base_url)


def says(reply, window=1, **settings):
    """What the judge makes of a reply about one response: of a key point, or of two."""
    asked = {"key_point": POINTS[0]} if window == 1 else {"key_points": POINTS[:2]}
    reply = reply if isinstance(reply, Reply) else json.dumps(reply)
    with MockServer(lambda body: reply) as server:
        model = ModelConfig(model="openai/mock", api_base=server.base_url, reasks=0, **settings)
        return EntailmentJudge(model, window=window)(response=RESPONSE, **asked)


def quotes(prediction):
    return [[each.quote for each in of_item] for of_item in prediction.evidence]


# --- with a model


@pytest.mark.parametrize("window", [1, 2, 10])
def test_each_point_has_its_label_and_its_quote(served, window):
    server, model = served
    prediction = EntailmentJudge(model, window=window)(response=RESPONSE, key_points=POINTS)
    assert prediction.verdicts == ["yes", "no", "neutral"]
    assert quotes(prediction) == [["Bees make honey."], ["few bees sting"], []]
    assert prediction.are_quoted == [True, False, None]
    assert len(server.requests) == -(-3 // window)


def test_one_point_is_asked_about_in_the_form_of_the_window(served):
    server, model = served
    prediction = EntailmentJudge(model)(response=RESPONSE, key_point=POINTS[0])
    assert (prediction.label, prediction.verdict, prediction.is_quoted) == ("yes", "yes", True)
    assert [(each.of, each.quote) for each in prediction.evidence] == [
        ("response", "Bees make honey.")
    ]
    prediction = EntailmentJudge(model, window=10)(response=RESPONSE, key_point=POINTS[1])
    assert (prediction.verdict, prediction.is_quoted) == ("no", False)
    asked = [[*input_of(request.body)] for request in server.requests]
    assert asked == [["response", "key_point"], ["response", "key_points"]]


@pytest.mark.parametrize(
    ("evidence", "is_quoted"),
    [
        ("few sting", True),
        ("They hum while they fly", True),  # other white space
        ("honey. They hum", True),
        ("they hum while they fly", False),
        ("They hum ... and few sting.", False),
        ("Bees sting.", False),
        ("", None),
        (" ", None),
    ],
)
def test_a_quote_is_looked_for_word_for_word_and_the_label_stands(evidence, is_quoted):
    prediction = says({"evidence": evidence, "verdict": "yes"})
    assert (prediction.verdict, prediction.is_quoted) == ("yes", is_quoted)
    assert [" ".join(each.quote.split()) for each in prediction.evidence] == [evidence.strip()][
        : is_quoted is not None
    ]
    assert all(each.stands_in(RESPONSE) is is_quoted for each in prediction.evidence)


@pytest.mark.parametrize("window", [1, 10])
def test_the_model_quotes_before_it_gives_the_label(window):
    judge = EntailmentJudge("lexical", window=window)
    schema = judge.prompt(judge.predictor).schema((("1",),) * 2 if window > 1 else ())
    assert list(schema["properties"]) == ["evidence", judge.output]


def test_points_are_numbered_anew_in_each_window(served):
    server, model = served
    EntailmentJudge(model, window=2)(response=RESPONSE, key_points=POINTS)
    asked = [input_of(request.body)["key_points"] for request in server.requests]
    assert asked == [{"1": POINTS[0], "2": POINTS[1]}, {"1": POINTS[2]}]


@pytest.mark.parametrize(
    ("reply", "window", "reason"),
    [
        ({"evidence": "", "verdict": "maybe"}, 1, "unparseable"),
        ({"evidence": "", "verdict": None}, 1, "unparseable"),
        ({"evidence": None, "verdict": "yes"}, 1, "unparseable"),
        ({"verdict": "yes"}, 1, "incomplete"),
        ({"evidence": {"1": "", "2": ""}, "verdicts": {"1": "yes"}}, 10, "incomplete"),
        ({"evidence": {"1": ""}, "verdicts": {"1": "yes", "2": "no"}}, 10, "incomplete"),
        ({"evidence": {"1": "", "2": ""}, "verdicts": ["yes", "no"]}, 10, "unparseable"),
        ({"evidence": {"1": "", "2": ""}, "verdicts": {"1": "yes", "2": "so"}}, 10, "unparseable"),
    ],
    ids=["off the scale", "null", "null quote", "no quote", "a label short", "a quote short",
         "by position", "off the scale in a list"],
)  # fmt: skip
def test_a_reply_that_is_not_what_was_asked_for_is_no_label(reply, window, reason):
    with pytest.raises(JudgeError) as caught:
        says(reply, window)
    assert caught.value.reason == reason


def test_what_is_not_a_key_point_or_a_list_of_them_is_refused():
    judge = EntailmentJudge("lexical")
    for asked in ({}, {"key_point": POINTS[0], "key_points": POINTS}):
        with pytest.raises(ValueError, match="either key_point or key_points"):
            judge(response=RESPONSE, **asked)
    assert judge(response=RESPONSE, key_points=[]).verdicts == []
    with pytest.raises(ValueError, match="window must be 1 or more"):
        EntailmentJudge("lexical", window=0)


def test_with_probabilities_the_score_is_the_mean_place_on_the_scale():
    sure, torn = {"no": 0.1, "neutral": 0.2, "yes": 0.7}, {"no": 0.5, "neutral": 0.4, "yes": 0.1}
    reply = Reply('{"evidence": "yes", "verdict": "yes"}', probabilities=sure)
    one = says(reply, logprobs=True)
    assert one.probabilities == pytest.approx(sure)
    assert one.score == pytest.approx(0.2 / 2 + 0.7)
    reply = Reply(
        '{"evidence": {"1": "no", "2": ""}, "verdicts": {"1": "yes", "2": "no"}}',
        probabilities={"1": sure, "2": torn},
    )
    assert says(reply, 10, logprobs=True).scores == pytest.approx([0.8, 0.3])


def point(run, n):
    return Asked(
        {"topic_id": "t1", "run_id": run, "key_point_id": f"k{n}"},
        {
            "key_point": f"Cause {n} of the sway of long bridges is known.",
            "response": f"{run} " * 250,
        },
    )


def test_a_list_holds_the_points_asked_of_one_response():
    items = [point(run, n) for n in range(3) for run in ("a", "b")]
    assert calls(EntailmentJudge("lexical"), items) == [[i] for i in range(6)]
    assert calls(EntailmentJudge("lexical", window=2), items) == [[0, 2], [4], [1, 3], [5]]


# --- the baseline

HUM = "Bees hum."  # two content words, and the runs bee ees "es " "s h" " hu" hum


@pytest.mark.parametrize(
    ("response", "overlap", "label"),
    [
        ("The bees hum.", (2 / 2 + 6 / 6) / 2, "yes"),
        ("A bee hums!", (2 / 2 + 3 / 6) / 2, "yes"),  # by their stems
        ("Bees sing.", (1 / 2 + 3 / 6) / 2, "neutral"),
        ("Wasps sting.", 0.0, "neutral"),
        ("", 0.0, "neutral"),
    ],
)
def test_the_baseline_goes_by_words_and_letters_that_the_response_holds(response, overlap, label):
    assert measure_stated(HUM, response) == pytest.approx(overlap)
    prediction = EntailmentJudge("lexical")(response=response, key_point=HUM)
    assert (prediction.verdict, prediction.score) == (label, pytest.approx(overlap))


def test_weights_of_words_move_the_overlap():
    weights = {"bee": 3.0, "hum": 1.0}
    assert measure_stated(HUM, "Bees sing.", weights) == pytest.approx((3 / 4 + 3 / 6) / 2)
    assert measure_stated("Hum, crwth!", "Hum.", weights) == pytest.approx((1 / 4 + 1 / 7) / 2)


@pytest.mark.parametrize("window", [1, 10])
def test_the_baseline_quotes_the_sentence_that_shares_most_words(window):
    response = "Bees live in hives. When they fly,\nbees hum a song. Bees make honey."
    judge = EntailmentJudge("lexical", window=window)
    prediction = judge(
        response=response, key_points=["Bees hum a song.", "Bears like honey a lot."]
    )
    assert quotes(prediction) == [["When they fly,\nbees hum a song."], []]
    assert prediction.verdicts == ["yes", "neutral"]
    assert prediction.are_quoted == [True, None]


def test_the_baseline_agrees_with_people_on_nuggets_in_responses(shared_data):
    path = shared_data / "ikat24_nugget_match" / "pairs.jsonl"
    if not path.is_file():
        pytest.skip(f"{path} not found")
    rows = read_rows(path)
    items = [
        Asked(
            {"topic_id": row["turn_id"]}, {"key_point": row["nugget"], "response": row["response"]}
        )
        for row in rows
    ]
    judged = asyncio.run(judge_items(EntailmentJudge("lexical"), items))
    labels = ["yes" if verdict.label == "yes" else "no" for verdict, _ in judged]
    assert all(verdict.is_quoted for verdict, _ in judged if verdict.label == "yes")
    people = ["yes" if row["matched"] else "no" for row in rows]
    assert len(rows) == 474
    by_name = [i for i, row in enumerate(rows) if row["run_mapping"] == "by_name"]
    for indices in (range(len(rows)), by_name):
        measured = agreement(
            [people[i] for i in indices], [labels[i] for i in indices], ["no", "yes"]
        )
        assert measured.cohen_kappa["unweighted"] >= 0.38


# --- run and fitted


@pytest.fixture
def labelled(tmp_path):
    """Key points of 5 topics in 2 responses with labels of people: 1 where one states it."""
    path = tmp_path / "labels.jsonl"
    with path.open("w", encoding="utf-8") as stream:
        for t, run, n in itertools.product(range(5), range(2), range(3)):
            ids = {"topic_id": f"t{t}", "run_id": f"r{run}", "key_point_id": f"k{n}"}
            is_stated = (run + n) % 2
            response = f"In year {t} the keeper painted tower {n}." if is_stated else "It rained."
            row = {**ids, "key_point": f"The keeper painted tower {n}.", "response": response}
            stream.write(json.dumps(row | {"label": is_stated}) + "\n")
    return path


@pytest.mark.parametrize("window", [1, 10])
def test_items_are_run_and_fitted_to_labels_of_0_and_1_in_either_form(labelled, tmp_path, window):
    given = {"judges.entailment.window": window}
    out = tmp_path / "out"
    run = nj.run(program="items", items=labelled, judge="entailment", out=out, **given)
    people = [
        json.loads(line)["label"] for line in labelled.read_text(encoding="utf-8").splitlines()
    ]
    rows = run.judgements["labels"]
    assert [row["label"] for row in rows] == ["yes" if label else "neutral" for label in people]
    quoted = [row["evidence"][0] for row in rows if row["label"] == "yes"]
    assert {(each["of"], each["quote"][:7]) for each in quoted} == {("response", "In year")}
    assert not any("evidence" in row for row in rows if row["label"] == "neutral")
    calibrated = nj.calibrate(
        labelled, "entailment", "threshold", folds=5, resamples=0, scale={"0": "no", "1": "yes"},
        **given,
    )  # fmt: skip
    kappa = calibrated.report["figures"]["kappa"]
    assert (kappa["before"]["value"], kappa["after"]["value"]) == (1.0, 1.0)
    assert calibrated.file.correction.labels == ("no", "yes")
    state = tmp_path / "fitted.json"
    state.write_text(calibrated.file.text(), encoding="utf-8")
    again = nj.run(
        program="items", items=labelled, judge="entailment", out=tmp_path / "fitted", **given,
        **{"judges.entailment.state": state},
    )  # fmt: skip
    labels = [row["label"] for row in again.judgements["labels"]]
    assert labels == ["yes" if label else "no" for label in people]


def test_a_fitted_judge_keeps_its_quotes(served):
    _, model = served
    scale = ("no", "neutral", "yes")
    cuts = Correction(cuts=(0.7, 0.9))
    file = JudgeFile(
        judge="entailment",
        version=EntailmentJudge.version,
        scale=scale,
        model=model.model,
        correction=cuts,
    )
    judge = EntailmentJudge(model, window=10).copy_with_fit(file)
    prediction = judge(response=RESPONSE, key_points=POINTS)
    assert prediction.verdicts == ["yes", "no", "no"]
    assert prediction.are_quoted == [True, False, None]
