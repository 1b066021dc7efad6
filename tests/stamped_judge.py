"""Optimises a stamped judge against a mock server, in this process or as one of its own."""

import json
import sys
from pathlib import Path
from typing import Any

from stamped import Stamped, stamped, stamped_nuggets

from nuggetjudge.backends import open_backend
from nuggetjudge.backends.budget import Budget
from nuggetjudge.backends.cache import ReplyCache
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.loop import run_sync
from nuggetjudge.calibration.prompts.optimisers import Optimised, optimise
from nuggetjudge.judges import JudgeFile, NuggetAssigner, SupportJudge
from nuggetjudge.judges.items import ItemJudge, judge_items

SMALL: dict[str, dict[str, Any]] = {
    "few-shot": {}, "bootstrap": {"num_candidate_programs": 2},
    "mipro": {"num_candidates": 3, "num_trials": 4},
    "simba": {"max_steps": 2, "bsize": 8, "num_candidates": 3}, "gepa": {"max_metric_calls": 60},
}  # fmt: skip
TRAIN, DEV, TEST = stamped(25), stamped(15, first=100), stamped(20, first=200)


def support_judge(
    url: str, *, max_calls: int | None = None, cache: ReplyCache | None = None, **settings: Any
) -> SupportJudge:
    entry = ModelConfig(model="openai/mock", api_base=url, **settings)
    return SupportJudge(backend=open_backend(entry, cache=cache, budget=Budget(max_calls)))


def search(judge: ItemJudge, method: str, **settings: Any) -> Optimised:
    """`optimise` on the small data, one call at a time."""
    data: tuple[list[Stamped], list[Stamped]] = (TRAIN, DEV)
    if isinstance(judge, NuggetAssigner):
        data = stamped_nuggets(10, 4), stamped_nuggets(5, 4, first=100)
    settings = {"threads": 1, "options": SMALL[method]} | settings
    return optimise(judge, *data, method=method, **settings)


def judge_file(judge: ItemJudge, optimised: Optimised) -> JudgeFile:
    return JudgeFile(
        judge=judge.name, version=judge.version, scale=judge.scale, model="openai/mock",
        prompts=optimised.prompts,
    )  # fmt: skip


def labels_of(judge: ItemJudge, items: list[Stamped] = TEST) -> list[str]:
    return [outcome.label for outcome, _ in run_sync(judge_items(judge, items))]


def main() -> None:
    """URL, method and a folder: replies are cached there, and the judge file written."""
    url, method, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    cache = ReplyCache(folder / "replies")
    judge = support_judge(url, cache=cache)
    optimised = search(judge, method, log=folder / "log.jsonl")
    (folder / "judge.json").write_text(judge_file(judge, optimised).text(), encoding="utf-8")
    sys.stdout.write(json.dumps(optimised.calls))
    cache.close()


if __name__ == "__main__":
    main()
