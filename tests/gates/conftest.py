"""Results of eight questions, judged once by each system, which all tests of this folder hold
against each other. Each question has four nuggets; a system states some of them, in their words."""

import pytest

import nuggetjudge as nj

FACTS = ("the moon pulls the sea", "bays funnel water", "kelp bends slowly", "lakes lack tides")
# Nuggets that each system states, by question; V_strict is that number divided by four.
STATED = {
    "main": (4, 3, 2, 4, 1, 2, 3, 4),
    "tuned": (4, 3, 3, 4, 1, 2, 3, 3),
    "broken": (2, 1, 2, 0, 1, 1, 3, 2),
}


def _samples(stated):
    return [
        {
            "id": f"t{n}",
            "question": f"What makes tides, part {n}?",
            "answer": " ".join(f"{fact.capitalize()}." for fact in FACTS[:k]) or "Unclear.",
            "nuggets": list(FACTS),
        }
        for n, k in enumerate(stated)
    ]


@pytest.fixture(scope="session")
def samples():
    """`samples(stated)`: answers that state so many of the facts, by question."""
    return _samples


@pytest.fixture(scope="session")
def stated():
    return STATED


@pytest.fixture(scope="session")
def results(tmp_path_factory):
    """A result by the name of its system."""
    folder = tmp_path_factory.mktemp("gates")
    return {
        name: nj.evaluate(_samples(stated), "nuggets", model="lexical", out=folder / name)
        for name, stated in STATED.items()
    }
