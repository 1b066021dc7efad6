"""Which labels of a results folder are word overlap: those of the judges without a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...protocols.table import chosen


def by_words(manifest: Mapping[str, Any]) -> dict[str, list[str]]:
    """The judges whose labels follow from common words alone, by program; of those with any.

    Judges that write texts, such as nuggets, give no labels and are not among them.
    """
    names = [
        name for name, about in manifest.get("judges", {}).items() if _is_lexical_labeller(about)
    ]
    lexical = {
        one.name: [name for name in one.judges if name in names]
        for one in chosen(manifest["config"]["program"])
    }
    return {program: judges for program, judges in lexical.items() if judges}


def _is_lexical_labeller(about: Mapping[str, Any]) -> bool:
    model = about.get("model") or {}
    return "evidence" in about and str(model.get("endpoint", "")).startswith("lexical:")
