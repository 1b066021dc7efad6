"""The answer: what a run wrote, sentence by sentence, and why it was labelled as it was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....programs.analysis.answers.overlap import by_words
from ..source import Source


def data(source: Source) -> Mapping[str, Any] | None:
    """How its labels are to be read; the texts themselves are packed by topic (texts.py).

    `by_words`: programs whose judges compare words alone. `eta`: the rating that answers a
    sub-question.
    """
    manifests = [result.manifest for result in source.results]
    if not any(manifest["data"].get("run_ids") for manifest in manifests):
        return None
    etas = [manifest["config"].get("coverage", {}).get("eta", 3) for manifest in manifests]
    lexical = {program for manifest in manifests for program in by_words(manifest)}
    return {"by_words": sorted(lexical), "eta": min(etas)}
