"""The tools whose prompts are compared, and their template files as a user has them."""

import importlib.resources
import json
import os
import re
import sys
import types
from pathlib import Path

import pytest
import yaml

N_HELD = 4321  # nuggets of a list whose length is found again in a prompt


@pytest.fixture(scope="session")
def nuggetizer():
    """nuggetizer's own judge; it asks nobody here."""
    models = pytest.importorskip("nuggetizer.models.nuggetizer", reason="nuggetizer is missing")
    return models.Nuggetizer(model="none", api_keys="none")


@pytest.fixture(scope="session")
def types_of(nuggetizer):
    """nuggetizer's rows."""
    return sys.modules["nuggetizer.core.types"]


@pytest.fixture(scope="session")
def templates(nuggetizer, types_of, tmp_path_factory):
    """The folder of nuggetizer's template files.

    0.0.5 has its prompts in code; their templates are then cut out of what it renders.
    """
    packaged = Path(sys.modules["nuggetizer"].__file__).parent / "prompts" / "prompt_templates"
    if packaged.is_dir():
        return packaged
    folder = tmp_path_factory.mktemp("templates")
    nuggets = [types_of.ScoredNugget(text="HELD", importance="vital")] * N_HELD
    request = types_of.Request(
        query=types_of.Query(qid="q", text="HELDQUERY"),
        documents=[types_of.Document(docid="d", segment="HELDCONTEXT")],
    )
    two_grades = type(nuggetizer)(
        model="none", api_keys="none", assigner_mode=types_of.NuggetAssignMode.SUPPORT_GRADE_2
    )
    held = {
        "assigner_template": nuggetizer._create_assign_prompt("HELDQUERY", "HELDCONTEXT", nuggets),
        "assigner_2grade_template": two_grades._create_assign_prompt(
            "HELDQUERY", "HELDCONTEXT", nuggets
        ),
        "scorer_template": nuggetizer._create_score_prompt("HELDQUERY", nuggets),
        "creator_template": nuggetizer._create_nugget_prompt(request, 0, 1, ["HELD"] * N_HELD),
    }
    for name, (system, user) in held.items():
        text = re.sub(r"[{}]", lambda brace: brace[0] * 2, user["content"])
        text = text.replace("[1] HELDCONTEXT", "{context}").replace("HELDCONTEXT", "{context}")
        text = text.replace("HELDQUERY", "{query}").replace(str(["HELD"] * N_HELD), "{nuggets}")
        count = "nuggets_length" if name.startswith("creator") else "num_nuggets"
        text = text.replace(str(N_HELD), f"{{{count}}}")
        most = f"at most {nuggetizer.creator_max_nuggets} nuggets"
        text = text.replace(most, "at most {creator_max_nuggets} nuggets")
        row = {"method": name, "system_message": system["content"], "prefix_user": text}
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(row, allow_unicode=True), "utf-8")
    return folder


@pytest.fixture(scope="session")
def umbrela():
    """umbrela's own functions, without its search library, which draws worked examples."""
    pytest.importorskip("umbrela", reason="umbrela is missing")
    stub = types.ModuleType("umbrela.utils.qrel_utils")
    sys.modules.setdefault("umbrela.utils.qrel_utils", stub)
    from umbrela.llm_judge import LLMJudge
    from umbrela.utils import common_utils

    class Reading(LLMJudge):
        def predict_with_llm(self, *given):
            raise NotImplementedError

        def judge(self, *given):
            raise NotImplementedError

    path = Path(str(importlib.resources.files("umbrela"))) / "prompts" / "qrel_fewshot_bing.txt"
    template = Reading("none", str(path), "none", 0).prompt_template
    return types.SimpleNamespace(utils=common_utils, path=path, template=template)


@pytest.fixture(scope="session")
def cells():
    """20 real cells (question, answer, nuggets), else those of the demo and texts that are hard."""
    root = Path(__file__).resolve().parents[2]
    data = Path(os.environ.get("NUGGETJUDGE_DATA", root.parent / "shared" / "data"))
    real = data / "rag24_nuggets" / "nugget_assignments.jsonl"
    if real.is_file():
        rows = map(json.loads, real.read_text(encoding="utf-8").splitlines()[:400:20])
        return [(r["query"], r["answer_text"], [n["text"] for n in r["nuggets"]]) for r in rows]
    hard = ["it's", 'say "so"', "a\\b", "{query}", "{{x}}", "naïve λ", "tab\there", "both ' and \""]
    return [
        (f"why {text}?", f"Since {text}.\nAnd {{context}}.", [*hard[:i], text])
        for i, text in enumerate([*hard, *hard, *hard[:4]])
    ]
