"""People and the judge read the same meaning of every label."""

import json

import pytest

from nuggetjudge.judges.narratives import NarrativeRelevanceJudge
from nuggetjudge.judges.table import find_judge
from nuggetjudge.plugins.annotate.work.guidelines import read_guidelines
from nuggetjudge.plugins.annotate.work.wording import NARRATIVES, write_guidelines

JUDGES = {
    "support": "support",
    "nuggets": "assigner",
    "ratings": "answerability",
    "relevance": "relevance",
    "keypoints": "entailment",
    "rubric": "criterion",
    NARRATIVES: "",
}


@pytest.mark.parametrize("kind", JUDGES)
def test_guidelines_prompt_and_reply_schema_say_the_same_of_each_label(kind):
    made = NarrativeRelevanceJudge if kind == NARRATIVES else find_judge(JUDGES[kind]).load()
    judge = made("lexical")
    prompt = judge.prompt(judge.predictor)
    system, schema = prompt.fixed[0]["content"], prompt.schema()
    described = json.loads(json.dumps(schema))["properties"][judge.output]["description"]
    guidelines = write_guidelines(kind) if kind == NARRATIVES else read_guidelines(kind)
    lines = [line for line in system.split("\n\n")[1].splitlines() if line.startswith("- ")]
    assert [line[2:].partition(": ")[0] for line in lines] == list(judge.scale)
    for label, _, meaning in (line[2:].partition(": ") for line in lines):
        assert f": {meaning}.\n" in f"{guidelines}\n"
        assert f"{label}: {meaning}" in described
