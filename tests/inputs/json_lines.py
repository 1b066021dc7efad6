"""JSON lines that tests write and read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write one object a line; returns the path."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def read_rows(path: Path) -> list[Any]:
    """Every line of a file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
