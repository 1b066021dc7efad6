"""What each measure says, in one sentence: for whoever reads scores without the documentation."""

from __future__ import annotations

from ...metrics.answer_scores import SUFFIX
from .measure_values import Meaning
from .measure_values import is_of_answered as _is_of_answered
from .table import programs


def is_of_answered(measure: str) -> bool:
    """Whether a run that did not answer a topic has no value there, and not 0."""
    programs()  # which say so of their measures
    return _is_of_answered(measure)


def meaning(measure: str) -> Meaning:
    """What a measure says; of one that no program explains, what its name says."""
    name, _, cut = measure.partition("@")
    for one in programs():
        if written := one.meanings.get(name):
            about = Meaning(written) if isinstance(written, str) else written
            return about._replace(text=f"{about.text[:-1]}, of the first {cut}.") if cut else about
    if name.endswith(SUFFIX):
        about = meaning(name.removesuffix(SUFFIX))
        text = f"{about.text[:-1]}, by the judge's probabilities."
        return about._replace(text=text, says="")
    if name.startswith("share_"):
        label = name.removeprefix("share_")
        return Meaning(f"Share of the items that are labelled {label}.", False, False)
    return Meaning("What the items earn by their labels, on average.")
