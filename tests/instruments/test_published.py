"""Prompts of nuggetizer and UMBRELA: the same bytes as those packages render, and judged alike."""

import json

import pytest
from mock_server import MockServer

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.judges import NuggetAssigner, NuggetImportance, Nuggetizer, RelevanceJudge

WINDOW = 10


def said_to(body):
    """The last message to the model."""
    return body["messages"][-1]["content"]


def windows(nuggets):
    return [nuggets[i : i + WINDOW] for i in range(0, len(nuggets), WINDOW)]


def numbered(texts, first=1):
    return {str(number): text for number, text in enumerate(texts, first)}


@pytest.mark.parametrize("grades", [3, 2])
def test_the_assigners_prompt_is_that_of_nuggetizer(grades, nuggetizer, types_of, templates, cells):
    mode = types_of.NuggetAssignMode[f"SUPPORT_GRADE_{grades}"]
    tool = type(nuggetizer)(model="none", api_keys="none", assigner_mode=mode)
    name = "assigner_template" if grades == 3 else "assigner_2grade_template"
    judge = NuggetAssigner("lexical", grades=grades).with_prompt(templates / f"{name}.yaml")
    prompt = judge.prompt("assign")
    n = 0
    for question, answer, nuggets in cells:
        for first, window in enumerate(windows(nuggets)):
            asked = {"question": question, "answer": answer}
            ours = prompt.messages(asked | {"nuggets": numbered(window, first * WINDOW + 1)})
            scored = [types_of.ScoredNugget(text=text, importance="vital") for text in window]
            if hasattr(tool, "_create_assign_prompt"):
                theirs = tool._create_assign_prompt(question, answer, scored)
            else:
                from nuggetizer.prompts import create_assign_prompt

                theirs = create_assign_prompt(question, answer, scored, mode)
            assert json.dumps(ours) == json.dumps(theirs)
            n += 1
    assert (len(cells), n >= 20) == (20, True)


def test_the_creators_prompt_is_that_of_nuggetizer(nuggetizer, types_of, templates, cells):
    judge = Nuggetizer("lexical").with_prompt(templates / "creator_template.yaml")
    prompt = judge.prompt("update")
    for question, answer, nuggets in cells:
        segments = [f"{answer} ({i})" for i in range(23)]
        request = types_of.Request(
            query=types_of.Query(qid="q", text=question),
            documents=[types_of.Document(docid="d", segment=text) for text in segments],
        )
        for first in (0, 10, 20):
            window = segments[first : first + 10]
            known = nuggets[:first]
            ours = prompt.messages(
                {"question": question, "asked": question, "limit": 30, "nuggets": known}
                | {"passages": numbered(window, first + 1)}
            )
            if hasattr(nuggetizer, "_create_nugget_prompt"):
                made = nuggetizer._create_nugget_prompt
                theirs = made(request, first, first + len(window), known)
            else:
                from nuggetizer.prompts import create_nugget_prompt

                theirs = create_nugget_prompt(request, first, first + len(window), known, 30)
            assert json.dumps(ours) == json.dumps(theirs)


def test_the_scorers_prompt_is_that_of_nuggetizer(nuggetizer, types_of, templates, cells):
    prompt = NuggetImportance("lexical").with_prompt(templates / "scorer_template.yaml")
    for question, _, nuggets in cells:
        for window in windows(nuggets):
            ours = prompt.prompt("rate").messages(
                {"question": question, "nuggets": numbered(window)}
            )
            rows = [types_of.Nugget(text=text) for text in window]
            if hasattr(nuggetizer, "_create_score_prompt"):
                theirs = nuggetizer._create_score_prompt(question, rows)
            else:
                from nuggetizer.prompts import create_score_prompt

                theirs = create_score_prompt(question, rows)
            assert json.dumps(ours) == json.dumps(theirs)


def test_a_cell_is_judged_through_both_prompts(templates, cells):
    """The model goes by the nuggets alone, so that both prompts must bring the same labels."""

    def brain(body):
        text = said_to(body)
        if "<data>" in text:
            asked = json.loads(text.split("<data>\n")[1].split("\n</data>")[0])
            found = {key: label(nugget) for key, nugget in asked["nuggets"].items()}
            return {"verdicts": found}
        n = len(shown[0])
        return str([label(nugget) for nugget in shown[0][:n]])

    def label(nugget):
        return ("not_support", "partial_support", "support")[len(nugget) % 3]

    shown = [[]]
    with MockServer(brain=brain) as server:
        config = ModelConfig(model="hosted_vllm/mock", api_base=server.base_url)
        ours = NuggetAssigner(config)
        theirs = ours.with_prompt(templates / "assigner_template.yaml")
        for question, answer, nuggets in cells[:3]:
            shown[0] = nuggets[:WINDOW]
            asked = {"question": question, "answer": answer, "nuggets": shown[0]}
            assert theirs(**asked).verdicts == ours(**asked).verdicts
        assert [len(r.body["messages"]) for r in server.requests] == [2] * 6
        tool = [r.body for r in server.requests if "<data>" not in said_to(r.body)]
        assert len(tool) == 3
        assert not any("response_format" in body for body in tool)


# What models say to UMBRELA's prompt, as its own reader takes them: a grade, or nothing (0).
@pytest.mark.parametrize(
    "reply",
    [
        '{"M": 3, "T": 1, "O": 2}',
        '```json\n{"M": 1, "T": 1, "O": 1}\n```',
        '{"o": 3}',
        '{"M": 0, "T": 2, "overall_score": 0}',
        '{"final score": 2}',
    ],
)
def test_umbrelas_prompt_and_reader_are_those_of_the_package(reply, umbrela, cells, tmp_path):
    examples = "###\nQuery: {q}\nPassage: p\nOutput: {'O': 1}"
    path = tmp_path / "umbrela.yaml"
    path.write_text(
        f"template: {umbrela.path}\ntexts:\n  examples: {json.dumps(examples)}\n", encoding="utf-8"
    )
    prompt = RelevanceJudge("lexical").with_prompt(path).prompt("judge")
    pairs = [(question, answer) for question, answer, _ in cells]
    theirs = umbrela.utils.generate_prompts(pairs, examples, umbrela.template)
    for (question, passage), expected in zip(pairs, theirs, strict=True):
        asked = {"question": question, "passage": passage}
        assert prompt.messages(asked) == [{"role": "user", "content": expected}]
        grade, is_valid = umbrela.utils.parse_fewshot_response(reply, passage, question)
        assert (prompt.parse(reply, asked)["grade"], is_valid) == (grade, 1)
