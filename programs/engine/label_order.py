"""Whether the labels that judges give go from worst to best."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...records.labels.cells import LabelKind, known_scale
from .judged_files import about_items, have_order


def are_ordered(kind: LabelKind, scale: Sequence[str], *paths: Path) -> bool:
    """Whether one label of this scale is better than another.

    Args:
        kind, scale: of the labels, as `LabelFile` has them.
        paths: what they were read from; a folder of judged items says it of its labels.

    Labels of no known scale are sorted by name, which is no order.
    """
    if about_items(*paths) is not None:
        return have_order(*paths)
    return known_scale(kind, set(scale)) is not None
