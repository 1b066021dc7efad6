"""What the judgements of a results folder cost, an item."""

from __future__ import annotations

from pathlib import Path

from ...backends.budget import cost_of, price_of
from ...programs.config.juries import seats
from ...programs.engine.manifest import config_of, read_manifest


def dollars(path: Path) -> float | None:
    """Dollars for a call, on average; None for a file, several judges, or an unknown price.

    None too of verified labels, since nothing tells which tokens were the verifier's. Replies that
    came from the cache report no tokens: where none was paid for, nothing is known.
    """
    if not path.is_dir():
        return None
    manifest, config = read_manifest(path), config_of(path)
    names = list(manifest.get("judges", {}))
    if len(names) != 1:
        return None
    settings = config.judge(names[0])
    if settings.cascade is not None or settings.verify is not None:
        return None
    models = {"": settings.model}
    if settings.jury is not None:
        models = {seat.name: seat.settings.model for seat in seats(settings)}
    if all(config.model(model).way in ("lexical", "recorded") for model in models.values()):
        return 0.0
    total = 0.0
    for answered, tokens in manifest.get("tokens_by", {}).items():
        member = answered.partition(": ")[0] if settings.jury is not None else ""
        price = price_of(config.model(models[member])) if member in models else None
        if price is None:
            return None
        counts = [tokens.get(part, 0) for part in ("prompt", "cached", "completion")]
        total += cost_of(price, *counts)
    n = sum(manifest["judged"].values())
    return total / n if total and n else None
