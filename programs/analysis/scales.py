"""Whether the labels of two files are of one scale: what is refused, and what is reported."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...records.kinds import LabelFile
from ...records.labels import ANSWERED_OR_NOT
from ...records.reading.problems import InputError

_MANY = 20  # labelled items, among which a label that is never given is no accident
_SHOWN = 8  # labels of a scale that a message names
_CUT = "--cut LABEL,LABEL makes both binary, from that label of each file on"


def check_scales(truth: LabelFile, other: LabelFile, human: Path, judged: Path) -> str | None:
    """What to beware of where two files may be on two scales; None: nothing.

    Scales of typed files are known. That of other labels is what occurs in the file, so that a
    longer one on the other side may be another scale or the same.

    Raises: InputError where no figure would mean anything: no label in common, or answered or
        not (0, 1) against how well (0 to 5).
    """
    scales = {human: truth.scale, judged: other.scale}
    both = " and ".join(f"{path} has {_named(scale)}" for path, scale in scales.items())
    if not set(truth.scale) & set(other.scale):
        raise InputError(f"{both}: no label in common; {_CUT}")
    if truth.kind == "ratings" and truth.scale != other.scale:
        graded = max(truth.scale, other.scale, key=len)
        if ANSWERED_OR_NOT in scales.values():
            how = f"such as --cut {'1,3' if graded == other.scale else '3,1'}"
            raise InputError(f"{both}: answered or not, and how well; {_CUT}, {how}")
    if set(truth.scale) != set(other.scale):
        return f"{both}: figures are over all of these labels; if they are two scales, {_CUT}"
    for file, path, more, graded_path in (
        (truth, human, other, judged),
        (other, judged, truth, human),
    ):
        used = [label for label in file.scale if label in {*file.cells.values()}]
        if len(used) == 2 and len(file.cells) >= _MANY and len({*more.cells.values()}) > 2:
            what = f"{path} uses {used[0]} and {used[1]} alone, {graded_path} more labels"
            return f"{what}; if it is a scale of two, {_CUT}"
    return None


def _named(scale: Sequence[str]) -> str:
    is_range = len(scale) > 2 and all(label.lstrip("-").isdecimal() for label in scale)
    if is_range:
        return f"{scale[0]} to {scale[-1]}"
    return ", ".join(scale[:_SHOWN]) + ", ..." * (len(scale) > _SHOWN)
