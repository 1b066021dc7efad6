"""Runs whose judges say why: what their files hold, what is lost, and that it survives."""

import json
import shutil
from pathlib import Path

import pytest
from json_lines import read_rows
from mock_server import MockServer, input_of, schema_of
from undigested import forget_digests

import nuggetjudge as nj
from nuggetjudge.programs.analysis.compare import compare_judges
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.protocols.table import program
from nuggetjudge.programs.run import plan
from nuggetjudge.programs.scoring.result import find_first_quoted, find_quoted_judgements
from nuggetjudge.programs.scoring.score import score_path
from nuggetjudge.records.reading.problems import InputError, Problems

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
COLLECTION, KEYPOINTS = EXAMPLES.parent / "tests" / "collection", EXAMPLES / "keypoints"
SUPPORT = {
    "program": "support", "topics": COLLECTION / "topics.tsv",
    "passages": COLLECTION / "passages.jsonl", "runs": str(COLLECTION / "runs" / "thin.jsonl"),
}  # fmt: skip
NUGGETS = {**SUPPORT, "program": "nuggets", "nuggets": COLLECTION / "nuggets.jsonl"}
WINDOW = "quotes that are not in the judged text"


def answers(body):
    """A model that finds everything: the best label, the first words of each text, a reason.

    Of a window it quotes for the first item alone; of the others words that nobody wrote.
    """
    asked, reply = input_of(body), {}
    for name, part in schema_of(body)["properties"].items():
        keys = list(part.get("properties", ()))
        if name == "reasoning":
            reply[name] = dict.fromkeys(keys, "So.") if keys else "So."
        elif name.endswith("_quotes"):
            there = [" ".join(asked[name.removesuffix("_quotes")].split()[:3])]
            reply[name] = {key: there if key == "1" else ["not so"] for key in keys} or there
        else:
            reply[name] = dict.fromkeys(keys, "support") if keys else "full"
    return reply


@pytest.fixture
def server():
    with MockServer(answers) as up:
        yield up


@pytest.fixture
def model(server):
    return {"model": "openai/mock", "api_base": server.base_url}


def file_bytes(folder):
    """Everything in the folder that does not say when or by what it was made."""
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.glob("*.jsonl"))
        if path.name not in ("problems.jsonl", "spend.jsonl")
    }


def test_rows_say_why_and_it_is_scored_as_before(server, model, tmp_path):
    plain = nj.run(**SUPPORT, model=model, out=tmp_path / "plain", cache=False)
    why = nj.run(**SUPPORT, model=model, out=tmp_path / "why", cache=False, explain=True)
    assert [row.value for row in why.scores] == [row.value for row in plain.scores]
    passages = {row["docid"]: row["text"] for row in read_rows(COLLECTION / "passages.jsonl")}
    cited = [row for row in why.judgements["support"] if row["citation"]]
    assert cited
    for row in cited:
        of_passage, of_sentence = row["evidence"]
        text = passages[row["citation"]]
        assert text[of_passage["start"] : of_passage["end"]] == of_passage["quote"]
        assert (of_passage["of"], of_sentence["of"]) == ("passage", "sentence")
        assert row["rationale"] == "So."
    assert not any("evidence" in row for row in plain.judgements["support"])
    judge = why.manifest["judges"]["support"]
    assert (judge["evidence"], judge["reasoning"]) == (["passage", "sentence"], True)
    assert "evidence" not in plain.manifest["judges"]["support"]
    before = file_bytes(tmp_path / "why")
    again = score_path(tmp_path / "why", Problems())
    assert [row.value for row in again] == [row.value for row in why.scores]
    assert file_bytes(tmp_path / "why") == before


def test_what_a_journal_holds_comes_out_byte_for_byte_without_asking_again(server, model, tmp_path):
    out = tmp_path / "out"
    settings = {**NUGGETS, "model": model, "out": out, "cache": False, "explain": True}
    nj.run(**settings)
    before, n_asked = file_bytes(out), len(server.requests)
    assert b'"rationale":"So."' in before["assignments.jsonl"]
    for path in out.iterdir():
        if path.is_file():
            path.unlink()
    nj.run(**settings)
    assert file_bytes(out) == before
    assert len(server.requests) == n_asked
    nj.run(
        **{**settings, "explain": False}, force=True
    )  # another judge, which has a journal of its own
    assert len(server.requests) == 2 * n_asked


def test_labels_without_the_quote_that_they_need_are_missing_one_by_one(server, model, tmp_path):
    wanted = {"judges.assigner.evidence": "required", "judges.assigner.window": 4}
    result = nj.run(**NUGGETS, model=model, out=tmp_path / "out", **wanted)
    given = [row["nuggets"] for row in result.judgements["assignments"]]
    labels = [[nugget["assignment"] for nugget in nuggets] for nuggets in given]
    assert all(
        label == (None if i % 4 else "support") for of in labels for i, label in enumerate(of)
    )
    n_lost = sum(label is None for of in labels for label in of)
    assert (result.n_unjudged, result.n_judged) == (n_lost, sum(map(len, labels)) - n_lost)
    assert result.manifest["unjudged_by_reason"] == {"ungrounded": n_lost}
    lost = result.unjudged[0]
    assert (lost["reason"], lost["n"], lost["nuggets"]) == ("ungrounded", 1, given[0][1]["id"])
    assert "not in the text: 'not so'" in lost["detail"]
    mean = next(row for row in result.scores if (row.topic_id, row.measure) == ("all", "A"))
    assert mean.n_unjudged == n_lost
    assert mean.low < mean.value == 0.8 == mean.high  # one of five topics has no answer


def test_wrong_quotes_are_counted_and_the_labels_stand(server, model, tmp_path):
    result = nj.run(
        **NUGGETS, model=model, out=tmp_path / "out", **{"judges.assigner.evidence": True}
    )
    wrong = [
        part
        for row in result.judgements["assignments"]
        for nugget in row["nuggets"]
        for part in nugget["evidence"]
        if part.get("is_quoted") is False
    ]
    assert wrong[0] == {"of": "answer", "quote": "not so", "is_quoted": False}
    assert result.manifest["counts"][WINDOW] == len(wrong)
    assert result.n_unjudged == 0


def test_a_whole_call_without_a_quote_is_unjudged_with_its_cost(tmp_path):
    reply = {"passage_quotes": ["nobody"], "sentence_quotes": [], "verdict": "full"}
    with MockServer(lambda body: reply) as server:
        model = {"model": "openai/mock", "api_base": server.base_url}
        result = nj.run(
            **SUPPORT, model=model, out=tmp_path / "out", **{"judges.support.evidence": "required"}
        )
    assert result.n_judged == 0
    assert {row["reason"] for row in result.unjudged} == {"ungrounded"}
    assert result.manifest["tokens"]["completion"] > 0
    assert [row["label"] for row in result.judgements["support"] if row["citation"]] == [
        None
    ] * result.n_unjudged


# --- the lexical judge, for which nothing is asked


def test_a_run_without_a_model_has_evidence_unless_told_otherwise(tmp_path):
    with_it = nj.run(**SUPPORT, out=tmp_path / "with")
    without = nj.run(**SUPPORT, out=tmp_path / "without", **{"judges.support.evidence": False})
    assert [row.value for row in with_it.scores] == [row.value for row in without.scores]
    judgements = list(find_quoted_judgements(tmp_path / "with", program("support")))
    cited = with_it.judgements["support"]
    assert len(judgements) == sum(row["label"] in ("full", "partial") for row in cited)
    assert all(one.is_quoted for judgement in judgements for one in judgement.quoted)
    assert not list(find_quoted_judgements(tmp_path / "without", program("support")))
    assert "rationale" not in cited[0]


def test_each_program_shows_a_cell_with_its_words(tmp_path):
    nj.run(
        program=["nuggets", "support", "keypoints"], topics=COLLECTION / "topics.tsv",
        passages=COLLECTION / "passages.jsonl", nuggets=COLLECTION / "nuggets.jsonl",
        keypoints=_points(tmp_path), runs=str(COLLECTION / "runs"), out=tmp_path / "out",
    )  # fmt: skip
    judgements = dict(find_first_quoted(tmp_path / "out"))
    assert list(judgements) == ["nuggets", "support", "keypoints"]
    assert judgements["support"].label in ("full", "partial")
    assert judgements["keypoints"].label == "yes"
    assert {judgement.topic_id for judgement in judgements.values()} == {"demo-bridges"}
    judgement = judgements["nuggets"]
    [text] = [
        row["answer_text"]
        for row in read_rows(tmp_path / "out" / "assignments.jsonl")
        if (row["run_id"], row["qid"]) == (judgement.run_id, judgement.topic_id)
    ]
    assert judgement.quoted[0].stands_in(text)
    claims = [one for row in read_rows(tmp_path / "out" / "claims.jsonl") for one in row["claims"]]
    assert all(("evidence" in one) == (one["label"] == "yes") for one in claims)
    assert {one["label"] for one in claims} == {"yes", "no"}


def _points(tmp_path):
    point = "Engineers answer with tuned mass dampers, weights on springs."
    path = tmp_path / "keypoints.jsonl"
    path.write_text(json.dumps({"qid": "demo-bridges", "query": "q", "key_points": [point]}) + "\n")
    return path


def test_ratings_keep_their_layout_and_their_quotes_stand_beside_them(tmp_path):
    passage = {"docid": "t:d#0", "text": "The mill burned in 1904. Rents fell."}
    files = {
        "questions": {"id": "t", "questions": ["When did the mill burn?", "Who wore a hat?"]},
        "passages": passage,
    }
    paths = {}
    for name, row in files.items():
        paths[name] = tmp_path / f"{name}.jsonl"
        paths[name].write_text(json.dumps(row) + "\n")
    run = tmp_path / "a.run"
    run.write_text("t Q0 t:d#0 1 1.0 a\n")
    result = nj.run(
        program="coverage", **paths, retrieval=str(run), out=tmp_path / "out", explain=True
    )
    [rated] = result.judgements["ratings"]
    assert set(rated) == {"id", "docid", "rating"}
    first, second = read_rows(tmp_path / "out" / "rating_evidence.jsonl")
    assert (first["question_id"], first["label"]) == ("0", str(rated["rating"][0]))
    assert [each["quote"] for each in first["evidence"]] == ["The mill burned in 1904."]
    assert "evidence" not in second
    assert "words found" in second["rationale"]
    [(_, judgement)] = find_first_quoted(tmp_path / "out")
    assert (judgement.topic_id, judgement.item) == ("t", "t:d#0 0")


# --- settings, costs and comparisons


def test_asking_why_is_forecast(model, tmp_path):
    sets = [f"models.default.api_base={model['api_base']}"]

    def tokens(**more):
        given = {"run.out": tmp_path / "x", "data.topics": SUPPORT["topics"],
                 "data.passages": (SUPPORT["passages"],), "data.runs": (SUPPORT["runs"],),
                 "program": ["support"], **more}  # fmt: skip
        config = load_config(None, given, sets, "openai/mock")
        [estimate] = plan(config)
        return estimate.calls, estimate.prompt_tokens, estimate.completion_tokens

    plain, why = tokens(), tokens(**{"run.explain": True})
    assert plain[0] == why[0]
    assert plain[1] + 30 * plain[0] < why[1]
    assert plain[2] + 30 * plain[0] < why[2]
    reason = tokens(**{"judges.support.reasoning": True})
    assert plain[2] < reason[2] < why[2]


def test_an_explained_run_leaves_alone_what_the_config_says_of_a_judge():
    given = {"run.explain": True, "judges.support.reasoning": False}
    config = load_config(None, {"program": ["support"], **given})
    assert (config.judge("support").evidence, config.judge("support").reasoning) == (True, False)
    assert config.judge("claim").reasoning is True
    assert config.judge("nuggetizer").evidence is None


@pytest.mark.parametrize("name", ["nuggetizer", "importance", "keypoint_filter"])
def test_a_judge_that_labels_no_items_cannot_say_why(name):
    with pytest.raises(
        InputError, match=r"reasoning: only assigner, .*claim, .*can explain labels"
    ):
        load_config(None, {"program": ["nuggets"], f"judges.{name}.reasoning": True})


def test_two_runs_with_and_without_reasons_are_compared(server, model, tmp_path):
    nj.run(**SUPPORT, model=model, out=tmp_path / "plain", cache=False)
    out = tmp_path / "why"
    nj.run(**SUPPORT, model=model, out=out, cache=False, explain=True)
    path = forget_digests(out) / "support.jsonl"
    path.write_text(path.read_text().replace('"label":"full"', '"label":"none"', 1))
    comparison = compare_judges(tmp_path / "plain", out, Problems(), kind="support", resamples=0)
    assert comparison["n_flips"] == 1
    [flip] = comparison["flips"]
    assert flip["rationale"] is None
    assert flip["other_rationale"] == "So."
    assert " | " in flip["other_quote"]
    ratio = comparison["cost"]["ratio_per_judgement"]
    assert ratio["calls"] == 1.0
    assert ratio["tokens"] > 1.1


def test_results_of_older_versions_are_scored_with_their_quotes_as_text(tmp_path):
    out = tmp_path / "out"
    nj.run(
        program="keypoints", topics=KEYPOINTS / "topics.jsonl", runs=str(KEYPOINTS / "answers"),
        keypoints=KEYPOINTS / "keypoints.jsonl", out=out,
    )  # fmt: skip
    before = [(row.measure, row.value) for row in score_path(out, Problems())]
    old = tmp_path / "old"
    forget_digests(shutil.copytree(out, old))
    written = read_rows(old / "entailments.jsonl")
    for row in written:
        row["evidence"] = row["evidence"][0]["quote"] if row["evidence"] else ""
    assert any(row["evidence"] for row in written)
    text = "".join(json.dumps(row) + "\n" for row in written)
    (old / "entailments.jsonl").write_text(text, encoding="utf-8")
    problems = Problems()
    assert [(row.measure, row.value) for row in score_path(old, problems)] == before
    assert len(problems) == 0
