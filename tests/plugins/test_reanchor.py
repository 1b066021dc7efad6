"""What ReAnchor of DSPy found is a state by which a judge labels in a run."""

import dspy
import pytest
from dspy.experimental import ReAnchor
from json_lines import write_rows
from mock_decisions import DecisionServer

import nuggetjudge as nj
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.judges import NuggetAssigner, SupportJudge
from nuggetjudge.judges.saved import read_state
from nuggetjudge.plugins.harnesses.reanchor import DecisionProgram
from nuggetjudge.plugins.trec.arena.judge import BattleJudge

# A lenient model: the best label leads always, by less where people give the worst one.
SURE = {
    "support": {"none": 0.1, "partial": 0.2, "full": 0.7},
    "assigner": {"not_support": 0.1, "partial_support": 0.2, "support": 0.7},
    "battle": {"a": 0.8, "b": 0.1, "tie": 0.05, "both_bad": 0.05},
}
UNSURE = {
    "support": {"none": 0.3, "partial": 0.2, "full": 0.5},
    "assigner": {"not_support": 0.3, "partial_support": 0.2, "support": 0.5},
    "battle": {"a": 0.5, "b": 0.4, "tie": 0.05, "both_bad": 0.05},
}
PEOPLE = {
    "support": ("full", "none"),
    "assigner": ("support", "not_support"),
    "battle": ("a", "b"),
}
TEXTS = {
    "support": {"sentence": "It is {}.", "passage": "p"},
    "assigner": {"question": "q", "answer": "a", "nugget": "it is {}"},
    "battle": {"question": "q", "answer_a": "It is {}.", "answer_b": "b"},
}
MAKE = {"support": SupportJudge, "assigner": NuggetAssigner, "battle": BattleJudge}


def make_rows(name):
    """Twenty items of four topics; people give every other one the worst label."""
    for i in range(20):
        texts = {
            k: text.format(f"{('right', 'wrong')[i % 2]} {i}") for k, text in TEXTS[name].items()
        }
        ids = {"topic_id": f"t{i % 4}", "run_id": "r", "nugget_id": f"n{i}", "sentence_id": f"s{i}"}
        yield {**ids, "passage_id": "p", **texts, "label": PEOPLE[name][i % 2]}


@pytest.fixture
def server():
    def decide(state, question, labels):
        (name,) = (name for name, shares in SURE.items() if shares.keys() == set(labels))
        is_wrong = "wrong" in str(state["data"]) + question["instructions"]
        return (UNSURE if is_wrong else SURE)[name]

    with DecisionServer(decide=decide) as up:
        yield up


def make_judge(name, server):
    return MAKE[name](ModelConfig(model="typesafe/jev-1", api_base=server.base_url))


def fit(judge, rows, lie=None):
    program = DecisionProgram(judge)
    texts = TEXTS[judge.name]
    examples = [dspy.Example(**row).with_inputs(*texts) for row in rows]
    judged = program.ask(examples)
    optimiser = ReAnchor(lambda example, found, trace=None: float(found.label == example.label))
    return optimiser.compile(program, trainset=judged), judged


@pytest.mark.parametrize("name", MAKE)
def test_what_reanchor_found_is_a_state_by_which_a_judge_labels_as_people_do(
    name, server, tmp_path
):
    rows = list(make_rows(name))
    fitted, judged = fit(make_judge(name, server), rows)
    asked = len(server.requests)
    assert len(judged) == len(rows)
    assert asked == (4 if name == "assigner" else len(rows))  # no setting is tried by a request
    assert fitted.decide.fields  # it found a better one
    fitted.make_judge().save_state(tmp_path / "state.json")
    judge = make_judge(name, server)
    changed = judge.copy_with_fit(read_state(tmp_path / "state.json", judge))
    keys = TEXTS[name]
    for row in rows[:2]:
        item = {key: row[key] for key in keys}
        if name == "assigner":
            item["nuggets"] = [item.pop("nugget")]
        labels = [each(**item) for each in (judge, changed)]
        found = [str(one["verdicts"][0] if "verdicts" in one else one.label) for one in labels]
        assert found == [PEOPLE[name][0], row["label"]]
    assert changed.fitted_on == {"t0", "t1", "t2", "t3"}


def test_a_run_labels_by_the_state(server, tmp_path):
    rows = list(make_rows("assigner"))
    fitted, _ = fit(make_judge("assigner", server), rows)
    fitted.make_judge().save_state(tmp_path / "state.json")
    result = nj.run(
        program="items",
        items=write_rows(tmp_path / "items.jsonl", rows),
        judge="assigner",
        model={"model": "typesafe/jev-1", "api_base": server.base_url},
        judges={"assigner": {"state": tmp_path / "state.json"}},
        out=tmp_path / "out",
        cache=False,
    )
    found = {row["nugget_id"]: row["label"] for row in result.judgements["labels"]}
    assert found == {row["nugget_id"]: row["label"] for row in rows}


def test_an_item_that_is_not_judged_is_left_out_of_the_fit(server):
    def lie(reply):
        if " 3." in server.requests[-1].body["state"]["data"]["sentence"]:
            reply["answers"]["verdict"]["choice"] = "maybe"
        return reply

    server.lie = lie
    _, judged = fit(make_judge("support", server), make_rows("support"))
    assert [example.sentence_id for example in judged if example.sentence_id == "s3"] == []
    assert len(judged) == 19


def test_a_judge_without_probabilities_or_with_a_fit_is_refused(server):
    with pytest.raises(ValueError, match="gives no probabilities; wanted a decision model"):
        DecisionProgram(SupportJudge("lexical"))
    fitted, _ = fit(make_judge("support", server), make_rows("support"))
    with pytest.raises(ValueError, match="fitted already"):
        DecisionProgram(fitted.make_judge())
