"""The walk of CONTRIBUTING leads somewhere: each stop is a file and a function that are there."""

import re
from importlib import import_module
from operator import attrgetter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STOP = re.compile(r"^\| (\d+) \| `([\w/]+\.py)` \| `([\w.]+)` \|", re.M)
STOPS = STOP.findall((ROOT / "CONTRIBUTING.md").read_text("utf-8"))


@pytest.mark.parametrize(("file", "name"), [stop[1:] for stop in STOPS])
def test_each_stop_of_the_walk_is_there(file, name):
    module = import_module("nuggetjudge." + file.removesuffix(".py").replace("/", "."))
    assert Path(module.__file__).resolve() == ROOT / file
    found = attrgetter(name)(module)
    assert found.__module__ == module.__name__, f"{name} is only imported there"


def test_a_newcomer_walks_at_most_twelve_stops():
    assert [int(number) for number, *_ in STOPS] == list(range(1, len(STOPS) + 1))
    assert 6 <= len(STOPS) <= 12
