"""What a study runs: each set with each variant of its judge, as a config of `judge run items`."""

from __future__ import annotations

import inspect
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from nuggetjudge.judges.table import find_judge
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.config.sections import Config, DataConfig, ItemsConfig, JudgeConfig
from nuggetjudge.programs.engine.judge_set import get_window

from .sets import Item, JudgedSet

QUOTE_ANYWAY = ("entailment",)  # asked for a quote by its plain prompt
_LISTED = ("nugget_id", "key_point_id", "question_id")  # of what judges take a window of


class Variant(NamedTuple):
    """A judge as it is, or with other settings under `judges.NAME`."""

    name: str
    settings: Mapping[str, Any] = {}


PLAIN = Variant("plain")
VARIANTS = (
    PLAIN,
    Variant("evidence", {"evidence": True}),
    Variant("reasoning", {"reasoning": True}),
    Variant("window-1", {"window": 1}),
    Variant("window-5", {"window": 5}),
    Variant("window-10", {"window": 10}),
)


@dataclass(frozen=True)
class Part:
    """A results folder of the study.

    Attributes:
        items: those that are judged.
        window: things in one call, where the judge takes several.
    """

    of: JudgedSet
    variant: Variant
    config: Config
    items: Sequence[Item]
    window: int | None

    @property
    def name(self) -> str:
        """As its folder has it."""
        return f"{self.of.key}/{self.variant.name}"


@dataclass(frozen=True)
class Choice:
    """Which items of a set: those of the first `limit` topics, or `sample` drawn over all."""

    limit: int | None = None
    sample: int | None = None
    seed: int = 0

    def of(self, items: Iterable[Item]) -> list[Item]:
        """The chosen items, in their order.

        What is looked for in one answer or passage stays together, so a sample may be a little
        larger.
        """
        chosen = list(items)
        topics = list(dict.fromkeys(item.ids["topic_id"] for item in chosen))
        if self.limit is not None:
            topics_kept = set(topics[: self.limit])
            chosen = [item for item in chosen if item.ids["topic_id"] in topics_kept]
        if self.sample is None or self.sample >= len(chosen):
            return chosen
        rng, by_topic = random.Random(self.seed), dict[str, dict[tuple[str, ...], list[int]]]()
        for index, item in enumerate(chosen):
            group = by_topic.setdefault(item.ids["topic_id"], {})
            group.setdefault(_together(item), []).append(index)
        waiting = [rng.sample(list(groups.values()), len(groups)) for groups in by_topic.values()]
        taken: list[int] = []
        while len(taken) < self.sample:
            for groups in rng.sample(waiting, len(waiting)):
                if groups and len(taken) < self.sample:
                    taken += groups.pop()
        return [chosen[index] for index in sorted(taken)]


def base_config(
    path: Path | None, sets: Sequence[str], model: str | None, out: Path, limit: float | None
) -> Config:
    """Models, judges and run settings of a study; `limit` in dollars.

    Raises: InputError.
    """
    config = load_config(path, {} if limit is None else {"run.max_cost": limit}, sets, model)
    cache = config.run.cache and out / "cache"
    run = config.run.model_copy(update={"cache": cache, "limit": None, "allow_missing": 1.0})
    return Config(models=config.models, judges=config.judges, run=run)


def part_of(of: JudgedSet, variant: Variant, base: Config, out: Path, chosen: list[Item]) -> Part:
    """One part under the study's folder `out`.

    Raises: ValueError for a variant that the judge does not have, with why.
    """
    name = of.judge
    before = base.judge(name).model_dump(exclude_unset=True)
    try:
        judge = JudgeConfig.model_validate({**before, **of.settings, **variant.settings})
        config = Config(
            program=("items",),
            data=DataConfig(items=items_file(of, out)),
            models=base.models,
            judges={**base.judges, name: judge},
            items=ItemsConfig(judge=name),
            run=base.run.model_copy(update={"out": out / "parts" / of.key / variant.name}),
        )
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        at = ".".join(map(str, first["loc"]))
        raise ValueError(f"{at}: {first['msg']}" if at else first["msg"]) from None
    return Part(of, variant, config, chosen, window_of(name, config))


def parts_of(
    of: JudgedSet, variants: Iterable[Variant], base: Config, out: Path, chosen: list[Item]
) -> tuple[list[Part], list[str]]:
    """The parts of a set, and which variants it has not, with why.

    What the judge has or does anyway, a window or quotes, is no variant.
    """
    parts: list[Part] = []
    not_had: list[str] = []
    default = window_of(of.judge, base)
    for variant in variants:
        window = variant.settings.get("window")
        if window is not None and (default is None or window == default):
            continue
        if variant.settings.get("evidence") and of.judge in QUOTE_ANYWAY:
            continue
        says_why = variant.settings.get("evidence") or variant.settings.get("reasoning")
        if (
            says_why
            and base.run.explainer is None
            and base.get_model(of.judge)[1].way == "decision"
        ):
            why = "a decision model gives labels alone, unless run.explainer is set"
            not_had.append(f"{of.judge} without {variant.name}: {why}")
            continue
        try:
            parts.append(part_of(of, variant, base, out, chosen))
        except ValueError as error:
            not_had.append(f"{of.judge} without {variant.name}: {error}")
    return parts, not_had


def window_of(judge: str, config: Config) -> int | None:
    """How many things the judge takes in a call; None: one, always."""
    kind = find_judge(judge)
    assert kind is not None  # the sets name built-in ones
    if not kind.is_windowed:
        return None
    default: int = inspect.signature(kind.load().__init__).parameters["window"].default
    return get_window(judge, config) or default


def items_file(of: JudgedSet, out: Path) -> Path:
    """Where the items of a set are written, for its parts to read."""
    return out / "items" / f"{of.key}.jsonl"


def _together(item: Item) -> tuple[str, ...]:
    """What a call may take together shares this: the ids without that of what is looked for."""
    *others, last = item.ids
    return tuple(item.ids[name] for name in others) if last in _LISTED else item.cell
