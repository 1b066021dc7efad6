"""The demo, judged without a model, and a folder to label it in."""

import shutil
from pathlib import Path

import pytest

import nuggetjudge as nj

COLLECTION = Path(__file__).resolve().parents[4] / "tests" / "collection"


@pytest.fixture(scope="session")
def judged(tmp_path_factory):
    """Results of nuggets and support, from inputs of their own."""
    home = tmp_path_factory.mktemp("judged")
    shutil.copytree(COLLECTION, home / "in")
    nj.run(home / "in" / "judge.yaml", nuggets=home / "in" / "nuggets.jsonl", out=home / "demo")
    return home / "demo"


@pytest.fixture
def labels(tmp_path):
    return tmp_path / "labels"
