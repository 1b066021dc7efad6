"""The same script in nuggetjudge, ragas and DeepEval: is one of two variants more faithful?

    .venv-integrations/bin/python -m benchmarks.peers.faithful

It prints the table of docs/benchmarks/faithfulness-tools.md. `make .venv-integrations/ready` makes
the environment. All three ask one local server, which calls a claim supported if a context has it
word for word, and answers each request after 0.2 seconds.
"""

# ruff: noqa: T201  a script that prints

from __future__ import annotations

import contextlib
import inspect
import io
import json
import os
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

N_QUESTIONS, LATENCY_S = 30, 0.2
MOCKS = Path(__file__).resolve().parents[2] / "tests" / "mocks"
Sample = Mapping[str, Any]
Variants = Mapping[str, Sequence[Sample]]

# No tool may call home or read a .env file.
_ENVIRONMENT = {
    "OPENAI_API_KEY": "none-needed",
    "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
    "DEEPEVAL_DISABLE_DOTENV": "1",
    "RAGAS_DO_NOT_TRACK": "true",
}


def ask_nuggetjudge(variants: Variants, url: str) -> None:
    """Five lines: means, intervals, a test, and what is contradicted or not found."""
    import nuggetjudge as nj

    model = {"model": "hosted_vllm/mock", "api_base": url}
    result = nj.evaluate(variants, "faithfulness", model=model, cache=False)
    print(result)
    print(result.compare())


def ask_by_claims(variants: Variants, url: str) -> None:
    """The same by claims, which a model finds first, as ragas and DeepEval do."""
    import nuggetjudge as nj

    model = {"model": "hosted_vllm/mock", "api_base": url}
    by: Any = {"groundedness.unit": "claims"}
    result = nj.evaluate(variants, "faithfulness", model=model, cache=False, **by)
    print(result)
    print(result.compare())


def ask_ragas(variants: Variants, url: str) -> None:
    """Its faithfulness of each answer, all at once, and the mean of each variant."""
    import asyncio

    from openai import AsyncOpenAI
    from ragas.llms.base import llm_factory
    from ragas.metrics.collections import Faithfulness

    metric: Any = Faithfulness(llm=llm_factory("mock", client=AsyncOpenAI(base_url=url)))

    async def score(sample: Sample) -> float:
        found = await metric.ascore(
            user_input=sample["question"],
            response=sample["answer"],
            retrieved_contexts=sample["contexts"],
        )
        return float(found.value)

    async def score_all() -> list[float]:
        samples = [sample for of_variant in variants.values() for sample in of_variant]
        return list(await asyncio.gather(*map(score, samples)))

    values = iter(asyncio.run(score_all()))
    for name, of_variant in variants.items():
        print(name, sum(next(values) for _ in of_variant) / len(of_variant))


def ask_deepeval(variants: Variants, url: str) -> None:
    """Its faithfulness of each answer, all at once, and the mean of each variant."""
    import asyncio

    from deepeval.metrics import FaithfulnessMetric
    from deepeval.models import LocalModel
    from deepeval.test_case import LLMTestCase

    model: Any = LocalModel(model="mock", api_key="none-needed", base_url=url)

    async def score(sample: Sample) -> float:
        metric = FaithfulnessMetric(model=model, include_reason=False)
        case = LLMTestCase(
            input=sample["question"],
            actual_output=sample["answer"],
            retrieval_context=sample["contexts"],
        )
        return float(await metric.a_measure(case, _show_indicator=False))

    async def score_all() -> list[float]:
        samples = [sample for of_variant in variants.values() for sample in of_variant]
        return list(await asyncio.gather(*map(score, samples)))

    values = iter(asyncio.run(score_all()))
    for name, of_variant in variants.items():
        print(name, sum(next(values) for _ in of_variant) / len(of_variant))


class Tool(NamedTuple):
    """A tool: its package, its script, what the script answers, and what is special about it."""

    package: str
    ask: Callable[[Variants, str], None]
    answers: str
    unit: str = ""


_OURS = (
    "mean with interval; which variant is better, with p; supported, contradicted or not found "
    "for each {}; what is unjudged and why"
)
TOOLS = (
    Tool("nuggetjudge", ask_nuggetjudge, _OURS.format("sentence")),
    Tool("nuggetjudge", ask_by_claims, _OURS.format("claim"), ", by claims"),
    Tool("ragas", ask_ragas, "mean; supported or not for each claim"),
    Tool("deepeval", ask_deepeval, "mean of the claims that no context contradicts"),
)


def make_variants() -> Variants:
    """30 questions to two variants; every other answer of the second has one unsupported sentence.

    Answers have four sentences and three contexts.
    """
    variants: dict[str, list[Sample]] = {"careful": [], "careless": []}
    for n in range(N_QUESTIONS):
        facts = [f"Bridge {n} has {what} {part}." for part, what in _PARTS.items()]
        contexts = [" ".join(facts[:2]), facts[2], facts[3]]
        for name, of_variant in variants.items():
            said = list(facts)
            if name == "careless" and n % 2:
                said[-1] = f"The mayor of town {n} wore a hat."
            sample = {"question": f"how is bridge {n} built", "answer": " ".join(said)}
            of_variant.append({**sample, "contexts": contexts})
    return variants


_PARTS = {"piers": "four", "cables": "steel", "dampers": "strong", "lamps": "blue"}


def reply_to(body: Mapping[str, Any]) -> dict[str, Any]:
    """What the local server says to a prompt of any of the tools."""
    text = body["messages"][-1]["content"]
    if data := re.search(r"<data>\n(.*?)\n</data>", text, re.DOTALL):
        asked = json.loads(data[1])
        if "answer" in asked:
            return {"claims": _split(asked["answer"])}
        labels = {True: "supported", False: "not_found"}
        found = {i: labels[s in asked["context"]] for i, s in asked["statements"].items()}
        return {"verdicts": found}
    if "\ninput: " in text:
        asked = json.loads(text.rpartition("\ninput: ")[2].rpartition("\nOutput:")[0])
        if "answer" in asked:
            return {"statements": _split(asked["answer"])}
        rows = [
            {"statement": s, "reason": "Word for word.", "verdict": int(s in asked["context"])}
            for s in asked["statements"]
        ]
        return {"statements": rows}
    if "\nClaims:\n" in text:
        contexts, _, claims = text.rpartition("Retrieval Contexts:\n")[2].partition("\nClaims:\n")
        listed = re.findall(r"'([^']*)'", claims)
        said = {True: "yes", False: "borderline"}
        return {"verdicts": [{"verdict": said[s in contexts], "reason": "Words."} for s in listed]}
    if "\nAI Output:\n" in text:
        return {"claims": _split(text.rpartition("\nAI Output:\n")[2].partition("\n\nJSON")[0])}
    return {"truths": _split(text.rpartition("\nText:\n")[2].partition("\n\nJSON")[0])}


def _split(text: str) -> list[str]:
    return [f"{part.strip()}." for part in text.split(".") if part.strip()]


def count_lines(ask: Callable[[Variants, str], None]) -> int:
    """Lines of code of a script, without its head, its docstring and blank lines."""
    lines = inspect.getsource(ask).splitlines()[1:]
    code = [line for line in lines if line.strip() and not line.strip().startswith('"""')]
    return len(code)


def main() -> None:
    """Print the table as Markdown, and what each script prints."""
    os.environ.update(_ENVIRONMENT)
    sys.path.insert(0, str(MOCKS))
    server_class = import_module("mock_server").MockServer
    variants = make_variants()
    print("| tool | lines | requests | seconds | what it answers |\n|---|---:|---:|---:|---|")
    printed = []
    for tool in TOOLS:
        version = import_module(tool.package).__version__
        with server_class(reply_to, latency_s=LATENCY_S) as server:
            few = {name: of_variant[:3] for name, of_variant in variants.items()}
            with contextlib.redirect_stdout(io.StringIO()):
                tool.ask(few, server.base_url)  # so that imports are not timed
            server.clear()
            started, out = time.perf_counter(), io.StringIO()
            with contextlib.redirect_stdout(out):
                tool.ask(variants, server.base_url)
            seconds = time.perf_counter() - started
            n = len(server.requests)
        name = f"{tool.package} {version}{tool.unit}"
        cells = (name, count_lines(tool.ask), n, f"{seconds:.1f}")
        print("| " + " | ".join(map(str, (*cells, tool.answers))) + " |")
        printed.append(f"{tool.package}{tool.unit}:\n{out.getvalue()}")
    print("", *printed, sep="\n")


if __name__ == "__main__":
    main()
