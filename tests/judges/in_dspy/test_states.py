"""Judges optimised by DSPy itself, as the page shows it, and used by `judge run`."""

import json
import re
from pathlib import Path

import dspy
import pytest
from mock_server import MockServer
from stamp_brain import RULE, STAMPS, stamp_brain

import nuggetjudge as nj
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.judges import (
    AnswerabilityGrader,
    EntailmentJudge,
    NuggetAssigner,
    Nuggetizer,
    RelevanceJudge,
    SupportJudge,
)
from nuggetjudge.judges.fitted import Correction, JudgeFile
from nuggetjudge.judges.saved import read_state
from nuggetjudge.programs.engine.composed_judges import load_fitted
from nuggetjudge.records.reading.problems import InputError

PAGE = Path(__file__).resolve().parents[3] / "docs" / "dspy.md"
# By judge: the input whose stamp tells the label, the other inputs, the labels of the three stamps.
JUDGES = {
    SupportJudge: ("passage", {"sentence": "Claim."}, ("none", "partial", "full")),
    RelevanceJudge: ("passage", {"question": "Why?"}, ("0", "1", "3")),
    AnswerabilityGrader: ("context", {"question": "Why?"}, ("0", "2", "5")),
    EntailmentJudge: ("response", {"key_point": "It is."}, ("no", "neutral", "yes")),
    NuggetAssigner: (
        "nuggets",
        {"question": "Why?", "answer": "So."},
        ("not_support", "partial_support", "support"),
    ),
}


def stamped_text(i):
    return f"Page {i * 7919 % 1000}, stamped {STAMPS[(0, 0, 1, 0, 2)[i % 5]]}."


def examples(kind, n, first=0):
    name, others, labels = JUDGES[kind]
    found = []
    for i in range(first, first + n):
        text, label = stamped_text(i), labels[(0, 0, 1, 0, 2)[i % 5]]
        value, wanted = ([text], [label]) if name == "nuggets" else (text, label)
        example = dspy.Example(**others, **{name: value}, label=wanted)
        found.append(example.with_inputs(name, *others))
    return found


def share_right(judge, items):
    said = [judge(**item.inputs()) for item in items]
    labels = [p.verdicts if isinstance(judge, NuggetAssigner) else p.label for p in said]
    return sum(a == item.label for a, item in zip(labels, items, strict=True)) / len(items)


@pytest.fixture(scope="module")
def server():
    with MockServer(stamp_brain) as running:
        yield running


@pytest.fixture
def model(server):
    return ModelConfig(model="openai/mock", api_base=server.base_url)


def read_page():
    """The code of the page by optimiser: all of it for GEPA, the two other lines for the others."""
    section = PAGE.read_text(encoding="utf-8").split("## Optimise a judge in DSPy")[1]
    whole, others = re.findall(r"```python\n(.*?)```", section, re.S)[:2]
    mipro, bootstrap = others.split("\n\n")
    start, optimiser, *_, save = re.split(r"^(?=optimiser|better)", whole, flags=re.MULTILINE)
    assert optimiser.startswith("optimiser = dspy.GEPA(")
    return {
        "GEPA": whole,
        "MIPROv2": f"{start}{mipro}\n{save}",
        "Bootstrap": start + bootstrap + save,
    }


@pytest.mark.parametrize("kind", JUDGES, ids=lambda kind: kind.name)
@pytest.mark.parametrize("optimiser", ["GEPA", "MIPROv2", "Bootstrap"])
def test_the_code_of_the_page_makes_each_judge_better(
    optimiser, kind, model, tmp_path, monkeypatch
):
    """Eight lines of code, but for comments and blank ones; a smaller search than "light"."""
    if optimiser == "MIPROv2":
        pytest.importorskip("optuna")
    code = read_page()[optimiser]
    lines = [line for line in code.splitlines() if line.strip() and line[0] not in "#"]
    assert len(lines) <= 8
    code = code.replace("SupportJudge(model)", f"{kind.__name__}(model)")
    if kind is NuggetAssigner:
        code = code.replace("prediction.label", "prediction.verdicts")
    small = {
        "GEPA": "max_metric_calls=40",
        "MIPROv2": "auto=None, num_candidates=2, max_bootstrapped_demos=0, max_labeled_demos=0",
    }
    code = code.replace('auto="light"', small.get(optimiser, ""))
    if optimiser == "MIPROv2":
        code = code.replace("valset=dev)", "valset=dev, num_trials=2, minibatch=False)")
    monkeypatch.chdir(tmp_path)
    names = {"dspy": dspy, kind.__name__: kind, "model": model}
    data = {"train": examples(kind, 10), "dev": examples(kind, 10, first=100)}
    with dspy.context(adapter=dspy.ChatAdapter()):
        exec(compile(code, str(PAGE), "exec"), scope := names | data)
    held_out = examples(kind, 20, first=200)
    plain = share_right(kind(model), held_out)
    fitted = load_fitted(kind(model), tmp_path / "support.json")
    assert share_right(fitted, held_out) == share_right(scope["better"], held_out) > plain
    assert fitted.prompt(kind(model).predictor).fixed == (
        scope["better"].prompt(kind(model).predictor).fixed
    )


class Program(dspy.Module):
    """A user's program around judges."""

    def __init__(self, *judges):
        super().__init__()
        self.title = dspy.Predict("sentence -> title")
        self.check, self.others = judges[0], list(judges[1:])

    def forward(self, **inputs):
        return self.check(**inputs)


def taught(judge):
    """With instructions and demonstrations as DSPy's optimisers leave them."""
    predict = judge.judge
    predict.signature = predict.signature.with_instructions(RULE)
    predict.demos = [
        dspy.Example(augmented=True, sentence="a", passage="stamped red", verdict="none"),
        dspy.Example(sentence="a", title="of the program around it"),  # LabeledFewShot's
    ]
    return judge


def write_topics(folder, n):
    """What `judge run support` reads: an answer of one cited sentence for each topic."""
    folder.mkdir(exist_ok=True)
    tables = {"topics": [], "runs": [], "passages": []}
    for i in range(n):
        tables["topics"].append({"id": f"t{i}", "title": f"Question {i}?"})
        answer = [{"text": "Claim.", "citations": [0]}]
        tables["runs"].append(
            {"run_id": "r", "topic_id": f"t{i}", "references": [f"p{i}"], "answer": answer}
        )
        tables["passages"].append({"docid": f"p{i}", "text": stamped_text(300 + i)})
    for name, rows in tables.items():
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return {name: str(folder / f"{name}.jsonl") for name in tables}


def test_a_run_asks_what_dspy_saved(tmp_path, server, model):
    """Of a program with several judges; GEPA's rule is right, the plain judge mostly is not."""
    data = write_topics(tmp_path / "data", 20)
    program = Program(SupportJudge(model), RelevanceJudge(model))

    def agrees(example, prediction, trace=None, pred_name=None, pred_trace=None):
        return dspy.Prediction(score=float(prediction.label == example.label), feedback="No.")

    train = examples(SupportJudge, 10)
    optimiser = dspy.GEPA(
        agrees, max_metric_calls=40, reflection_lm=program.check.get_lm(), use_merge=False
    )
    optimiser.compile(program, trainset=train, valset=train).save(tmp_path / "program.json")
    entry = {"model": "openai/mock", "api_base": server.base_url}
    right = {}
    for name, settings in {
        "plain": {},
        "gepa": {"judges.support.state": str(tmp_path / "program.json")},
    }.items():
        result = nj.run(program="support", model=entry, out=tmp_path / name, **data, **settings)
        said = {row["topic_id"]: row["label"] for row in read_labels(result.folder)}
        wanted = [JUDGES[SupportJudge][2][(0, 0, 1, 0, 2)[(300 + i) % 5]] for i in range(20)]
        right[name] = sum(said[f"t{i}"] == label for i, label in enumerate(wanted)) / 20
        assert bool(settings) == (RULE in json.dumps(server.requests[-1].body))
    assert right["gepa"] == 1.0 > right["plain"] + 0.3


def read_labels(folder):
    rows = (folder / "support.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(row) for row in rows]


def test_a_saved_state_is_read_by_dspy_and_by_a_run(tmp_path):
    correction = Correction(cuts=(-1.0, -1.0))
    judge = taught(SupportJudge("lexical"))
    file = JudgeFile(
        judge="support",
        version=judge.version,
        scale=judge.scale,
        model="lexical",
        correction=correction,
        fitted_on=("t1",),
    )
    judge.take_fit(file)
    path = tmp_path / "made" / "support.json"
    judge.save_state(path)
    loaded = SupportJudge("lexical")
    loaded.load(path)
    for same in (loaded, load_fitted(SupportJudge("lexical"), path)):
        assert same.prompt("judge").fixed == judge.prompt("judge").fixed
        assert len(same.prompt("judge").fixed) == 3  # one demonstration is shown
        assert (same.correction, same.fitted_on) == (correction, {"t1"})
    assert len(same.judge.demos) == 1  # what LabeledFewShot added is no demonstration of the judge
    with pytest.raises(ValueError, match=r"a\.pkl: wanted a file that ends with \.json"):
        judge.save_state(tmp_path / "a.pkl")
    with pytest.raises(InputError, match="cannot be written"):
        judge.save_state(path / "within.json")


def test_a_judge_that_makes_lists_is_read_too(tmp_path):
    judge = Nuggetizer("lexical")
    judge.update.signature = judge.update.signature.with_instructions("List facts.")
    Program(SupportJudge("lexical"), judge).save(tmp_path / "program.json")
    fitted = load_fitted(Nuggetizer("lexical"), tmp_path / "program.json")
    assert fitted.update.signature.instructions == "List facts."


def test_a_state_never_holds_a_key(tmp_path):
    judge = SupportJudge("lexical")
    judge.set_lm(dspy.LM("openai/mock", api_key="sk-very-secret-key"))
    judge.save_state(tmp_path / "x.json")
    assert "very-secret" not in (tmp_path / "x.json").read_text(encoding="utf-8")


def reasoning():
    judge = SupportJudge("lexical")
    judge.judge = dspy.ChainOfThought(judge.judge.signature)
    return judge


def old():
    judge = SupportJudge("lexical")
    judge.version = "1"
    return judge


REFUSED = {
    "no such judge": (
        Program(RelevanceJudge("lexical")),
        r"saved has no prompt judge of the support judge, only title, check\.judge",
    ),
    "two of a kind": (
        Program(SupportJudge("lexical"), SupportJudge("lexical")),
        r"2 judges that could be the support judge \(check, others\[0\]\); save one of them",
    ),
    "chain of thought": (Program(reasoning()), "within a dspy.ChainOfThought"),
    "another version": (Program(old()), "fitted to version 1 of the support judge; this is"),
    "another window": (
        EntailmentJudge("lexical", window=5),
        "the file that DSPy saved has no prompt judge of the support judge, only judge_each",
    ),
}


@pytest.mark.parametrize(("program", "what"), REFUSED.values(), ids=REFUSED)
def test_what_dspy_saved_of_something_else_is_refused_in_one_line(program, what, tmp_path):
    path = tmp_path / "program.json"
    program.save(path)
    with pytest.raises(InputError, match=what) as refused:
        load_fitted(SupportJudge("lexical"), path)
    assert str(refused.value).startswith(f"{path}: ")
    assert "\n" not in str(refused.value)


def test_a_judge_file_is_still_read_and_other_json_is_refused(tmp_path):
    judge = SupportJudge("lexical")
    path = tmp_path / "judge.json"
    path.write_text(judge.identify().text(), encoding="utf-8")
    assert read_state(path, judge) == judge.identify()
    path.write_text('{"a": {"b": 1}}', encoding="utf-8")
    with pytest.raises(InputError, match="not a judge file, wanted format"):
        read_state(path, judge)
    judge.save_state(path)
    with pytest.raises(InputError, match=r"use it as judges\.NAME\.state="):
        nj.judges.read_judge_file(path)
