"""spend.jsonl: what each stage took of the models, over all starts that wrote into a folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
from pydantic import NonNegativeInt, StrictFloat, StrictInt, StrictStr, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from ....backends.budget import FREE, Usage, cost_of, price_of
from ....backends.config import ModelConfig, Price
from ....records.judgements import Provenance
from ....records.reading.problems import InputError
from ....records.writing import Appending, remove, write_file

SPEND = "spend.jsonl"
_UNDER_WAY = "journal/spending.json"  # of the stage that is being asked; gone once it has its row


class Spent(TypedDict):
    """A row: what one stage took in one start of the command; `cost` in dollars, None: unknown."""

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
    """The rows of a results folder, oldest first; none where nothing was asked of a model.

    Raises: InputError with the line of a row that is none; one torn by a kill is left out.
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
    """Dollars; None as soon as that of one row is not known."""
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
        if (lost := _lost(folder, rows)) is not None:
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
        prices = {price_of(model) for model in models}
        before = replace(self._usage)
        if prices - {FREE}:
            price = prices.pop() if len(prices) == 1 else None
            about = {
                **{"start": self._start, "at": self._at, "stage": name, "model": _named(models)},
                **{"price": price and price.model_dump(), "journal": journal.name, "end": end},
            }
            write_file(self._folder / _UNDER_WAY, orjson.dumps(about))
        try:
            yield
        finally:
            self.add(name, _named(models), self._usage.since(before))
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


def _lost(folder: Path, rows: Sequence[Spent]) -> Spent | None:
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
        usage.cost += cost_of(price, *tokens)
    if not (usage.requests or usage.cache_hits):
        return None
    return _row(origin, usage, from_journal=True)


def _calls(journal: Path, end: int) -> Iterator[Provenance]:
    """The calls of the journal's lines from there on; the last may be torn."""
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


def _named(models: Sequence[ModelConfig]) -> str:
    return ", ".join(dict.fromkeys(model.model for model in models))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
