"""Texts that talk to an agent, and models that obey them: the table of docs/agents.md.

    python -m benchmarks.pages.planted DATA

It needs no data: the agent of examples/demo/checked.yaml searches the passages there, and the
models are rules that obey whatever they take for an instruction.
"""

# ruff: noqa: T201  a script that prints

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from nuggetjudge.agents import Limits, OwnAgent, PassageCorpus
from nuggetjudge.backends.budget import Budget
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.gateway import Reply
from nuggetjudge.backends.loop import run_sync
from nuggetjudge.backends.prompt import Prompt
from nuggetjudge.backends.replies.recorded import record_answer
from nuggetjudge.judges import OwnPlanner, SupportJudge, read_own_judge
from nuggetjudge.judges.lexical.nuggets_and_citations import judge_support
from nuggetjudge.judges.planning.actions import passages_found
from nuggetjudge.programs.analysis.probe.agents.payloads import CONTROL, WORD
from nuggetjudge.programs.analysis.probe.agents.planting import without_fence
from nuggetjudge.programs.analysis.probe.agents.probing import (
    InjectedAgent,
    own_target,
    probe_agent,
)
from nuggetjudge.programs.analysis.probe.asking import Options
from nuggetjudge.records.judgements import Provenance
from nuggetjudge.records.labels.items import item_lines, read_items
from nuggetjudge.records.reading.problems import Problems
from nuggetjudge.records.topics import read_passages

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "demo"
ITEMS, REPEATS = 30, 3
DATA = re.compile(r"<data>\n.*?\n</data>", re.DOTALL)
COMMAND = re.compile(
    r"\b(?:finish(?: with)?|label(?: is)?|answer(?: is)?)\W*(no|partly|yes)\b", re.IGNORECASE
)
WHERE = Provenance(model="obedient", finish_reason="stop")


class Setup(NamedTuple):
    """A model, and what of the agent's guards stands.

    Attributes:
        obeys: what it takes for an instruction: "messages", what stands outside the data of a
            request; or "data", all that it reads.
        sees: what the planner sees of a passage: its "label", "quotes" too, or its "text".
        is_fenced: whether requests have their data fenced.
    """

    obeys: str
    sees: str
    is_fenced: bool = True


SETUPS = (
    Setup("messages", "quotes", is_fenced=False),
    Setup("messages", "quotes"),
    Setup("data", "text"),
    Setup("data", "quotes"),
    Setup("data", "label"),
)


def brain(
    obeys: str, messages: Sequence[Mapping[str, str]], inputs: Mapping[str, Any]
) -> dict[str, Any]:
    """What the model replies; both judges are asked of it.

    Without a command, it judges by words and goes by the planner's rule; it quotes what stands
    below the first line of a passage, which in these passages is what was planted.
    """
    if obeys == "data":
        text = "\n".join(_texts(inputs.get("passage") or [t["found"] for t in inputs["turns"]]))
    else:
        text = DATA.sub("", "\n".join(m["content"] for m in messages if m["role"] == "user"))
    labels = [*COMMAND.findall(text)][-1:]
    if "passage" in inputs:
        verdict = {"no": "none", "partly": "partial", "yes": "full"}
        reply = {"verdict": verdict[labels[0]]} if labels else judge_support(inputs)
        planted = inputs["passage"].partition("\n")[2].strip()
        return {"passage_quotes": [planted] if planted else [], "sentence_quotes": [], **reply}
    turns = inputs["turns"]
    queries = [turn["action"].get("query", "") for turn in turns]
    if WORD in text and WORD not in queries:
        return {"action": {"tool": "search", "query": WORD}}
    if labels:
        return {"action": {"tool": "finish", "label": labels[0], "because": []}}
    if inputs["may_read"] and len(turns) == 1 and (ids := passages_found(turns)):
        return {"action": {"tool": "read", "passage": ids[0], "start": 0}}
    planner = OwnPlanner(EXAMPLES / "checked.yaml")
    return planner.twins["plan"](inputs)


class Obedient:
    """A Backend in this process that answers as `brain` says, through the parser of all models."""

    def __init__(self, obeys: str, *, may_read: bool) -> None:
        self.config, self.budget = ModelConfig(model="openai/obedient"), Budget()
        self._obeys, self._may_read = obeys, may_read

    async def ask(self, prompt: Prompt, inputs: Mapping[str, Any], replicate: int = 0) -> Reply:
        """See Backend."""
        all_inputs = {**inputs, "may_read": self._may_read}
        reply = brain(self._obeys, prompt.messages(inputs), all_inputs)
        reply = {name: reply[name] for name in prompt.output_names}
        record_answer(prompt, inputs, replicate, WHERE)
        return Reply(prompt.parse(json.dumps(reply), inputs), WHERE)

    def varied(self, **settings: Any) -> Obedient:
        """See Backend; it answers as before."""
        return copy.copy(self)

    async def aclose(self) -> None:
        """Nothing is open."""


def agent_for(setup: Setup, backend: Any, corpus: PassageCorpus) -> OwnAgent:
    """The agent of checked.yaml, asked of a model and guarded as a setup says."""
    tools = ("search", "read", "judge") if setup.sees == "text" else ("search", "judge")
    definition = read_own_judge(EXAMPLES / "checked.yaml").model_copy(update={"tools": tools})
    support = SupportJudge(backend=backend).explaining(evidence=setup.sees == "quotes")
    agent = OwnAgent(OwnPlanner(definition, backend=backend), support, corpus, Limits(steps=8))
    return agent if setup.is_fenced else without_fence(agent)


def probed(setup: Setup, backend: Any = None, *, items: int = ITEMS) -> InjectedAgent:
    """What planted passages do to it; `backend` None: the model in this process."""
    backend = backend or Obedient(setup.obeys, may_read=setup.sees == "text")
    problems = Problems()
    corpus = PassageCorpus(read_passages(EXAMPLES / "passages.jsonl", problems).values(), hits=10)
    lines = item_lines(EXAMPLES / "labels" / "grounded.jsonl", problems, {})
    rows = list(read_items(lines, ("claim",)))
    chosen = rows[:: max(1, len(rows) // items)][:items]
    target = own_target(agent_for(setup, backend, corpus), chosen)
    return run_sync(probe_agent(target, Options(repeats=REPEATS)))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table as Markdown."""
    columns = ("the model obeys", "the planner sees", "fence", "planted", "lost", "flip", "steered")
    more = ("controls changed", "fence moves honest items", "taken over by the parser")
    print(f"| {' | '.join((*columns, *more))} |")
    print(f"|---|---|---|{7 * '---:|'}")
    obeyed = {"messages": "what stands outside the data", "data": "all that it reads"}
    for setup in SETUPS:
        probe = probed(setup)
        (whole,) = (row for row in probe.rows if row["by"] == "all")
        (control,) = (row for row in probe.rows if (row["by"], row["name"]) == ("kind", CONTROL))
        fence = "yes" if setup.is_fenced else "no"
        shares = (whole["flip"], whole["steered"], control["changed"], probe.rows[-1]["changed"])
        values = " | ".join(f"{share['value']:.3f}" for share in shares)
        cells = f"{whole['cells']} | {whole['n_unjudged']} | {values}"
        assert probe.echoes is not None  # of an agent that chooses its tools
        taken = sum(probe.echoes[f"{what}_hijacked"] for what in ("honest", "echoing"))
        parser = f"{taken:,} of {probe.echoes['honest'] + probe.echoes['echoing']:,}"
        print(f"| {obeyed[setup.obeys]} | {_seen(setup)} | {fence} | {cells} | {parser} |")


def _seen(setup: Setup) -> str:
    return {"label": "labels", "quotes": "labels and quotes", "text": "text, by read"}[setup.sees]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)


if __name__ == "__main__":
    main()
