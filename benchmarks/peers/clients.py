"""The judgements of other tools, in the environment of each: run by bench.py.

Their own way of asking many at once differs or has none, so that all are given the same: 32 at
once from one event loop, the tool's objects made once where it lets them be shared.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from ..processes import Clock
from ..texts import pair, window

CONCURRENCY = 32
KEY = "none-needed"
Judge = Callable[[int], Awaitable[None]]

# No tool may call home or read a .env file.
_ENVIRONMENT = {
    "OPENAI_API_KEY": KEY,
    "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
    "DEEPEVAL_DISABLE_DOTENV": "1",
    "RAGAS_DO_NOT_TRACK": "true",
}


def main(name: str, url: str, n: int) -> dict[str, float]:
    """CPU of each call of n judgements by a tool."""
    os.environ.update(_ENVIRONMENT, OPENAI_BASE_URL=url)
    made = {"nuggetizer": _nuggetizer, "ragas": _ragas, "deepeval": _deepeval}[name]
    return asyncio.run(_measured(made, url, n))


async def _measured(made: Callable[[str], tuple[int, Judge]], url: str, n: int) -> dict[str, float]:
    n_calls, judge = made(url)
    await _all(judge, range(CONCURRENCY))
    clock = Clock()
    await _all(judge, range(CONCURRENCY, CONCURRENCY + n))
    return clock.spent(n * n_calls)


async def _all(judge: Judge, numbers: range) -> None:
    async def work(left: Iterator[int]) -> None:
        for number in left:
            await judge(number)

    left = iter(numbers)
    async with asyncio.TaskGroup() as group:
        for _ in range(CONCURRENCY):
            group.create_task(work(left))


def _nuggetizer(url: str) -> tuple[int, Judge]:
    import tiktoken

    class Bytes:
        encode = staticmethod(str.encode)

    tool: Any = tiktoken
    tool.get_encoding = lambda name: Bytes()  # its vocabulary is a download
    from nuggetizer.core.types import ScoredNugget
    from nuggetizer.models.async_nuggetizer import AsyncNuggetizer

    tool = AsyncNuggetizer(model="light", api_keys=KEY)

    async def judge(number: int) -> None:
        question, answer, nuggets = window(number)
        scored = [ScoredNugget(text=text, importance="vital") for text in nuggets]
        assigned = await tool.assign(question, answer, scored)
        assert [nugget.assignment for nugget in assigned] == ["support"] * 10

    return 1, judge


def _ragas(url: str) -> tuple[int, Judge]:
    from openai import AsyncOpenAI
    from ragas.llms.base import llm_factory
    from ragas.metrics.collections import Faithfulness

    tool: Any = Faithfulness(llm=llm_factory("light", client=AsyncOpenAI()))

    async def judge(number: int) -> None:
        sentence, passage = pair(number)
        score = await tool.ascore(
            user_input=f"question {number}", response=sentence, retrieved_contexts=[passage]
        )
        assert score.value == 1.0

    return 2, judge


def _deepeval(url: str) -> tuple[int, Judge]:
    from deepeval.metrics import GEval
    from deepeval.models import LocalModel
    from deepeval.test_case import LLMTestCase, SingleTurnParams

    model: Any = LocalModel(model="light", api_key=KEY, base_url=url)
    params = [SingleTurnParams.ACTUAL_OUTPUT, SingleTurnParams.CONTEXT]

    async def judge(number: int) -> None:
        sentence, passage = pair(number)
        steps = ["Say how far the context carries the output."]
        tool = GEval(name="support", evaluation_params=params, evaluation_steps=steps, model=model)
        case = LLMTestCase(input=f"q {number}", actual_output=sentence, context=[passage])
        await tool.a_measure(case, _show_indicator=False)
        assert tool.score == 0.8

    return 1, judge
