"""Sub-questions that no passage answers are counted and score nobody; a failure is neither."""

import json
from pathlib import Path
from typing import Any

import pytest
from mock_server import MockServer, Refusal, input_of

import nuggetjudge as nj
from nuggetjudge.judges.lexical import questions
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.scoring.score import score_path
from nuggetjudge.records.reading.problems import InputError, Problems

REQUEST = "why do bridges sway and how do engineers keep bridges steady and who painted the wind"
PASSAGES = {
    "deck": "Gusts of wind make long bridges sway.",
    "damp": "Engineers keep bridges steady by heavy dampers.",
    "wind": "The wind turned.",
}


def lines(*rows: Any) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def run(folder: Path, model: Any = "lexical", **settings: Any) -> nj.Result:
    folder.mkdir(exist_ok=True)
    files = {
        "topics.jsonl": lines({"id": "t", "request": REQUEST}),
        "passages.jsonl": lines(*({"id": n, "text": text} for n, text in PASSAGES.items())),
        "a.run": "t Q0 deck 1 2 a\nt Q0 wind 2 1 a\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    given = {
        "program": ["coverage"],
        "questions.how": "research",
        "data.topics": folder / "topics.jsonl",
        "data.passages": [folder / "passages.jsonl"],
        "data.retrieval": [str(folder / "a.run")],
        "run.out": folder / "out",
        "run.cache": False,
    }
    if isinstance(model, dict):
        given["models.default"], model = model, None
    return nj.run(load_config(None, given | settings, [], model))


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_what_no_passage_answers_is_out_of_the_denominator_and_counted(tmp_path: Path) -> None:
    result = run(tmp_path / "d")
    researched = rows(result.folder / "research.jsonl")
    assert [(row["question_id"], row["answered_by"]) for row in researched] == [
        ("0", "deck"), ("1", "damp"), (None, None),
    ]  # fmt: skip
    counted = result.manifest["counts"]
    assert [n for name, n in counted.items() if "unanswerable_in_corpus" in name] == [1]
    assert rows(result.folder / "pools.jsonl")[0]["passage_ids"] == ["damp", "deck"]
    scores = {(r.run_id, r.measure): r.value for r in result.scores if r.topic_id == "t"}
    assert scores["a", "coverage"] == 0.5  # one of the two that can be answered
    assert result.is_complete
    assert score_path(result.folder, Problems()) == result.scores


def test_a_grade_that_is_missing_makes_the_topic_unjudged(tmp_path: Path) -> None:
    def brain(body: dict[str, Any]) -> Any:
        asked = input_of(body)
        if "context" not in asked:
            return questions.split_question(asked)
        return questions.grade_answer(asked)

    def refuse(index: int, body: dict[str, Any]) -> Any:
        return Refusal() if input_of(body).get("context") == PASSAGES["wind"] else None

    with MockServer(brain, faults=refuse) as server:
        model = {"model": "openai/mock", "api_base": server.base_url}
        result = run(tmp_path / "d", model)
    assert result.manifest["topics_without_questions"] == ["t"]
    assert result.manifest["unjudged_by_reason"]["refused"] >= 1
    [value] = [r.value for r in result.scores if (r.run_id, r.measure) == ("a", "coverage")
               and r.topic_id == "t"]  # fmt: skip
    assert value is None


def test_research_wants_passages(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="name files of them"):
        run(tmp_path / "d", **{"data.passages": []})
