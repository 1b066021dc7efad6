"""An agent is fitted as one: the judge that writes its queries learns from what they found."""

import json

import pytest
from finding import registered
from mock_replies import input_of, schema_of, text_of
from mock_server import MockServer
from stamp_brain import RULE, stamp_brain
from typer.testing import CliRunner

from nuggetjudge.agents import EvidenceAgent, PassageCorpus
from nuggetjudge.backends.budget import Budget
from nuggetjudge.calibration.agents.examples import AgentExample, read_agent_examples
from nuggetjudge.calibration.agents.marking import AgentMarks, agent_tasks
from nuggetjudge.calibration.agents.session import calibrate_agent, plan_agent
from nuggetjudge.calibration.settings import Settings
from nuggetjudge.cli.app import app
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.engine.panel import Panel
from nuggetjudge.programs.protocols.table import program
from nuggetjudge.programs.run import judge_collection
from nuggetjudge.records.reading.problems import InputError, Problems
from nuggetjudge.records.rows import Passage

N_TOPICS, N_EACH = 10, 3
GEPA = Settings(method="gepa", options={"max_metric_calls": 60}, resamples=200, concurrency=4)


def number_of(text):
    return int("".join(filter(str.isdigit, text)))


@pytest.fixture
def broken():
    """Numbers of items on which the writer of queries gives no reply that can be read."""
    return set()


@pytest.fixture
def server(monkeypatch, broken):
    """A passage is found by its own word alone, which queries have once the rule is known."""
    registered(monkeypatch)

    def brain(body):
        if schema_of(body) is None:
            return stamp_brain(body)  # proposes the rule
        asked = input_of(body)
        if "passage" in asked:
            carries = number_of(asked["sentence"]) == number_of(asked["passage"])
            return {"verdict": "full" if carries else "none"}
        i = number_of(asked["question"])
        if i in broken:
            return "no reply"
        knows = RULE in text_of(body["messages"][0])
        return {"kind": "complex", "subquestions": [f"zebra{i}" if knows else "Whatever?"]}

    with MockServer(brain=brain, model_names=("m",)) as up:
        yield up


@pytest.fixture
def labels(tmp_path):
    """Sentences that share no word with the passage that carries them; some have none."""
    path = tmp_path / "outcomes.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for i in range(N_TOPICS * N_EACH):
            is_there = i % 6 != 5
            row = {"topic_id": f"t{i // N_EACH}", "sentence": f"Claim {i} holds."}
            row["outcome"] = "found" if is_there else "not_found"
            row["passages"] = {f"p{i}": "full"} if is_there else {}
            file.write(json.dumps(row) + "\n")
    return path


@pytest.fixture
def config(server, labels, tmp_path):
    path = tmp_path / "passages.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for i in range(N_TOPICS * N_EACH):
            if i % 6 != 5:
                file.write(json.dumps({"id": f"p{i}", "text": f"A zebra{i} proves it."}) + "\n")

    def made(**more):
        given = {
            "program": "finding",
            "data.passages": [path],
            "run.out": tmp_path / "out",
            "run.cache": tmp_path / "cache",
            "models.default": {
                "model": "hosted_vllm/m",
                "api_base": server.base_url,
                "reasks": 0,
                "max_tokens": 100,
            },
            **more,
        }
        return load_config(None, given)

    return made


def answers(folder):
    """All sentences as the answers of a run."""
    topics, runs = folder / "topics.tsv", folder / "runs.jsonl"
    names = [f"t{i}" for i in range(N_TOPICS)]
    topics.write_text("".join(f"{name}\tWhat holds?\n" for name in names), encoding="utf-8")
    with runs.open("w", encoding="utf-8") as file:
        for i, name in enumerate(names):
            texts = [f"Claim {N_EACH * i + j} holds." for j in range(N_EACH)]
            sentences = [{"text": text, "citations": []} for text in texts]
            row = {"run_id": "r", "topic_id": name, "references": [], "answer": sentences}
            file.write(json.dumps(row) + "\n")
    return {"data.topics": topics, "data.runs": [runs]}


def test_the_query_writer_gets_better_on_held_out_topics_and_a_run_loads_it(
    config, labels, server, tmp_path
):
    out = tmp_path / "fitted"
    fitting = calibrate_agent(labels, "finding", config(), GEPA, out=out)
    accuracy = fitting.report["figures"]["accuracy"]
    assert accuracy["after"]["value"] == 1
    assert accuracy["before"]["value"] < 0.4
    assert fitting.report["verdict"] == "better"
    assert list(fitting.files) == ["question_decomposer"]  # the support judge was right before
    assert RULE in fitting.files["question_decomposer"].prompts["split"].instructions
    assert "+Go by the colour" in fitting.diff
    feedback = [
        text_of(r.body["messages"][-1]) for r in server.requests if "response_format" not in r.body
    ]
    assert any("which people confirmed, is not among them" in text for text in feedback)
    assert any("A zebra" in text for text in feedback)  # the passage that no search found

    state = {"judges.question_decomposer.state": out / "question_decomposer.json"}
    answered = answers(tmp_path)
    outcomes = []
    for name, more in (("default", {}), ("fitted", state)):
        result = judge_collection(config(**answered, **more, **{"run.out": tmp_path / name}))
        steps = [json.loads(line) for line in (result.folder / "trace.jsonl").open("rb")]
        outcomes.append(sum(step["name"] == "found" for step in steps if step["kind"] == "end"))
    assert outcomes == [0, 25]
    with pytest.raises(InputError, match="would be tested on"):  # another split of its topics
        calibrate_agent(
            labels, "finding", config(**state), Settings(method="gepa", seed=3, resamples=0)
        )
    server.clear()
    again = calibrate_agent(labels, "finding", config(), GEPA)
    assert again.files == fitting.files
    assert again.report["figures"] == fitting.report["figures"]
    assert server.requests == []  # all of it is in the cache
    planned = sum(row.calls for row in plan_agent(labels, "finding", config(), GEPA))
    took = sum(of.get("calls", 0) for of in fitting.report["judges"].values())
    assert took < planned


def test_what_has_no_outcome_is_left_out_and_counted_and_not_scored_0(config, labels, broken):
    topics = calibrate_agent(labels, "finding", config(), GEPA, judges=["support"]).report["topics"]
    broken.update(N_EACH * int(topics[0]["test"][0][1:]) + i for i in range(2))
    broken.add(N_EACH * int(topics[0]["dev"][0][1:]))
    clean = config(**{"run.cache": False})
    report = calibrate_agent(labels, "finding", clean, GEPA, judges=["question_decomposer"]).report
    assert report["figures"]["accuracy"]["after"]["value"] == 1
    assert report["unjudged"] == {"before": {"unparseable": 2}, "after": {"unparseable": 2}}
    assert report["n_test"] == N_EACH * len(topics[0]["test"]) - 2
    writer = report["judges"]["question_decomposer"]
    assert (writer["n_failed_before"], writer["n_failed_after"]) == (1, 1)
    assert writer["dev_gain_after"] > 0.95  # as if the item that failed were not there


def test_the_command_prints_whether_it_helped_and_needs_to_know_whom_to_fit(
    config, labels, server, tmp_path
):
    command = ["calibrate", str(labels), "--agent", "finding", "--judge", "question_decomposer"]
    command += ["--model", "hosted_vllm/m", "--set", f"models.default.api_base={server.base_url}"]
    command += ["--passages", str(tmp_path / "passages.jsonl"), "--option", "max_metric_calls=60"]
    command += ["--set", f"run.cache={tmp_path / 'cli'}", "--out", str(tmp_path / "fits")]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("The fit helped: share of right outcomes rose from ")
    assert "fits/question_decomposer.json" in done.stderr.replace("\n", "")
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    assert (tmp_path / "fits" / "question_decomposer.log.jsonl").is_file()
    planned = CliRunner().invoke(app, [*command, "--dry-run"])
    assert planned.exit_code == 0, planned.output
    assert "counted at the most that it may ask" in " ".join(planned.stdout.split())
    for wrong, what in (
        (["calibrate", str(labels), "--method", "gepa"], "'--judge', or --agent"),
        (["calibrate", str(labels), "--judge", "support"], "'--method'"),
        ([*command, "--judge", "nobody"], "nobody"),
        (["calibrate", str(labels), "--agent", "support"], "no agent works in support"),
        ([*command[:4], "--method", "mipro", *command[6:]], "an agent is fitted by gepa"),
        ([*command, "--call-price", "0.2"], "9 calls, the limit of finder"),
    ):
        refused = CliRunner().invoke(app, wrong)
        assert isinstance(refused.exception, InputError), refused.output
        assert what in str(refused.exception)


def test_an_example_says_what_is_wrong_with_its_line(config, labels, tmp_path):
    agent = program("finding").agent(_workplace(config()))
    path = tmp_path / "wrong.jsonl"
    path.write_text(
        '{"topic_id": "t", "outcome": "found"}\n'
        '{"topic_id": "t", "sentence": "s", "outcome": "found", "passages": ["p"]}\n'
        '{"topic_id": "t", "sentence": "s", "outcome": "found", "passages": {"p": "ful"}}\n',
        encoding="utf-8",
    )
    with pytest.raises(InputError) as refused:
        read_agent_examples(path, agent, Problems())
    assert "wrong.jsonl:1" in str(refused.value)
    assert "'sentence' is missing, an input of finder" in str(refused.value)
    assert "wrong.jsonl:2" in str(refused.value)
    assert "wanted passage id -> label" in str(refused.value)
    assert "wrong.jsonl:3: field 'passages.p' is 'ful', wanted one of" in str(refused.value)
    few = tmp_path / "few.jsonl"
    few.write_text(labels.read_text(encoding="utf-8").split("\n", 1)[0] + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="3 topics or more"):
        read_agent_examples(few, agent, Problems())


def test_an_example_holds_what_the_agent_takes_and_can_come_to(tmp_path):
    path = tmp_path / "wrong.jsonl"
    known = {"topic_id": "t", "question": "q", "sentence": "s", "cited": None, "label": None}
    rows = [
        {**known, "references": ["p"], "documents": {"p": ["", "text"]}, "outcome": "not_found"},
        {**known, "sentence": 5, "references": [], "documents": None, "outcome": "not_found"},
        {**known, "references": "p3", "documents": None, "outcome": "not_found"},
        {**known, "references": [], "documents": [1], "outcome": "unsupported"},
    ]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    agent = EvidenceAgent.__new__(EvidenceAgent)  # whose judges nobody asks
    with pytest.raises(InputError) as refused:
        read_agent_examples(path, agent, Problems())
    assert "wrong.jsonl:1" not in str(refused.value)
    assert "wrong.jsonl:2: field 'sentence' is 5, wanted a text or null" in str(refused.value)
    assert "wrong.jsonl:3: field 'references' is 'p3'" in str(refused.value)
    assert "wrong.jsonl:4: field 'outcome' is 'unsupported', wanted one of cited_ok" in str(
        refused.value
    )
    assert "wrong.jsonl:4: field 'documents' is [1]" in str(refused.value)


# By hand, of 9 calls at most at .01: all calls cost .09; right after 4: (1 - .04 + .09) / 1.09.
def test_a_call_has_a_price_and_each_judge_is_told_of_its_own_steps(config):
    import dspy

    agent = program("finding").agent(_workplace(config()))
    agent.corpus = PassageCorpus([Passage(id="p1", text="A zebra1 proves it.")])
    item = AgentExample(
        "t", {"topic_id": "t", "sentence": "Claim 1."}, "found", {"p1": "full"}, {"p1": ["zebra1"]}
    )
    call = {"kind": "call", "name": "support", "in": {"passage": "p1"}, "out": {"label": "none"}}
    search = {"kind": "tool", "name": "search", "args": {"query": "q"}, "out": [["p1", 2.0]]}
    asked = {"kind": "call", "name": "question_decomposer", "in": {}, "out": []}
    [task] = agent_tasks([item])
    right = dspy.Prediction(outcome="found", n_calls=4, steps=[search, call, asked])
    wrong = dspy.Prediction(outcome="not_found", n_calls=0, steps=[asked, {**search, "out": []}])
    of_support = AgentMarks(agent, "support", [item], 0.01)
    assert of_support.gains(task, right) == [pytest.approx((1 - 0.04 + 0.09) / 1.09)]
    assert of_support.gains(task, wrong) == [pytest.approx(0.09 / 1.09)]
    assert of_support.gains(task, dspy.Prediction(failure="tool: gone")) == [None]
    feedback = of_support.feedback(task.example, right)
    assert feedback == (
        "In the end right: it is found.\nPassage p1: people say full, here it was none. By: zebra1"
    )
    of_writer = AgentMarks(agent, "question_decomposer", [item], 0.01)
    assert "p1" not in of_writer.feedback(task.example, right)  # what was searched before it
    assert of_writer.feedback(task.example, wrong).splitlines() == [
        "In the end wrong: it is found and not not_found.",
        "search for 'q', 0 passages: p1, which people confirmed, is not among them.",
        "No search found p1, which people confirmed: A zebra1 proves it.",
    ]


def _workplace(config):
    from nuggetjudge.calibration.agents.session import _Workplace

    return _Workplace(config, Panel(config, cache=None, budget=Budget()))
