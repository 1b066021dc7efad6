"""What a decision model cannot write is said before a run, and another model may write it."""

import json
from pathlib import Path

import pytest
from mock_decisions import DecisionServer
from mock_server import MockServer, Refusal, input_of

import nuggetjudge as nj
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.run import forecast
from nuggetjudge.records.reading.problems import InputError

DEMO = Path(__file__).resolve().parents[2] / "collection"
BANK = {"data.nuggets": DEMO / "nuggets.jsonl"}
FULL = {"none": 0.1, "partial": 0.2, "full": 0.7}


@pytest.fixture
def server():
    with DecisionServer() as up:
        yield up


def make_config(server, tmp_path, program, chat=None, **settings):
    given = {"run.out": tmp_path / "out", "program": program, "run.cache": False, "run.limit": 1}
    entries = [f"models.default.api_base={server.base_url}"]
    if chat is not None:
        given["models.chat.api_base"] = chat.base_url
        entries.append("models.chat.model=hosted_vllm/mock")
    return load_config(DEMO / "judge.yaml", given | settings, entries, "typesafe/jev-1.13.0")


def write_state(tmp_path):
    demo = {"passage": "Wind.", "sentence": "Wind.", "verdict": "full"}
    row = {"format": "nuggetjudge-judge-1", "judge": "support", "version": "3", "model": "x"}
    row |= {"scale": ["none", "partial", "full"]}
    row["prompts"] = {"judge": {"instructions": "Decide.", "demos": [demo]}}
    (tmp_path / "state.json").write_text(json.dumps(row))
    return tmp_path / "state.json"


def write_template(tmp_path):
    text = (
        "user: |\n  Does this passage support it? {passage}\n  {sentence}\nreply: {form: label}\n"
    )
    (tmp_path / "template.yaml").write_text(text)
    return tmp_path / "template.yaml"


# What is judged, with which settings, and each judge with what it wants and what to set.
WANTED = {
    "nuggets are made": (
        ["nuggets"],
        {},
        [r"nuggetizer writes text .*: judges\.nuggetizer\.model"],
    ),
    "reasons": (
        *(["support", "nuggets"], {**BANK, "run.explain": True}),
        [r"support writes text .*run\.explainer, or", r"assigner writes text .*run\.explainer, or"],
    ),
    "quotes of one judge": (
        *(["support"], {"judges.support.evidence": "required"}),
        [r"support writes text \(passage_quotes.*run\.explainer, or judges\.support\.model"],
    ),
    "a member of a jury": (
        *(["support"], {"judges.support.jury.members": ["default", "chat"], "run.explain": True}),
        [r"support writes text"],
    ),
    "a verifier": (
        ["support"],
        {"judges.support.model": "chat", "judges.support.verify.when.labels": ["partial"]},
        [r"support writes text .*: judges\.support\.model"],
    ),
    "a prompt template": (
        *(["support"], {"judges.support.prompt": write_template}),
        [r"support asks by a prompt template: judges\.support\.model"],
    ),
    "worked examples": (
        *(["support"], {"judges.support.state": write_state}),
        [r"support shows worked examples: judges\.support\.model"],
    ),
}


@pytest.mark.parametrize(("program", "settings", "wanted"), WANTED.values(), ids=WANTED)
def test_all_that_a_decision_model_cannot_do_is_said_before_the_first_request(
    program, settings, wanted, server, tmp_path
):
    made = {n: v(tmp_path) if callable(v) else v for n, v in settings.items()}
    with MockServer() as chat:
        config = make_config(server, tmp_path, program, chat, **made)
        for start in (nj.run, forecast):
            with pytest.raises(InputError, match="only chooses labels") as error:
                start(config)
            for line in wanted:
                assert error.match(line)
        assert server.requests == chat.requests == []
    assert not (tmp_path / "out").exists()


def test_in_memory_too_it_is_said_before_the_first_request(server):
    samples = [{"question": "Why?", "answer": "Wind moves decks.", "contexts": ["Wind."]}]
    entry = {"model": "typesafe/jev-1.13.0", "api_base": server.base_url}
    with pytest.raises(InputError, match=r"judges\.nuggetizer\.model"):
        nj.evaluate(samples, program="nuggets", model=entry)
    assert server.requests == []


@pytest.mark.whole
def test_doctor_names_the_judges_that_need_another_model(server, tmp_path):
    from nuggetjudge.plugins.upkeep.doctor import examine_all

    (report,) = examine_all(make_config(server, tmp_path, ["nuggets"]))
    assert "judges.nuggetizer.model" in report.trouble[-1]
    (report,) = examine_all(make_config(server, tmp_path, ["nuggets"], **BANK))
    assert "judges." not in str(report.trouble)


def find_asked(result):
    """The judgements of a model: some citations name no passage, and nobody is asked."""
    return [row for row in result.judgements["support"] if "probabilities" in row]


def quote_first_word(body):
    """A writer: of each text the first word, and as reason the label that it was shown."""
    asked = input_of(body)
    quotes = {f"{name}_quotes": [asked[name].split()[0]] for name in ("passage", "sentence")}
    return {"reasoning": f"{asked['verdict']}, since it says so", **quotes}


def test_a_second_model_explains_the_labels_of_a_decision_model(server, tmp_path):
    server.decide = lambda *_: FULL
    with MockServer(brain=quote_first_word) as chat:
        explain = {"run.explain": True, "run.explainer": "chat"}
        config = make_config(server, tmp_path, ["support"], chat, **explain)
        calls = {each.judge: each.calls for each in forecast(config).judges}
        result = nj.run(config)
        n, asked = len(chat.requests), chat.requests[0].body
    assert calls == {"support": len(server.requests), "support explainer": n}
    rows = find_asked(result)
    assert len(rows) == n
    for row in rows:
        assert (row["label"], row["probabilities"]) == ("full", pytest.approx(FULL))
        assert row["rationale"] == "full, since it says so"
        assert [each.get("is_quoted", True) for each in row["evidence"]] == [True, True]
    wanted = asked["response_format"]["json_schema"]["schema"]["required"]
    assert wanted == ["reasoning", "passage_quotes", "sentence_quotes"]  # and no label


def test_labels_stay_where_their_reasons_did_not_come_unless_quotes_are_required(server, tmp_path):
    server.decide = lambda *_: FULL
    with MockServer(faults=lambda *_: Refusal()) as chat:
        explain = {"run.explainer": "chat", "judges.support.reasoning": True}
        first = nj.run(make_config(server, tmp_path, ["support"], chat, **explain))
        required = {"judges.support.evidence": "required", "run.out": tmp_path / "required"}
        second = nj.run(make_config(server, tmp_path, ["support"], chat, **explain, **required))
    assert {row["label"] for row in find_asked(first)} == {"full"}
    assert first.is_complete
    assert find_asked(second) == []
    assert {row["detail"].split(":")[0] for row in second.unjudged} == {"explainer"}


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"run.explainer": "other"}, "no model 'other'; models: default, chat"),
        ({"run.explainer": "default"}, "'default' writes no text"),
    ],
)
def test_an_explainer_that_cannot_explain_is_refused(settings, what, server, tmp_path):
    with MockServer() as chat, pytest.raises(InputError, match=what):
        make_config(server, tmp_path, ["support"], chat, **settings)
