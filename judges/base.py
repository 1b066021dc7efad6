"""What every judge shares: a DSPy module whose questions go to a backend, or to DSPy's own LM."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Mapping
from typing import Any, Self

import dspy
from dspy.utils.exceptions import (
    AdapterParseError,
    LMRateLimitError,
    LMServerError,
    LMTimeoutError,
    LMTransportError,
)

from ..backends import open_backend
from ..backends.adapter import JudgeAdapter
from ..backends.config import ModelConfig
from ..backends.errors import JudgeError, JudgeOutputError
from ..backends.gateway import Backend, Reply
from ..backends.loop import run_async, run_sync
from ..backends.prompt import Prompt, Scorer, Twin
from ..records.judgements import Provenance, Reason
from .instruments.own_words import OwnWords


class Judge(OwnWords, dspy.Module):  # type: ignore[misc]
    """A question, or a few, asked of a model; the answers are typed and checked, or an error.

    Args:
        model: what answers: `"lexical"`, `"openai/gpt-4o"`, any LiteLLM name, or a ModelConfig.
            None: the LM that the caller set with `dspy.context(lm=...)` or `dspy.configure`.
        backend: an open Backend, shared with other judges, instead of `model`.

    Call it (`judge(...)`) anywhere, also inside a running event loop, or `await judge.acall(...)`.
    A copy (`copy.deepcopy`, `judge.deepcopy()`) has instructions of its own and shares the backend.
    Raises: JudgeError with the reason when the model gives no judgement; EndpointUnusable when
        no request can succeed. DSPy's own LM does not say why a reply ended: with it a refused or
        truncated one is unparseable, and its errors of set-up pass through as they are.
    """

    # DSPy's own looks at each access for a call of forward(), which costs more than the prompt.
    __getattribute__ = object.__getattribute__
    version: str = "1"  # raised when a prompt, parser or default changes scores
    twins: Mapping[str, Twin] = {}  # lexical twin by the name of the predictor
    scorers: Mapping[str, Scorer] = {}  # and how sure it is
    replicate: int = 0  # asks the same again, past the cache, for test-retest

    def __init__(
        self, model: str | ModelConfig | None = None, *, backend: Backend | None = None
    ) -> None:
        super().__init__()
        if backend is None and model is not None:
            config = model if isinstance(model, ModelConfig) else ModelConfig(model=model)
            backend = open_backend(config)
        self.backend = backend
        self._prompts: dict[str, tuple[Prompt, type[dspy.Signature], list[Any]]] = {}

    def prompt(self, name: str) -> Prompt:
        """The prompt of the predictor called `name`, compiled anew when it was changed."""
        predict: dspy.Predict = getattr(self, name)
        known = self._prompts.get(name)
        if known is not None and known[1] is predict.signature and known[2] == predict.demos:
            return known[0]
        twin, scorer = self.twins.get(name), self.scorers.get(name)
        prompt = self.worded(name, predict.signature, twin, scorer) or Prompt(
            predict.signature, predict.demos, twin, scorer
        )
        self._prompts[name] = (prompt, predict.signature, list(predict.demos))
        return prompt

    def prompts(self) -> dict[str, Prompt]:
        """All compiled prompts by predictor name."""
        return {name: self.prompt(name) for name, _ in self.named_predictors()}

    def ask(self, name: str, **inputs: Any) -> Awaitable[Reply]:
        """Ask one question. Raises, when awaited: JudgeError."""
        if self.backend is not None:
            return self.backend.ask(self.prompt(name), inputs, self.replicate)
        return self._ask_dspy(name, inputs)

    def at_most(self, inputs: Mapping[str, Any], reply: Reply) -> Reply:
        """The reply of the lexical twin, with as much in it as a model may make or keep.

        A dry run goes on from it, so that it does not count too few calls.
        """
        return reply

    def forward(self, **inputs: Any) -> dspy.Prediction:
        """See the class; `judge(...)` calls this."""
        return run_sync(self.decide(**inputs))

    async def aforward(self, **inputs: Any) -> dspy.Prediction:
        """See the class; `await judge.acall(...)` calls this."""
        return await run_async(self.decide(**inputs))

    async def decide(self, **inputs: Any) -> dspy.Prediction:
        """What the judge does, on the judges' own event loop; each judge says how."""
        raise TypeError(f"{type(self).__name__} must define decide()")

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        memo[id(self.backend)] = self.backend  # connections and limits are shared, not copied
        twin = type(self).__new__(type(self))
        memo[id(self)] = twin
        state = {**self.__dict__, "_prompts": {}}
        twin.__dict__.update({name: copy.deepcopy(value, memo) for name, value in state.items()})
        return twin

    async def _ask_dspy(self, name: str, inputs: dict[str, Any]) -> Reply:
        if dspy.settings.lm is None:
            raise ValueError(f"name a model: {type(self).__name__}(model=...)")
        prompt = self.prompt(name)
        if name in self.instruments:
            return await self.ask_worded(prompt, inputs, dspy.settings.lm)
        try:
            with dspy.context(adapter=JudgeAdapter()):
                found = await getattr(self, name).acall(**inputs)
        except AdapterParseError as error:
            raw = str(error.lm_response or "")
            prompt.parse(raw, inputs)  # says what is wrong, as for any other model
            raise JudgeOutputError(Reason.UNPARSEABLE, str(error).split("\n")[0], raw) from None
        except (LMRateLimitError, LMServerError, LMTimeoutError, LMTransportError) as error:
            raise JudgeError(Reason.ERROR, str(error)) from error
        values = {field: found[field] for field in prompt.output_names}
        prompt.check(values, inputs, str(values))
        return Reply(values, Provenance(model=str(dspy.settings.lm.model)))
