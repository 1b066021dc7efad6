"""What each measure says, in one sentence: for whoever reads scores without the documentation."""

from __future__ import annotations

from ...metrics.expected import SUFFIX
from .program import Meaning
from .table import programs


def meaning(measure: str) -> Meaning:
    """What a measure says; of one that no program explains, what its name says."""
    name, _, cut = measure.partition("@")
    for one in programs():
        if written := one.meanings.get(name):
            about = Meaning(written) if isinstance(written, str) else written
            return about._replace(text=f"{about.text[:-1]}, of the first {cut}.") if cut else about
    if name.endswith(SUFFIX):
        about = meaning(name.removesuffix(SUFFIX))
        return about._replace(text=f"{about.text[:-1]}, by the judge's probabilities.")
    if name.startswith("share_"):
        label = name.removeprefix("share_")
        return Meaning(f"Share of the items that are labelled {label}.", False, False)
    return Meaning("What the items earn by their labels, on average.")
