"""How a prompt is tried on one example: by a call about items, or by all calls that make a list."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import dspy
from pydantic_core import to_jsonable_python

from ...backends.errors import JudgeError
from ...backends.gateway import Backend, Gateway, Reply
from ...backends.prompt import Prompt
from ...judges.base import set_prompt
from ...judges.fitted.files import FittedPrompt
from ...judges.makers.lists import ListMaker
from .bridge import ask, waited

Call = tuple[dict[str, Any], dspy.Prediction]  # what a predictor was asked, and its reply


class Answer(NamedTuple):
    """What came of an example: the fields of the reply, or `failure`, which says why none did."""

    prediction: dspy.Prediction
    calls: tuple[Call, ...]  # that led to it, in order


class Tried(Protocol):
    """A prompt, as data and compiled."""

    @property
    def prompt(self) -> FittedPrompt: ...
    @property
    def compiled(self) -> Prompt: ...


class Way(Protocol):
    """Asks about one example under a prompt. Raises: bridge.Stopped."""

    def __call__(
        self, gateway: Gateway, tried: Tried, inputs: Mapping[str, Any], replicate: int
    ) -> Answer: ...


def ask_once(
    gateway: Gateway, tried: Tried, inputs: Mapping[str, Any], replicate: int = 0
) -> Answer:
    """One call, as about items."""
    try:
        reply = ask(gateway, tried.compiled, inputs, replicate)
        prediction = dspy.Prediction(**to_jsonable_python(reply.values))
    except JudgeError as error:
        prediction = dspy.Prediction(failure=str(error))
    return Answer(prediction, ((dict(inputs), prediction),))


class Making:
    """Makes lists with a judge, as a run does.

    Args:
        made_from: what each list is made from, by the key of its example's inputs.
    """

    def __init__(self, judge: ListMaker, made_from: Mapping[str, Mapping[str, Any]]) -> None:
        self._judge = judge
        self._made_from = made_from

    def __call__(
        self, gateway: Gateway, tried: Tried, inputs: Mapping[str, Any], replicate: int = 0
    ) -> Answer:
        """All calls that one list takes; one that gave nothing is the last."""
        judge, noting = self._judge.deepcopy(), Noting(gateway)
        set_prompt(getattr(judge, judge.predictor), tried.prompt)
        judge.backend, judge.replicate = noting, replicate
        try:
            texts = waited(judge.made(**self._made_from[key_of(inputs)]))
        except JudgeError as error:
            failed = dspy.Prediction(failure=str(error))
            return Answer(failed, (*noting.calls, (noting.asked or dict(inputs), failed)))
        return Answer(dspy.Prediction(**{judge.output: texts}), tuple(noting.calls))


def key_of(inputs: Mapping[str, Any]) -> str:
    """What tells the inputs of one example from those of others."""
    return json.dumps(inputs, sort_keys=True)


class Noting:
    """A backend that notes what was asked of another, and what it replied.

    Attributes:
        calls: those that gave a reply, in order. asked: the inputs of the last that gave none.
    """

    def __init__(self, backend: Backend) -> None:
        self.config, self.budget = backend.config, backend.budget
        self.calls: list[Call] = []
        self.asked: dict[str, Any] = {}
        self._backend = backend

    async def ask(self, prompt: Prompt, inputs: Mapping[str, Any], replicate: int = 0) -> Reply:
        fields = dict(inputs)
        try:
            reply = await self._backend.ask(prompt, inputs, replicate)
        except JudgeError:
            self.asked = fields
            raise
        self.calls.append((fields, dspy.Prediction(**to_jsonable_python(reply.values))))
        return reply

    def varied(self, **settings: Any) -> Backend:
        return self._backend.varied(**settings)

    async def aclose(self) -> None:
        """Nothing of its own is open."""
