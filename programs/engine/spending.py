"""The estimated cost of calls, stages and agents of a run, and the actual cost (spend.jsonl)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from pydantic import NonNegativeInt, StrictFloat, StrictInt, StrictStr, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from ...backends.budget import CHARS_PER_TOKEN, FREE, Usage, compute_cost, get_price
from ...backends.config import ModelConfig, Price
from ...records.judgements import Provenance
from ...records.reading.problems import InputError
from ...records.writing import Appending, remove, write_file
from ..config.base import JudgeName
from ..config.sections import Config

if TYPE_CHECKING:
    from ...agents import Limits
    from ...backends.prompt import Prompt


SPEND = "spend.jsonl"
_UNDER_WAY = "journal/spending.json"  # of the stage that is being asked; gone once it has its row


class Spent(TypedDict):
    """The cost of one stage in one start of the command; `cost` in dollars, None: unknown."""

    start: NonNegativeInt
    at: StrictStr
    stage: StrictStr
    model: StrictStr
    requests: NonNegativeInt
    cache_hits: NonNegativeInt
    prompt_tokens: NonNegativeInt
    cached_tokens: NonNegativeInt
    completion_tokens: NonNegativeInt
    cost: StrictFloat | StrictInt | None
    from_journal: bool


def read_spending(folder: Path) -> list[Spent]:
    """The rows of a results folder, oldest first; empty if no model was asked.

    Raises: InputError with the line of an invalid row; a row that a kill cut short is left out.
    """
    path = folder / SPEND
    if not path.is_file():
        return []
    kind, rows = TypeAdapter(Spent), []
    for number, line in enumerate(path.read_bytes().split(b"\n")[:-1], 1):
        try:
            rows.append(kind.validate_python(orjson.loads(line)))
        except orjson.JSONDecodeError as error:
            raise InputError(f"{path}:{number}: not JSON ({error})") from None
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"])) or "row"
            raise InputError(f"{path}:{number}: {where}: {first['msg']}") from None
    return rows


def cost_in_all(rows: Iterable[Spent]) -> float | None:
    """Return the sum in dollars; None if the cost of any row is unknown."""
    costs = [row["cost"] for row in rows]
    return None if None in costs else sum(cost for cost in costs if cost is not None)


class Spending:
    """Writes the rows of one start, each as soon as its stage ends, however it ends.

    What a start took that was killed in the middle of a stage is counted first, by its journal.

    Args:
        usage: what the start has used so far; it goes on counting.
    """

    def __init__(self, folder: Path, usage: Usage) -> None:
        self._folder = folder
        self._usage = usage
        self._at = _now()
        rows = read_spending(folder)
        if (lost := _find_lost_stage(folder, rows)) is not None:
            self._append(lost)
            rows.append(lost)
        remove(folder / _UNDER_WAY)
        self._start = 1 + max((row["start"] for row in rows), default=0)

    @contextmanager
    def stage(
        self, name: str, models: Sequence[ModelConfig], journal: Path, end: int
    ) -> Iterator[None]:
        """What is asked in here is one row, if it is anything.

        Args:
            journal: the stage's; end: how many bytes of it are of earlier starts.
        """
        prices = {get_price(model) for model in models}
        before = replace(self._usage)
        if prices - {FREE}:
            price = prices.pop() if len(prices) == 1 else None
            about = {
                **{
                    "start": self._start,
                    "at": self._at,
                    "stage": name,
                    "model": _name_models(models),
                },
                **{"price": price and price.model_dump(), "journal": journal.name, "end": end},
            }
            write_file(self._folder / _UNDER_WAY, orjson.dumps(about))
        try:
            yield
        finally:
            self.add(name, _name_models(models), self._usage.since(before))
            remove(self._folder / _UNDER_WAY)

    def add(self, stage: str, model: str, usage: Usage) -> None:
        """Append the row of a stage; none where it asked nothing."""
        if usage.requests or usage.cache_hits:
            origin = {"start": self._start, "at": self._at, "stage": stage, "model": model}
            self._append(_row(origin, usage, from_journal=False))

    def _append(self, row: Spent) -> None:
        path = self._folder / SPEND
        end = path.read_bytes().rfind(b"\n") + 1 if path.is_file() else 0
        file = Appending(path, end)
        try:
            file.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
        finally:
            file.close()


def _row(origin: Mapping[str, Any], usage: Usage, *, from_journal: bool) -> Spent:
    names = ("requests", "cache_hits", "prompt_tokens", "cached_tokens", "completion_tokens")
    counts = {**{name: getattr(usage, name) for name in names}, "cost": usage.known_cost}
    return TypeAdapter(Spent).validate_python({**origin, **counts, "from_journal": from_journal})


def _find_lost_stage(folder: Path, rows: Sequence[Spent]) -> Spent | None:
    """The row of the stage in which the last start was killed, as far as its journal knows it."""
    try:
        about = orjson.loads((folder / _UNDER_WAY).read_bytes())
        origin = {name: about[name] for name in ("start", "at", "stage", "model")}
        journal, end = folder / "journal" / Path(about["journal"]).name, int(about["end"])
        price = about["price"] and Price(**about["price"])
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
    ):  # none was under way, or half of it was written
        return None
    if rows and (rows[-1]["start"], rows[-1]["stage"]) == (origin["start"], origin["stage"]):
        return None
    usage = Usage()
    for call in _calls(journal, end):
        usage.cache_hits += call.cache_hit
        if call.cache_hit:
            continue
        usage.requests += call.attempts
        usage.prompt_tokens += call.prompt_tokens
        usage.cached_tokens += call.cached_tokens
        usage.completion_tokens += call.completion_tokens
        if price is None or not call.prompt_tokens:
            usage.n_unpriced += 1
        tokens = (call.prompt_tokens, call.cached_tokens, call.completion_tokens)
        usage.cost += compute_cost(price, *tokens)
    if not (usage.requests or usage.cache_hits):
        return None
    return _row(origin, usage, from_journal=True)


def _calls(journal: Path, end: int) -> Iterator[Provenance]:
    """Read the calls in the journal from this byte on; the last line may be incomplete."""
    try:
        stream = journal.open("rb")
    except OSError:
        return
    with stream:
        stream.seek(end)
        for line in stream:
            try:
                calls = orjson.loads(line)["p"]
                yield from (Provenance(*call) for call in calls)
            except (ValueError, KeyError, TypeError):
                continue


def _name_models(models: Sequence[ModelConfig]) -> str:
    return ", ".join(dict.fromkeys(model.model for model in models))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


MARKS = '{}[]":,'


@dataclass(frozen=True)
class Estimate:
    """The calls of one judge in a run. Tokens are estimates.

    Attributes:
        cost: in dollars; None: the price is unknown.
        cached_tokens: the prompt tokens that a prefix cache can hold (see `Asked`).
    """

    judge: str
    model: str
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    cached_tokens: int = 0


class PromptSizes:
    """The prompts of a judge in the order in which they will be asked, measured one by one.

    What a prompt begins with counts as cached as far as the one before it to the same question
    began so too: the fixed messages, and texts at the head of the data such as a passage that
    several sentences cite. The prompts themselves are not kept.
    """

    def __init__(self) -> None:
        self.calls = self.prompt_tokens = self.cached_tokens = self.reply_tokens = 0
        self._before: dict[Prompt, str] = {}  # the last data of each question

    def add(self, prompt: Prompt, inputs: Mapping[str, object], reply: object) -> tuple[int, int]:
        """One more call, and what answers it; the tokens of both."""
        prompt = prompt.of(inputs)
        user, before = prompt.user(inputs), self._before.get(prompt)
        fixed = sum(len(message["content"]) for message in prompt.fixed)
        tokens = (fixed + len(user)) // CHARS_PER_TOKEN, _size(reply) // CHARS_PER_TOKEN + 1
        self.calls += 1
        self.prompt_tokens += tokens[0]
        self.reply_tokens += tokens[1]
        if before is not None:
            self.cached_tokens += (fixed + _n_shared(user, before)) // CHARS_PER_TOKEN
        self._before[prompt] = user
        return tokens

    def add_request(self, body: bytes) -> tuple[int, int]:
        """One more request to a model that writes nothing; its tokens, and those of the reply."""
        self.calls += 1
        self.prompt_tokens += len(body) // CHARS_PER_TOKEN
        return len(body) // CHARS_PER_TOKEN, 0


def make_estimate(
    config: Config, judge: JudgeName, prompts: PromptSizes, shown: str | None = None
) -> Estimate:
    """What these calls take of the model that answers for a judge, `shown` under another name."""
    alias, model = config.get_model(judge)
    tokens, cached, reply = prompts.prompt_tokens, prompts.cached_tokens, prompts.reply_tokens
    cost = None
    if (price := get_price(model)) is not None:
        cost = compute_cost(price, tokens, cached, reply)
    name = show_alias(alias, model)
    return Estimate(shown or judge, name, prompts.calls, tokens, reply, cost, cached)


def show_alias(alias: str, model: ModelConfig) -> str:
    """Return the name of a model to show: its own, with the alias if it has one."""
    return model.model if alias == "default" else f"{alias} ({model.model})"


def _size(reply: object) -> int:
    """Count the characters of a reply as JSON; marks count twice, as most are half a token."""
    text = json.dumps(reply, ensure_ascii=False, default=str)  # half a surrogate pair may be in it
    return len(text) + sum(map(text.count, MARKS))


def _n_shared(one: str, other: str) -> int:
    """Count the characters with which both texts begin."""
    same, end = 0, min(len(one), len(other)) + 1  # the first `same` are, the first `end` are not
    while end - same > 1:
        middle = (same + end) // 2
        if one[same:middle] == other[same:middle]:
            same = middle
        else:
            end = middle
    return same


Worked = dict[str, dict[str, Any]]  # by stage, as `agent_work.AgentWork.as_dict` has it


@dataclass(frozen=True)
class Forecast:
    """What a run will take: by judge, and of stages with agents also the least and the most."""

    judges: Sequence[Estimate]
    agents: Worked

    def rows(self) -> list[dict[str, Any]]:
        """Of the agents, ready for JSON: `expected` is what the lexical judges asked."""
        return [
            {
                "agent": stage,
                "items": of["items"],
                "least": of["least"],
                "expected": {name: of[name] for name in ("calls", "tokens")},
                "most": of["most"],
            }
            for stage, of in self.agents.items()
        ]

    def list_short_limits(self, config: Config) -> list[str]:
        """The limits of a run that are below what is expected, in a line each; [] without agents.

        What the lexical judge or a recording answers costs nothing and is not counted.
        """
        if not self.agents:
            return []
        models = config.models.items()
        free = {show_alias(a, m) for a, m in models if m.sends_nothing}
        paid = [row for row in self.judges if row.model not in free | {"lexical"}]
        if not paid:
            return []
        more = {
            name: sum(of["most"][name] - of[name] for of in self.agents.values())
            for name in ("calls", "tokens")
        }
        costs = [row.cost for row in paid]
        expected: dict[str, Any] = {
            "calls": sum(row.calls for row in paid),
            "tokens": sum(row.prompt_tokens + row.completion_tokens for row in paid),
            "cost": None if None in costs else sum(cost or 0.0 for cost in costs),
        }
        lines = []
        for name, value in expected.items():
            limit = getattr(config.run, f"max_{name}")
            if limit is None or value is None or value <= limit:
                continue
            least = f"${value:.4f}" if name == "cost" else f"{value:,}"
            most = f", at most {value + more[name]:,}" if name in more else ""
            what = f"run.max_{name} is {limit:,}, but {least} are expected{most}"
            lines.append(f"{what}: it would end before all is judged")
        return lines


@dataclass
class AgentWork:
    """The questions that an agent asked in the steps of a stage's items.

    Attributes:
        limits: of one item. reply_limit: tokens of a reply at most, where its models have a limit.
        items: worked on. calls: questions asked. tokens: of prompts and replies.
        first_calls, first_tokens: of the first question of each item, which it asks in any case:
            all before it follows from the item and the index.
        longest_prompt, longest_reply: tokens of a question; a mean where a step asks several.
    """

    limits: Limits
    reply_limit: int = 0
    items: int = 0
    calls: int = 0
    tokens: int = 0
    first_calls: int = 0
    first_tokens: int = 0
    longest_prompt: int = 0
    longest_reply: int = 0

    def add(self, steps: Iterable[Mapping[str, Any]]) -> None:
        """Count the steps of one item."""
        self.items += 1
        is_first = True
        for step in steps:
            if step["kind"] != "call":
                continue
            n = max(1, len(step.get("replies", ())))  # a failed one was asked too
            prompt, reply = step.get("tokens", (0, 0))
            self.calls += n
            self.tokens += prompt + reply
            self.longest_prompt = max(self.longest_prompt, -(-prompt // n))
            self.longest_reply = max(self.longest_reply, -(-reply // n))
            if is_first:
                self.first_calls += 1
                self.first_tokens += (prompt + reply) // n
            is_first = False

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON: `least` and `most` of calls and tokens beside those that there were.

        `most`: every item up to its limits. Where it has none on tokens, each question is as long
        as the longest one, and each reply as long as its model may write.
        """
        longest = self.longest_prompt + max(self.longest_reply, self.reply_limit)
        tokens = self.limits.calls * longest
        if self.limits.tokens is not None:  # looked at before questions that are asked together
            tokens = min(tokens, self.limits.tokens + self.limits.hits * longest)
        return {
            "items": self.items,
            "calls": self.calls,
            "tokens": self.tokens,
            "least": {"calls": self.first_calls, "tokens": self.first_tokens},
            "most": {"calls": self.items * self.limits.calls, "tokens": self.items * tokens},
        }
