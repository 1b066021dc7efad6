"""The files of an export that auto-judge tools read, made of a results folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
import yaml

from ....programs.config.sections import Config
from ....programs.engine.manifest import read_manifest
from ....records.nuggets import read_nugget_banks, v3_row
from ....records.reading.problems import Problems
from ....records.relevance import read_relevance, write_qrels
from ....records.writing import write_file

BANKS, GRADES, QRELS = "nuggets.jsonl", "relevance.jsonl", "qrels.txt"  # of a results folder


def write_tables(results: Path, out: Path, base: str, config: Config, about: Any) -> list[str]:
    """Write them and return their names; each but the leaderboard only where there is something.

    `BASE.eval.txt` is the leaderboard of the systems (`run topic measure value`), without a ranking
    of candidates, which is none; `BASE.nuggets.jsonl` has the banks (NuggetBank v3) and
    `BASE.qrels.txt` the grades of passages; `BASE.config.yml` and `workflow.yml` say what was done.
    What was not judged has no line.

    Args:
        results: files of a run. base: what the names begin with.
        config: of the run, with its inputs where they are now.
        about: `timestamp` and `versions`, which stand in the config file.
    """
    names = {kind: f"{base}.{kind}" for kind in ("eval.txt", "nuggets.jsonl", "qrels.txt")}
    write_file(out / names["eval.txt"], _leaderboard(results))
    has = {
        "nuggets.jsonl": _write_banks(results, out / names["nuggets.jsonl"], config),
        "qrels.txt": _write_grades(results, out / names["qrels.txt"]),
    }
    flow = {
        "create_nuggets": has["nuggets.jsonl"] and config.data.nuggets is None,
        "create_qrels": has["qrels.txt"],
        "judge": True,
    }
    models = sorted({m.wire_name for m in config.models.values() if m.way != "lexical"})
    settings = {"filebase": base, "programs": list(config.program)}
    header = {"name": base, **flow, "llm_model": ", ".join(models) or "lexical", **about}
    _write_yaml(out / f"{base}.config.yml", {**header, "settings": settings})
    _write_yaml(out / "workflow.yml", {**flow, "settings": settings})
    written = [names[kind] for kind in names if has.get(kind, True)]
    return [*written, f"{base}.config.yml", "workflow.yml"]


def _leaderboard(results: Path) -> bytes:
    """The lines of the runs that answer; where there is none, all."""
    lines = (results / "scores.eval.txt").read_bytes().splitlines(keepends=True)
    runs = {name.encode() for name in read_manifest(results)["data"].get("run_ids", ())}
    return b"".join(line for line in lines if not runs or line.split(b"\t")[0] in runs)


def _write_banks(results: Path, to: Path, config: Config) -> bool:
    """The banks of the run; where it made none, those that it was given."""
    made = results / BANKS
    source = made if made.is_file() and made.stat().st_size else config.data.nuggets
    if source is None or "nuggets" not in config.program:
        return False
    banks = read_nugget_banks(source, Problems())
    rows = (orjson.dumps(v3_row(bank), option=orjson.OPT_APPEND_NEWLINE) for bank in banks.values())
    write_file(to, b"".join(rows))
    return True


def _write_grades(results: Path, to: Path) -> bool:
    """Grades of the relevance judge; else the qrels that coverage derives from ratings."""
    if (results / GRADES).is_file():
        problems = Problems()
        grades: dict[str, dict[str, int]] = {}
        for label in read_relevance(results / GRADES, problems):
            if label.grade is not None:
                grades.setdefault(label.topic_id, {})[label.passage_id] = label.grade
        problems.raise_errors()
        write_qrels(to, grades)
        return bool(grades)
    if (results / QRELS).is_file():
        write_file(to, (results / QRELS).read_bytes())
        return True
    return False


def _write_yaml(path: Path, data: Mapping[str, Any]) -> None:
    write_file(path, yaml.safe_dump(dict(data), sort_keys=False, allow_unicode=True))
