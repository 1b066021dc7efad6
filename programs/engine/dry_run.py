"""Dry runs: run a command without a model, measure each prompt, and estimate calls and tokens."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...backends import open_backend
from ...backends.budget import Budget
from ...backends.config import ModelConfig
from ...backends.gateway import Backend, Reply
from ...backends.offline import WHERE, LexicalBackend
from ...backends.prompt import Prompt
from ...backends.replies.completion import collect_replies, record_answer
from ...backends.replies.schema import ReplyFormat
from ...judges import Cascade, Explained, Jury, Verified
from ...judges.base import Judge
from ...records.kinds import EXPLAINER, VERIFIER
from ..config.base import JudgeName
from ..config.judge_sections import Member, make_verifier
from ..config.pipelines import AnyStep, CutStep, RankLlmStep
from ..config.sections import Config, JudgeConfig
from .judge_set import JudgeSet
from .results import MANIFEST
from .spending import Estimate, Forecast, PromptSizes, make_estimate

ASSUMED = (
    "Upper bound: assumes that models produce as much as allowed (8 key points of a window of a "
    "document), keep everything, and otherwise decide like the lexical judge. Finished and cached "
    "judgements are excluded, failed ones are included."
)


class DryRunJudgeSet(JudgeSet):
    """Judges with the prompts of their models; the lexical judge answers, and prompts are measured.

    Attributes:
        counts: sizes of prompts by judge and part of the work. Members of juries and stages of
            cascades are parts.
    """

    def __init__(self, config: Config) -> None:
        super().__init__(config, cache=None, budget=Budget())
        self.counts: dict[tuple[JudgeName, str], PromptSizes] = {}
        self.settings: dict[tuple[JudgeName, str], JudgeConfig] = {}  # name of the asked judge

    def _open_backend(self, alias: str, model: ModelConfig) -> Backend:
        if model.way in ("recorded", "trained"):
            open_backend(model)  # raises errors of its files
        return LexicalBackend(model)

    def _build_judge(self, name: JudgeName) -> Judge:
        judge = super()._build_judge(name)
        if isinstance(judge, Verified):
            judge.labels = judge.scale  # any label may have to be verified
        stages = judge.stages if isinstance(judge, Cascade) else [judge]
        for jury in (one.first if isinstance(one, Verified) else one for one in stages):
            if isinstance(jury, Jury):
                jury.spread = 0  # its adjudicator may have to decide on each item
        if isinstance(judge, Cascade):
            judge.keeps = False  # each stage may have to judge each item
        return judge

    def _first(self, name: JudgeName) -> Judge:
        judge = super()._first(name)
        self.counts[name, ""] = PromptSizes()
        self._measure(name, judge, self._config.judge(name))
        return judge

    def _verifier(self, name: JudgeName) -> Judge:
        judge = super()._verifier(name)
        self._measure(name, judge, make_verifier(self._config.judge(name)), VERIFIER)
        return judge

    def _build_member(self, name: JudgeName, member: Member) -> Judge:
        judge = super()._build_member(name, member)
        self._measure(name, judge, member.settings, member.name)
        return judge

    def _measure(
        self, name: JudgeName, judge: Judge, settings: JudgeConfig, member: str = ""
    ) -> None:
        if isinstance(judge, Explained):
            self._measure(name, judge.first, settings, member)
            own = settings.model_copy(update={"model": self._config.run.explainer})
            self._measure(name, judge.writer, own, f"{member} {EXPLAINER}".strip())
            return

        def sizes() -> PromptSizes:
            part = " ".join(filter(None, (self.part, member)))
            self.settings[name, part] = settings
            return self.counts.setdefault((name, part), PromptSizes())

        model = self._config.model(settings.model)
        judge.backend = _Measuring(model, judge.at_most, sizes)


def estimate_calls(
    config: Config, work: Callable[[Config, JudgeSet], Any], here: Collection[JudgeName] = ()
) -> list[Estimate]:
    """Estimate the calls and tokens of `work` without a model, cache or journal.

    The work runs completely, with the lexical judge, into a temporary folder. Where a model
    chooses, the estimate follows the choice of the lexical judge. Where a model makes something,
    the estimate assumes as much as it may make (`Judge.at_most`).

    Args:
        work: takes a config and open judges.
        here: judges that are always asked one request at a time, at the full price, such as
            rerankers.

        Returns: an estimate for each judge, or for each part of the work (`JudgeSet.part`).
        Raises: the errors of `work`.
    """
    return list(forecast_calls(config, work, here).judges)


def forecast_calls(
    config: Config, work: Callable[[Config, JudgeSet], Any], here: Collection[JudgeName] = ()
) -> Forecast:
    """Estimate the calls of each judge like `estimate_calls`, and the steps of agents."""
    with tempfile.TemporaryDirectory(prefix="nuggetjudge-") as folder:
        alone = _alone(config, Path(folder) / "out")
        judge_set = DryRunJudgeSet(alone)
        work(alone, judge_set)
        manifest = alone.run.out / MANIFEST
        made = json.loads(manifest.read_bytes()) if manifest.is_file() else {}
    in_parts = {name for name, part in judge_set.counts if part}
    judges = [
        make_estimate(
            _asking(
                config.here() if name in here else config,
                name,
                judge_set.settings.get((name, part)),
            ),
            name,
            prompts,
            f"{judge_set[name].name} {part}" if part else name,
        )
        for (name, part), prompts in judge_set.counts.items()
        if part or prompts.calls or name not in in_parts
    ]
    return Forecast(judges, made.get("agents", {}))


def _asking(config: Config, name: JudgeName, settings: JudgeConfig | None) -> Config:
    """Return the config with these settings of a judge, such as a member of a jury."""
    return config if settings is None else config.with_judge(name, settings)


def _alone(config: Config, out: Path) -> Config:
    """Return the config without limits, workers, and models asked by others than judges."""
    free = dict.fromkeys(("max_cost", "max_calls", "max_tokens"))
    here = {"out": out, "executor": "local", "offline": False, "allow_missing": 1.0, **free}
    return config.change("run", **here).with_steps(_without_rankllm)


def _without_rankllm(steps: Sequence[AnyStep]) -> tuple[AnyStep, ...]:
    """Return the steps; steps of RankLLM, which asks models itself, keep the order."""
    return tuple(
        CutStep(step="cut", hits=step.hits) if isinstance(step, RankLlmStep) else step
        for step in steps
    )


class _Measuring(LexicalBackend):
    """Answers instead of a model, like the lexical judge or with the shortest possible reply."""

    def __init__(
        self,
        model: ModelConfig,
        at_most: Callable[[Mapping[str, Any], Reply], Reply],
        sizes: Callable[[], PromptSizes],
    ) -> None:
        super().__init__(model)
        self._at_most = at_most
        self._sizes = sizes

    async def ask(self, prompt: Prompt, inputs: Mapping[str, Any], replicate: int = 0) -> Reply:
        if prompt.baseline is None:
            least = make_shortest_reply(prompt.schema(prompt.shape(inputs)))
            values = ReplyFormat.parse(prompt, json.dumps(least), inputs)  # any form of reply
            reply = Reply(values, WHERE)
        else:
            with collect_replies():  # its size is unknown there
                reply = await super().ask(prompt, inputs, replicate)
        if not self.config.sends_nothing:
            reply = self._at_most(inputs, reply)
        if self.config.way == "decision":
            from ...backends.decisions import make_request

            tokens = self._sizes().add_request(make_request(self.config, prompt, inputs))
        else:
            tokens = self._sizes().add(prompt, inputs, reply.values)
        record_answer(prompt, inputs, replicate, WHERE, tokens)
        return reply


def make_shortest_reply(schema: Mapping[str, Any]) -> Any:
    """Return the first label, or else the shortest value, that a JSON schema allows."""
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return make_shortest_reply(schema["anyOf"][0])
    match schema.get("type"):
        case "object":
            return {
                name: make_shortest_reply(part)
                for name, part in schema.get("properties", {}).items()
            }
        case "array":
            return []
        case "string":
            return ""
        case "integer" | "number":
            return schema.get("minimum", 0)
        case "boolean":
            return False
    return None
