"""`judge run`: evaluate runs end to end."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from .conditions import fields_of
from .exits import GATE_FAILED, INCOMPLETE
from .options import DryRun, MaxCalls, MaxCost, MaxTokens, Offline, Quiet, config_with, run_flags
from .stopping import unless_stopped
from .terminal import cell, shown

PROGRAMS = ("relevance", "nuggets", "support", "coverage", "keypoints", "items")
REASON_CHARS = 300  # of the detail of a judgement that did not arrive, on stderr
File = Path | None


def run(
    what: Annotated[
        str,
        typer.Argument(
            help="A config file, or programs: nuggets, support, coverage, keypoints, relevance."
        ),
    ],
    topics: Annotated[File, typer.Option(help="Topics, TSV or JSONL.")] = None,
    runs: Annotated[
        list[str] | None, typer.Option(help="Run file, folder or pattern; may be repeated.")
    ] = None,
    passages: Annotated[
        list[Path] | None, typer.Option(help="Passage texts, JSONL; may be repeated.")
    ] = None,
    candidates: Annotated[
        File, typer.Option(help="Ranked passages a topic, to make nuggets from or to grade.")
    ] = None,
    qrels: Annotated[File, typer.Option(help="Relevance grades of the candidates.")] = None,
    nuggets: Annotated[File, typer.Option(help="A nugget bank, instead of making one.")] = None,
    questions: Annotated[
        File, typer.Option(help="Sub-questions of the topics, instead of making them.")
    ] = None,
    reference: Annotated[
        File, typer.Option(help="Reference reports, to make sub-questions from and to rate.")
    ] = None,
    retrieval: Annotated[
        list[str] | None,
        typer.Option(help="Retrieval run (TREC), folder or pattern; may be repeated."),
    ] = None,
    ratings: Annotated[
        list[Path] | None, typer.Option(help="Ratings that need not be asked; may be repeated.")
    ] = None,
    pool: Annotated[
        File, typer.Option(help="Passage qrels: which passages say what is answerable.")
    ] = None,
    keypoints: Annotated[
        File, typer.Option(help="Key points of the topics, instead of making them.")
    ] = None,
    documents: Annotated[
        File, typer.Option(help="Documents by topic, to make key points from.")
    ] = None,
    k: Annotated[
        str | None, typer.Option("--k", help="Passages of a context, or required for |Z*|.")
    ] = None,
    paper_zero: Annotated[
        bool, typer.Option("--paper-zero", help="Count unreadable ratings as 0, as the paper does.")
    ] = False,
    items: Annotated[
        File, typer.Option(help="Items to label: ids and texts, JSONL or CSV.")
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(help="Who labels items: a YAML file, or support, assigner, relevance, ..."),
    ] = None,
    field: Annotated[
        list[str] | None,
        typer.Option(help="INPUT=NAME where items name an input or id otherwise; may be repeated."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="lexical, openai/NAME, hosted_vllm/NAME, a LiteLLM name, "
            "or a name under models: in the config."
        ),
    ] = None,
    out: Annotated[File, typer.Option(help="Results folder.")] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="NAME=VALUE for any setting, "
            "e.g. models.default.api_base=http://127.0.0.1:8000/v1.",
        ),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Judge the first topics only.")] = None,
    max_cost: MaxCost = None,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    allow_missing: Annotated[
        str | None, typer.Option(help="Share of unjudged that is still complete, e.g. 2%.")
    ] = None,
    offline: Offline = False,
    executor: Annotated[
        str | None,
        typer.Option(help="Who asks: local, ray (workers on a cluster), batch (of a provider)."),
    ] = None,
    address: Annotated[
        str | None, typer.Option(help="Of the Ray cluster: local (started here), auto, HOST:PORT.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Ray workers; else one for each CPU.")
    ] = None,
    dry_run: DryRun = False,
    gpus: Annotated[
        int | None, typer.Option(min=1, help="With --dry-run: hours if so many share the work.")
    ] = None,
    tokens_per_s: Annotated[
        str | None,
        typer.Option(
            metavar="IN,OUT", help="With --dry-run: what one GPU was measured to read and write."
        ),
    ] = None,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(help="MEASURE=VALUE that each run's mean must reach, else exit 1."),
    ] = None,
    quiet: Quiet = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Score rows, one JSON object a line.")
    ] = False,
) -> None:
    """Judge runs and print a leaderboard. Started again, it goes on where it was.

    Example: judge run nuggets,support --topics topics.tsv --candidates candidates.jsonl
    --qrels qrels.txt --passages passages.jsonl --runs runs/ --model lexical --out results

    Exit: 0 complete, 1 a gate failed, 2 usage or input, 3 some not judged, 130 interrupted,
    143 terminated, 70 an error of this program.
    """
    from ..programs.engine.estimates import with_speed
    from ..programs.run import judge_collection, plan

    gates = [_gate(text) for text in fail_under or ()]
    flags: dict[str, Any] = {
        "data.topics": topics,
        "data.runs": runs,
        "data.passages": passages,
        "data.candidates": candidates,
        "data.qrels": qrels,
        "data.nuggets": nuggets,
        "data.items": items,
        "data.questions": questions,
        "data.reference": reference,
        "data.retrieval": retrieval,
        "data.ratings": ratings,
        "data.pool": pool,
        "data.keypoints": keypoints,
        "data.documents": documents,
        "coverage.k": int(k) if k is not None and k.isdecimal() and len(k) < 10 else k,
        "coverage.paper_zero": paper_zero or None,
        "items.judge": judge,
        "items.fields": fields_of(field) if field else None,
        "run.allow_missing": None if allow_missing is None else _share(allow_missing),
        **run_flags(
            out=out,
            limit=limit,
            max_cost=max_cost,
            max_calls=max_calls,
            max_tokens=max_tokens,
            offline=offline,
        ),
        "run.executor": executor,
        "run.address": address,
        "run.workers": workers,
    }
    config = resolve(what, flags, sets, model)
    if dry_run:
        if tokens_per_s is not None:
            config = with_speed(config, _speed(tokens_per_s))
        _print_plan(plan(config), as_json, gpus)
        _note_uncounted(config)
        return
    if _is_lexical(config):
        sys.stderr.write("No model named: the lexical judge answers (word overlap, no LLM).\n")
    result = unless_stopped(
        lambda: judge_collection(config, quiet=quiet), "What was judged is kept", config.run.out
    )

    from .tables import leaderboard, write_rows

    if as_json:
        write_rows(result.scores)
    else:
        sys.stdout.write(leaderboard(result.scores))
    sys.stderr.write(shown(_summary(result)))
    if not result.is_complete:
        raise typer.Exit(INCOMPLETE)
    if failed := [line for gate in gates for line in _failures(result.scores, *gate)]:
        sys.stderr.write(shown("".join(failed)))
        raise typer.Exit(GATE_FAILED)


def resolve(what: str, flags: dict[str, Any], sets: list[str] | None, model: str | None) -> Any:
    """The config that the arguments describe. Raises: InputError."""
    from ..records.reading.problems import InputError

    path = Path(what)
    is_file = path.suffix in (".yaml", ".yml") or path.is_file()
    if not is_file:
        names = what.split(",")
        if unknown := [name for name in names if name not in PROGRAMS]:
            known = ", ".join(PROGRAMS)
            raise InputError(f"{unknown[0]!r} is neither a config file nor one of {known}")
        flags["program"] = names
    return config_with(path if is_file else None, flags, sets, model)


class RunCommand(TyperCommand):
    """`judge run`, with a hint where a shell has made many files of one pattern."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """See click. Raises: its usage error."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            text = str(getattr(error, "message", ""))
            if "unexpected extra argument" in text:
                hint = "Quote patterns (--runs 'runs/*') or repeat --runs for each file."
                error.message = f"{shown(text)}. {hint}"  # type: ignore[attr-defined]
            raise


def _gate(text: str) -> tuple[str, float]:
    from ..records.reading.problems import InputError

    measure, _, value = text.partition("=")
    try:
        least = float(value)
        if not measure or not math.isfinite(least):
            raise ValueError
        return measure, least
    except ValueError:
        raise InputError(f"--fail-under {text}: wanted MEASURE=VALUE, e.g. V_strict=0.4") from None


def _share(text: str) -> float:
    from ..records.reading.problems import InputError

    try:
        return float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        raise InputError(f"--allow-missing {text}: wanted a share such as 2% or 0.02") from None


def _failures(rows: Any, measure: str, least: float) -> list[str]:
    from ..programs.inputs.coverage import ORACLES

    means = [row for row in rows if row.topic_id == "all" and row.measure == measure]
    means = [row for row in means if row.run_id not in ORACLES]
    if not means:
        return [f"gate {measure}>={least:g}: no such measure in the results\n"]
    return [
        f"gate {measure}>={least:g}: {row.run_id} has {row.value}\n"
        for row in means
        if row.value is None or row.value < least
    ]


def _is_lexical(config: Any) -> bool:
    return "default" not in config.models and not config.judges


def _speed(text: str) -> Any:
    from ..backends.config import Speed
    from ..records.reading.problems import InputError

    try:
        prompt, reply = map(float, text.split(","))
        return Speed(prompt=prompt, reply=reply)
    except ValueError:
        what = "wanted two numbers above 0, e.g. 20000,2500"
        raise InputError(f"--tokens-per-s {text}: {what}") from None


def _note_uncounted(config: Any) -> None:
    if config.retrieve or config.pipelines:
        from ..programs.pipelines.retrieve import NOT_COUNTED, asks_by_itself

        if asks_by_itself(config):
            sys.stderr.write(NOT_COUNTED)


def _print_plan(estimates: Any, as_json: bool, gpus: int | None) -> None:
    from .tables import plan_table, write_objects

    if as_json:
        write_objects(vars(estimate) for estimate in estimates)
    else:
        sys.stdout.write(plan_table(estimates, gpus))


def _summary(result: Any) -> str:
    from .tables import spent_line

    manifest = result.manifest
    lines = [f"{result.n_judged:,} judged, {result.n_unjudged:,} unjudged"]
    if reasons := manifest["unjudged_by_reason"]:
        lines[0] += " (" + ", ".join(f"{name} {n:,}" for name, n in reasons.items()) + ")"
    left_out = {**manifest["counts"], **manifest["problems"]}
    lines += [f"  {n:>7,} {what}" for what, n in left_out.items()]
    spent = manifest["this_time"]
    lines.append(f"{spent_line(spent)}, {spent['seconds']:.1f} s")
    if manifest["limit_reached"]:
        lines.append(f"Stopped at {manifest['limit_reached']}: the results are partial.")
    if result.n_unjudged:
        if not result.n_judged and (first := _first_reason(result.folder)):
            lines.append(f"First of them: {first}")
        more = "the same command asks again for what can be asked"
        lines.append(f"Unjudged ones are in {result.folder}/unjudged.jsonl; {more}.")
    lines.append(f"Results: {result.folder}")
    return "\n".join(lines) + "\n"


def _first_reason(folder: Path) -> str:
    """Why the first judgement that was asked for did not arrive; "" if none was."""
    from ..records.reading.lines import json_lines
    from ..records.reading.problems import Problems

    for _, row in json_lines(folder / "unjudged.jsonl", Problems()):
        if row["reason"] not in ("no_passage", "budget"):
            detail = " ".join(row["detail"].split())
            return cell(f"{row['reason']}: {detail[:REASON_CHARS]}")
    return ""
