"""What is asked of a judge that says why is approved word for word, as all prompts are.

`NUGGETJUDGE_APPROVE=1 python -m pytest tests/judges` writes the files; read the difference.
"""

import json
import os
from pathlib import Path

import pytest

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.judges import EntailmentJudge, NuggetAssigner, SupportJudge

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "prompts" / "explaining"
TEXTS = {"question": "why", "answer": "a", "passage": "p", "sentence": "s", "response": "r"}
LISTED = {"nuggets": {"1": "n"}, "key_points": {"1": "k"}}


@pytest.mark.parametrize(
    ("name", "kind", "options"),
    [
        ("support_judge", SupportJudge, {}),
        ("nugget_assigner", NuggetAssigner, {}),
        ("entailment_judge_window", EntailmentJudge, {"window": 10}),
    ],
)
def test_the_prompt_of_a_judge_that_says_why_is_the_approved_one(name, kind, options):
    model = ModelConfig(model="openai/mock", api_base="http://127.0.0.1:1")
    judge = kind(model=model, **options).explaining(evidence=True, reasoning=True)
    prompt = judge.prompt(judge.predictor).of(TEXTS)
    inputs = {field: (TEXTS | LISTED)[field] for field in prompt.input_names}
    parts = [f"=== {m['role']}\n{m['content']}\n" for m in prompt.messages(inputs)]
    schema = json.dumps(prompt.schema(prompt.shape(inputs)), indent=1, ensure_ascii=False)
    rendered = "".join([*parts, f"=== schema\n{schema}\n"])
    path = GOLDEN / f"{name}_explaining.{judge.predictor}.txt"
    if os.environ.get("NUGGETJUDGE_APPROVE"):
        path.write_text(rendered, encoding="utf-8")
        pytest.skip(f"{path.name} written; read the difference before you commit it")
    assert rendered == path.read_text(encoding="utf-8")
