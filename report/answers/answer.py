"""The answer: what a run wrote, sentence by sentence, and why it was labelled as it was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..source import Source


def data(source: Source) -> Mapping[str, Any] | None:
    """Whether words alone were compared; the texts are packed by topic (texts.py)."""
    manifests = [result.manifest for result in source.results]
    if not any(manifest["data"].get("run_ids") for manifest in manifests):
        return None
    return {"lexical": all(manifest.get("answered_by") == ["lexical"] for manifest in manifests)}
