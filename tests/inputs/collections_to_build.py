"""Summaries, seed questions and documents that collections are built from, as files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from json_lines import write_rows


def write_summaries(path: Path, summaries: Mapping[str, tuple[str, list[str]]]) -> Path:
    """A file of summaries: id -> (summary, documents)."""
    rows = [{"id": i, "documents": docs, "summary": text} for i, (text, docs) in summaries.items()]
    return write_rows(path, rows)


def write_seeds(path: Path, questions: Mapping[str, str]) -> Path:
    """Seed questions by id; the domain is the first letter, the category is `why`."""
    rows = [
        {"id": name, "text": text, "domain": name[0], "category": "why"}
        for name, text in questions.items()
    ]
    return write_rows(path, rows)


def write_documents(path: Path, documents: Mapping[str, list[str]]) -> Path:
    """Documents `<topic>.1`, `<topic>.2` ... by topic."""
    rows = [
        {"topic_id": name, "docid": f"{name}.{number}", "text": text}
        for name, texts in documents.items()
        for number, text in enumerate(texts, 1)
    ]
    return write_rows(path, rows)
