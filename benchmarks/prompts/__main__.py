"""Every judge's prompt on a small real model, and what another version of the prompts changes.

`python -m benchmarks.prompts measure DATA OUT.json` asks (in the environment of `make test-local`);
`python -m benchmarks.prompts compare BEFORE.json AFTER.json` prints a table of two measurements.
`python -m benchmarks.prompts probabilities DATA` prints the agreement of labels with people, and
the AUC of their probabilities.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nuggetjudge
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.views.printing import Format, print_view

from .cases import read_cases
from .comparing import make_comparison_view, make_ranking_view
from .local_model import CONTEXT, SLOTS, has_local_model, serve_local_model
from .measuring import measure_case

REPLY_TOKENS = 300
# Of each token. The server lists them before the grammar's mask, where 20 often lack a label.
ALTERNATIVES = 100


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure or compare. Returns: the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.prompts",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    measure = commands.add_parser("measure", help="ask every judge, write OUT")
    measure.add_argument("data", type=Path, help="the folder that holds the folders of judged data")
    measure.add_argument("out", type=Path)
    measure.add_argument("--minutes", type=float, default=35, help="no other judge begins then")
    measure.add_argument("--only", metavar="A,B", help="these judges")
    compare = commands.add_parser("compare", help="print what changed")
    compare.add_argument("before", type=Path)
    compare.add_argument("after", type=Path)
    compare.add_argument("--format", type=Format, default=Format.TABLE, choices=list(Format))
    ranked = commands.add_parser("probabilities", help="agreement of labels and of probabilities")
    ranked.add_argument("data", type=Path, help="the folder that holds the folders of judged data")
    ranked.add_argument("--only", metavar="A,B", default="support,answerability")
    ranked.add_argument("--format", type=Format, default=Format.TABLE, choices=list(Format))
    options = parser.parse_args(arguments)
    if options.command == "compare":
        both = [json.loads(path.read_bytes()) for path in (options.before, options.after)]
        print_view(make_comparison_view(*both), options.format)
        return 0
    if not has_local_model():
        sys.stderr.write("wanted the environment of `make test-local`: .venv-local/bin/python\n")
        return 2
    return _measure(options) if options.command == "measure" else _rank(options)


def _measure(options: argparse.Namespace) -> int:
    cases, skipped = read_cases(options.data)
    if options.only:
        cases = [case for case in cases if case.name in options.only.split(",")]
    rows: dict[str, Any] = {}
    if options.only and options.out.exists():  # the others stay as they were measured
        rows = json.loads(options.out.read_bytes())["judges"]
    until = time.monotonic() + 60 * options.minutes
    with TemporaryDirectory() as folder, serve_local_model(Path(folder, "server.log")) as url:
        entry = _make_entry(url, logprobs=True)
        for case in cases:
            if time.monotonic() > until:
                skipped[case.name] = f"{options.minutes:g} minutes were over"
                continue
            rows[case.name], _ = measure_case(case, entry, SLOTS)
            unreadable = sum(rows[case.name]["unreadable"].values())
            seconds = rows[case.name]["seconds"]
            sys.stderr.write(f"{case.name}: unreadable {unreadable:.3f}, {seconds:.0f} s\n")
            settings = entry.model_dump(exclude={"api_base"}, mode="json", exclude_defaults=True)
            found = {
                "nuggetjudge": nuggetjudge.__version__,
                "model": settings,
                "judges": rows,
                "skipped": skipped,
            }
            options.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


def _rank(options: argparse.Namespace) -> int:
    cases, skipped = read_cases(options.data)
    names = options.only.split(",")
    rows = {}
    with TemporaryDirectory() as folder, serve_local_model(Path(folder, "server.log")) as url:
        entry = _make_entry(url, logprobs=ALTERNATIVES)
        for case in cases:
            if case.name in names:
                rows[case.name], _ = measure_case(case, entry, SLOTS)
    for name in names:
        if name not in rows:
            sys.stderr.write(f"{name}: {skipped.get(name, 'no such judge')}\n")
    print_view(make_ranking_view(rows), options.format)
    return 0 if rows else 2


def _make_entry(url: str, logprobs: bool | int) -> ModelConfig:
    return ModelConfig.model_validate(
        {
            "model": "hosted_vllm/smollm2",
            "api_base": url,
            "context_length": CONTEXT,
            "max_tokens": REPLY_TOKENS,
            "seed": 0,
            "reasks": 0,
            "retries": 0,
            "concurrency": SLOTS,
            "price": {"input": 0, "output": 0},
            "logprobs": logprobs,
            "timeout_s": 600,
            "deadline_s": 1200,
            "endpoint": "local",
        }
    )


if __name__ == "__main__":
    sys.exit(main())
