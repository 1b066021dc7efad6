"""One run under two names: with and without its team's prefix."""

from __future__ import annotations

from collections.abc import Collection


def run_aliases(truth: Collection[str], judged: Collection[str]) -> dict[str, str]:
    """Judged run -> true run, where one is the other behind a team prefix and no other fits."""
    found: dict[str, str] = {}
    missing = sorted(set(truth) - set(judged))
    for name in sorted(set(judged) - set(truth)):
        fits = [t for t in missing if name.endswith(f".{t}") or t.endswith(f".{name}")]
        if len(fits) == 1:
            found[name] = fits[0]
    taken = list(found.values())
    return {name: run for name, run in found.items() if taken.count(run) == 1}
