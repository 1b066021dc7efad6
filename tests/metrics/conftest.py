"""Reading the real judged data with nothing but json, so that these tests stand on their own."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def rows(shared_data: Path) -> Callable[[str], list[dict[str, Any]]]:
    """Reader of one JSONL file of the shared data; skips where that file is absent."""

    def read(name: str) -> list[dict[str, Any]]:
        path = shared_data / name
        if not path.is_file():
            pytest.skip(f"{path} is absent")
        with path.open(encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]

    return read


@pytest.fixture(scope="session")
def qrels(shared_data: Path) -> Callable[[str], dict[tuple[str, str], str]]:
    """Reader of TREC qrels: (topic, passage) -> grade as text."""

    def read(name: str) -> dict[tuple[str, str], str]:
        path = shared_data / name
        if not path.is_file():
            pytest.skip(f"{path} is absent")
        fields = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
        return {(topic, passage): grade for topic, _, passage, grade in fields}

    return read
