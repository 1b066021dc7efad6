"""DSPy's optimisers over the gateway: settings, budget and LM, and one trial of a prompt."""

from __future__ import annotations

import contextlib
import json
import os
import warnings
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import dspy
from dspy.lm15 import Message, Request, Response, Usage
from pydantic_core import to_jsonable_python

from ...backends.budget import Budget
from ...backends.errors import EndpointLost, EndpointUnusable, JudgeError
from ...backends.gateway import Backend, Gateway, Reply
from ...backends.loop import run_sync
from ...backends.prompt import Prompt
from ...judges.base import set_prompt
from ...judges.fitted import FittedPrompt
from ...judges.in_dspy import FreeText, read_messages
from ...judges.makers.lists import ListMaker
from ...records.judgements import Reason

NO_LIMIT = 10**9  # errors before DSPy gives up: a wrong reply is scored, a dead endpoint stops

# Independent of the calling program's settings: no growing histories, no trace unless an optimiser
# needs one, no callbacks.
SETTINGS: dict[str, Any] = {
    "disable_history": True,
    "trace": None,
    "callbacks": [],
    "max_errors": NO_LIMIT,
    "provide_traceback": False,
}


@contextlib.contextmanager
def confine_dspy(lm: dspy.LM) -> Iterator[None]:
    """Run DSPy with this LM, without changing the caller's settings.

    Output of DSPy and others is dropped; our own warnings come at the end.
    """
    with (
        Path(os.devnull).open("w", encoding="utf-8") as nowhere,
        warnings.catch_warnings(record=True) as caught,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
        dspy.context(**SETTINGS, lm=lm, adapter=dspy.ChatAdapter()),
    ):
        warnings.simplefilter("always")
        yield
    for warning in caught:
        if warning.category is RuntimeWarning and "nuggetjudge" in warning.filename:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )


@contextlib.contextmanager
def reserve_calls(budget: Budget, n_calls: int) -> Iterator[None]:
    """Lower the limits by `n_calls` requests, and restore them afterwards.

    Tokens and money are reserved at the mean of the requests so far; before the first, none.
    """
    reached, limits = budget.reached, (budget.max_calls, budget.max_tokens, budget.max_cost)
    use, share = budget.usage, n_calls / max(1, budget.usage.requests)
    if budget.max_calls is not None:
        budget.max_calls -= n_calls
    if budget.max_tokens is not None:
        budget.max_tokens -= round(use.tokens * share)
    if budget.max_cost is not None:
        budget.max_cost -= use.cost * share
    try:
        yield
    finally:
        budget.max_calls, budget.max_tokens, budget.max_cost = limits
        budget.reached = reached


T = TypeVar("T")
TEMPERATURE = 1.0  # for proposals, and for samples of a judge's answers


class Stopped(BaseException):
    """No further request can succeed: the budget is used up, or the endpoint is lost (the cause).

    It is not an Exception, because optimisers count an Exception as a bad answer and continue.
    """


def ask(gateway: Gateway, prompt: Prompt, inputs: Mapping[str, Any], replicate: int = 0) -> Reply:
    """Ask and wait. Raises: JudgeError for an invalid reply; Stopped."""
    return wait_for(gateway.ask(prompt, inputs, replicate))


def wait_for(asking: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine. Raises: JudgeError for an invalid reply; Stopped."""
    try:
        return run_sync(asking)
    except (EndpointLost, EndpointUnusable) as error:
        raise Stopped from error
    except JudgeError as error:
        if error.reason is Reason.BUDGET:
            raise Stopped from None
        raise


class Proposals:
    """Free text from a model, for an optimiser that wants instructions and advice.

    Args:
        gateway: its model, endpoint, cache, budget and limits are used.
        max_tokens: longest reply; None: no limit is sent, because the limit of a judge's entry is
            meant for labels.
    """

    def __init__(self, gateway: Gateway, max_tokens: int | None = None) -> None:
        self._gateway = gateway.copy_with(
            reply_schema="none", logprobs=False, max_tokens=max_tokens
        )
        self._by_temperature: dict[float | None, Gateway] = {}

    def lm(self) -> dspy.LM:
        """An LM for `dspy.context(lm=...)`, without cache and retries."""
        temperature = None if self._gateway.config.temperature is None else TEMPERATURE
        return GatewayLM(
            "gateway",  # not a provider's name, so DSPy looks up neither abilities nor prices
            engine=_Engine(self, 0),
            cache=False,
            num_retries=0,
            temperature=temperature,
        )

    def text(
        self, messages: Sequence[Mapping[str, str]], temperature: float | None, replicate: int
    ) -> str:
        """Ask for one reply. Raises: JudgeError if it is refused or truncated; Stopped."""
        gateway = self._by_temperature.get(temperature)
        if gateway is None:
            gateway = self._gateway.copy_with(temperature=temperature)
            self._by_temperature[temperature] = gateway
        return str(ask(gateway, FreeText(messages), {}, replicate).values["text"])


class GatewayLM(dspy.LM):  # type: ignore[misc]
    """A dspy.LM whose copies with a `rollout_id` get their own replies."""

    def copy(self, **changes: Any) -> Self:
        """See dspy.LM.copy."""
        if "rollout_id" in changes:
            changes["engine"] = _Engine(self.engine.proposals, changes["rollout_id"] or 0)
        changed: Self = super().copy(**changes)
        return changed


class _Engine:
    """DSPy's interface for an LM's engine: a Request in, a Response out."""

    def __init__(self, proposals: Proposals, replicate: int) -> None:
        self.proposals = proposals
        self._replicate = replicate

    def complete(self, request: Request) -> Response:
        messages = read_messages(request)
        text = self.proposals.text(messages, request.config.temperature, self._replicate)
        return Response(None, request.model, Message.assistant(text), "stop", Usage())


Call = tuple[dict[str, Any], dspy.Prediction]  # the inputs of a predictor, and its reply


class Answer(NamedTuple):
    """The result for an example: the fields of the reply, or `failure`, the reason for none."""

    prediction: dspy.Prediction
    calls: tuple[Call, ...]  # the calls behind it, in order


class Tried(Protocol):
    """A prompt, as data and compiled."""

    @property
    def prompt(self) -> FittedPrompt: ...
    @property
    def compiled(self) -> Prompt: ...


class Way(Protocol):
    """Asks about one example with a prompt. Raises: Stopped."""

    def __call__(
        self, gateway: Gateway, tried: Tried, inputs: Mapping[str, Any], replicate: int
    ) -> Answer: ...


def ask_once(
    gateway: Gateway, tried: Tried, inputs: Mapping[str, Any], replicate: int = 0
) -> Answer:
    """Ask in one call, as for items."""
    try:
        reply = ask(gateway, tried.compiled, inputs, replicate)
        prediction = dspy.Prediction(**to_jsonable_python(reply.values))
    except JudgeError as error:
        prediction = dspy.Prediction(failure=str(error))
    return Answer(prediction, ((dict(inputs), prediction),))


class Making:
    """Makes lists with a judge, as a run does.

    Args:
        made_from: the inputs of each list, by the key of its example's inputs.
    """

    def __init__(self, judge: ListMaker, made_from: Mapping[str, Mapping[str, Any]]) -> None:
        self._judge = judge
        self._made_from = made_from

    def __call__(
        self, gateway: Gateway, tried: Tried, inputs: Mapping[str, Any], replicate: int = 0
    ) -> Answer:
        """All calls for one list; a failed call is the last."""
        judge, noting = self._judge.deepcopy(), Noting(gateway)
        set_prompt(getattr(judge, judge.predictor), tried.prompt)
        judge.backend, judge.replicate = noting, replicate
        try:
            texts = wait_for(judge.make_texts(**self._made_from[make_key(inputs)]))
        except JudgeError as error:
            failed = dspy.Prediction(failure=str(error))
            return Answer(failed, (*noting.calls, (noting.asked or dict(inputs), failed)))
        return Answer(dspy.Prediction(**{judge.output: texts}), tuple(noting.calls))


def make_key(inputs: Mapping[str, Any]) -> str:
    """A key that identifies the inputs of one example."""
    return json.dumps(inputs, sort_keys=True)


class Noting:
    """A backend that records the questions to another backend, and its replies.

    Attributes:
        calls: calls with a reply, in order. asked: the inputs of the last call without one.
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

    def copy_with(self, **settings: Any) -> Backend:
        return self._backend.copy_with(**settings)

    async def aclose(self) -> None:
        """Do nothing: it owns no connection."""
