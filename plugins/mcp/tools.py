"""The work of each tool: judge a citation or an answer, evaluate, compare, explain, forecast."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ...backends.budget import Budget
from ...backends.errors import JudgeError
from ...evaluation.result import list_question_scores
from ...evaluation.samples.files import PassageNames, write_samples
from ...evaluation.samples.reading import Sample, make_sample
from ...judges.items import ItemJudge
from ...judges.verdicts import Verdict
from ...programs.analysis.answers.show import show_answer, show_summary
from ...programs.analysis.compare import compare
from ...programs.analysis.leaderboards import Leaderboard, leaderboards
from ...programs.config.base import JudgeName
from ...programs.config.reading import load_config
from ...programs.config.sections import Config
from ...programs.engine.dry_run import estimate_calls
from ...programs.engine.judge_set import JudgeSet
from ...programs.engine.session import Session as Asking
from ...programs.engine.session import run_session
from ...programs.protocols.table import point_units
from ...programs.run import judge_collection
from ...programs.scoring.result import Result
from ...programs.scoring.topic_scores import run_names, topic_scores
from ...records.judgements import Unjudged as Lost
from ...records.kinds import load_kinds
from ...records.reading.problems import InputError, Problems
from .replies import (
    Answer,
    Citation,
    Difference,
    Differences,
    Evaluation,
    Expected,
    Explanation,
    Line,
    Moved,
    Piece,
    Quote,
    Unjudged,
    Value,
)
from .session import Part, Session, amount_text, get_amount, in_thread


def read_quotes(evidence: Iterable[Mapping[str, Any]]) -> list[Quote]:
    """Read the quotes of a row of judgements."""
    return [
        Quote(
            of=each.get("of", ""),
            quoted_words=each["quote"],
            stands_there=True if each.get("start") is not None else each.get("is_quoted"),
        )
        for each in evidence
    ]


def read_judgements(view: Mapping[str, Any], contexts: Sequence[str]) -> list[Piece]:
    """The judgements of one answer.

    Args:
        view: the answer as `judge show --json` prints it.
        contexts: ids of the passages, in the given order.
    """
    number: dict[str | None, int] = {}
    for n, docid in enumerate(contexts, start=1):
        number.setdefault(docid, n)  # a passage given twice gets its first number
    return [
        Piece(
            what=row["unit"],
            quoted_text=row["text"],
            label=row["label"] or None,
            score=row["score"],
            importance=row["importance"],
            sentence=None if row["sentence"] is None else row["sentence"] + 1,
            passage=number.get(row["docid"]),
            quotes=read_quotes(row["evidence"]),
            unjudged=Unjudged(reason=row["unjudged"], quoted_detail=row["detail"])
            if row["unjudged"]
            else None,
        )
        for row in view["judged"]
    ]


def find_missing(pieces: Iterable[Piece]) -> list[Piece]:
    """Nuggets and key points that the answer does not state, or states in part."""
    best = {one.labels[-1] for one in load_kinds().values() if "run_id" in one.key}
    return [p for p in pieces if p.what in point_units() and p.label and p.label not in best]


JUDGE: JudgeName = "support"


async def judge_citation(session: Session, sentence: str, passage: str, title: str) -> Citation:
    """Ask the support judge.

    Raises: InputError for empty texts, OverBudget.
    """
    for name, text in (("sentence", sentence), ("passage", passage)):
        if not text.strip():
            raise InputError(f"{name}: is empty; wanted the text to judge")
    item = {"sentence": sentence, "passage": passage, "title": title}
    config = session.alone((), {}, session.config.run.out)
    estimated = partial(
        estimate_calls,
        config,
        lambda alone, judge_set: _ask_support(alone, item, judge_set=judge_set),
    )
    async with session.spending(await in_thread(estimated)) as part:
        outcome, judge = await in_thread(lambda: _ask_support(config, item, budget=part))
    about = {**dict(await session.get_spending(part)), "model": session.name_model(config)}
    if isinstance(outcome, Lost):
        why = Unjudged(reason=outcome.reason, quoted_detail=outcome.detail)
        return Citation(label=None, weight=None, unjudged=why, n=0, n_unjudged=1, **about)
    return Citation(
        label=outcome.label,
        weight=judge.gains.get(outcome.label),
        score=outcome.score,
        quoted_reason=outcome.rationale or "",
        quotes=read_quotes([each.model_dump() for each in outcome.evidence or ()]),
        n=1,
        n_unjudged=0,
        **about,
    )


def _ask_support(
    config: Config,
    item: dict[str, str],
    *,
    budget: Budget | None = None,
    judge_set: JudgeSet | None = None,
) -> tuple[Verdict | Lost, ItemJudge]:
    async def ask(asking: Asking) -> tuple[Verdict | Lost, ItemJudge]:
        judge: ItemJudge = asking.judge_set[JUDGE]
        wanted = (*judge.inputs, *judge.optional)
        try:
            verdicts, _ = await judge.judge_items(
                [{n: text for n, text in item.items() if n in wanted}]
            )
        except JudgeError as error:
            return Lost(error.reason, error.detail, error.raw), judge
        return verdicts[0], judge

    return run_session(
        config, [JUDGE], ask, retry=False, quiet=True, budget=budget, judge_set=judge_set
    )


RUN = "answer"


async def judge_answer(session: Session, sample: Mapping[str, Any]) -> Answer:
    """Judge an answer with every task whose input it has.

    Args:
        sample: question, answer, contexts, nuggets, key_points, as in `nuggetjudge.evaluate`.

    Raises: InputError for an incomplete sample, OverBudget.
    """
    await session.check_left()
    with TemporaryDirectory(prefix="nuggetjudge-") as folder:
        read, config = await in_thread(lambda: _prepare(session, sample, Path(folder)))
        async with session.spending(await session.estimate_run(config)) as part:
            result = await in_thread(lambda: judge_collection(config, budget=part))
        about = dict(await session.get_spending(part)) | {"model": session.name_model(config)}
        return await in_thread(lambda: _make_answer(result, read, about))


async def forecast_answer(session: Session, sample: Mapping[str, Any]) -> Expected:
    """Estimate the calls of `judge_answer`. Raises: InputError."""
    with TemporaryDirectory(prefix="nuggetjudge-") as folder:
        _, config = await in_thread(lambda: _prepare(session, sample, Path(folder)))
        return await session.forecast(
            session.name_model(config), await session.estimate_run(config)
        )


def _prepare(session: Session, given: Mapping[str, Any], folder: Path) -> tuple[Sample, Config]:
    sample = make_sample(given, 0)
    for name in ("question", "answer"):
        if not getattr(sample, name).strip():
            raise InputError(f"{name}: is empty; wanted its text")
    programs = ["nuggets"] if sample.nuggets or sample.contexts else []
    programs += ["support"] if sample.contexts else []
    programs += ["keypoints"] if sample.key_points else []
    if not programs:
        raise InputError("cannot judge the answer: give contexts, nuggets or key_points")
    data = write_samples({RUN: [sample]}, folder / "samples")
    return sample, session.alone(programs, data, folder / "out")


def _make_answer(result: Result, sample: Sample, about: Mapping[str, Any]) -> Answer:
    view = show_answer(result.folder, RUN, sample.topic_id, Problems()).data
    names = PassageNames()
    pieces = read_judgements(view, [names.name(context)[0] for context in sample.contexts])
    scores = [Value(**_value(row)) for row in list_question_scores(result)]
    lost = Counter(str(row["reason"]) for row in result.unjudged)
    return Answer(
        scores=scores,
        unjudged_by_reason=lost,
        pieces=pieces,
        missing=find_missing(pieces),
        **about,
    )


def _value(row: Any) -> dict[str, Any]:
    names: Sequence[str] = tuple(Value.model_fields)
    return {name: getattr(row, name) for name in names}


LINES = 100  # lines of a leaderboard in one reply
LOOK_S = 0.5  # between two progress reports

Tell = Callable[[float, str], Awaitable[None]]


async def evaluate(session: Session, config: str, name: str | None, tell: Tell) -> Evaluation:
    """Judge the data of a config; the same call continues one that was stopped.

    Args:
        config: a file in the folder. name: the name of the results; None: the one in the config.
        tell: called every few seconds with the number of judgements so far.

    Raises: InputError for a wrong config, or one that names files outside the folder; OverBudget.
    """
    import anyio

    ready, notes = _ready(session, config, name)
    async with session.spending(await session.estimate_run(ready)) as part:
        async with anyio.create_task_group() as group:
            group.start_soon(_report_progress, ready.run.out, part, tell)
            result, error = await _outcome(ready, part)
            group.cancel_scope.cancel()
        if result is None:
            raise error or InputError("stopped")
    return _make_evaluation(session, result, ready, notes, dict(await session.get_spending(part)))


async def forecast_evaluation(session: Session, config: str) -> Expected:
    """Estimate the calls of `evaluate`. Raises: InputError."""
    ready, _ = _ready(session, config, None)
    return await session.forecast(session.name_model(ready), await session.estimate_run(ready))


async def _outcome(config: Config, part: Part) -> tuple[Result | None, Exception | None]:
    """Return the result or the error, since a task group would wrap a raised error."""
    try:
        return await in_thread(lambda: judge_collection(config, budget=part)), None
    except InputError as error:
        what, is_taken, _ = str(error).partition("; name another --out")  # of a command line
        return None, InputError(f"{what}; give another name") if is_taken else error
    except Exception as error:
        return None, error


def _ready(session: Session, config: str, name: str | None) -> tuple[Config, list[str]]:
    """Check a config with the session's models; return it with notes on unused settings."""
    path = session.folder.config_file(config)
    out = session.folder.out(name or path.stem)
    own = load_models(path)
    ready = load_config(path, session.settings(out))
    if ready.has_pipelines:
        what = (
            "has a retrieval step, which the budget does not limit; retrieve first, and give the "
            "files under data:"
        )
        raise InputError(f"config {config}: {what}")
    session.folder.check(ready, f"config {config}")
    others = sorted(own - {model.model for model in session.config.models.values()})
    notes = [f"models: in {config} ({', '.join(others)}) was not used"] if others else []
    return ready, notes


def load_models(path: Path) -> set[str]:
    """The models that a config names."""
    from ...records.reading.settings import NotYaml, read_yaml

    try:
        data = read_yaml(path.read_text(encoding="utf-8"))[0]
    except (NotYaml, OSError, UnicodeDecodeError):
        return set()  # load_config reports the error
    entries = data.get("models") if isinstance(data, dict) else None
    named = entries.values() if isinstance(entries, dict) else ()
    return {str(each.get("model")) for each in named if isinstance(each, dict)}


async def _report_progress(out: Path, part: Part, tell: Tell) -> None:
    import anyio

    done = -1
    while True:
        if (n := _n_judged(out)) > done:
            done = n
            await tell(n, f"{n:,} judgements, {amount_text(get_amount(part))}")
        await anyio.sleep(LOOK_S)


def _n_judged(out: Path) -> int:
    """Count the lines of the journals."""
    return sum(path.read_bytes().count(b"\n") for path in (out / "journal").glob("*-*.jsonl"))


def _make_evaluation(
    session: Session, result: Result, config: Config, notes: list[str], about: dict[str, object]
) -> Evaluation:
    manifest = result.manifest
    lines = [line for board in leaderboards(result.scores, result.folder) for line in _lines(board)]
    return Evaluation.model_validate(
        {
            **about,
            "results": session.folder.name_path(result.folder),
            "is_complete": result.is_complete,
            "limit_reached": manifest["limit_reached"],
            "n_judged": result.n_judged,
            "n_unjudged": result.n_unjudged,
            "unjudged_by_reason": manifest["unjudged_by_reason"],
            "leaderboard": lines[:LINES],
            "n_lines": len(lines),
            "model": session.name_model(config),
            "notes": notes,
        }
    )


def _lines(board: Leaderboard) -> list[Line]:
    first = board.measures[0]
    lines = []
    for line in board.lines:
        if (row := line.means.get(first)) is None:
            continue
        low, high = line.intervals.get(first, (None, None))
        lines.append(
            Line(
                run=line.run_id,
                measure=first,
                value=line.value(first),
                n=row.n or 0,
                n_unjudged=row.n_unjudged or 0,
                low=row.low,
                high=row.high,
                interval_low=low,
                interval_high=high,
                is_different_from_next=line.is_different_from_next,
            )
        )
    return lines


MOVED = 5  # topics shown for each measure
LENGTH = 6000  # characters of an explanation in one reply


def compare_runs(
    session: Session,
    results: str,
    run: str,
    other_run: str,
    other_results: str | None,
    measures: list[str] | None,
) -> Differences:
    """Test two runs against each other by topic.

    Args:
        results: the folder of both runs, or of the first with `other_results`.
        other_results: the folder of the second run.

    Raises: InputError for missing results, runs or measures.
    """
    one = session.folder.results(results)
    other = None if other_results is None else session.folder.results(other_results)
    names = [run, other_run]
    if other is not None:  # both folders may have a run of that name
        paths = [one, other]
        shown_names = run_names(paths, [topic_scores(path, Problems()) for path in paths])
        names = [of.get(name, name) for name, of in zip(names, shown_names, strict=True)]
    comparison = compare(one, other, Problems(), way="runs", runs=names, measures=measures or [])
    differences = [_difference(name, of) for name, of in comparison["measures"].items()]
    return Differences(
        run=names[0], other_run=names[1], level=comparison["level"], differences=differences
    )


def explain_score(
    session: Session, results: str, run: str | None, topic: str | None, offset: int
) -> Explanation:
    """Part of what `judge show` prints about an answer, a run, a topic or all results.

    Raises: InputError for missing results, a missing run or topic, or an offset past the end.
    """
    folder, problems = session.folder.results(results), Problems()
    if run is not None and topic is not None:
        shown = show_answer(folder, run, topic, problems)
    else:
        shown = show_summary(folder, run, topic, problems, named=Path(results))
    text = shown.text
    if offset and offset >= len(text):
        raise InputError(f"offset {offset}: the text has {len(text)} characters")
    end = min(offset + LENGTH, len(text))
    return Explanation(
        quoted_text=text[offset:end],
        offset=offset,
        next_offset=end if end < len(text) else None,
        n_characters=len(text),
    )


def _difference(name: str, tested: dict[str, Any]) -> Difference:
    (pair,), (one, other), topics = tested["pairs"], tested["runs"], tested["topics"]
    moved = [row for row in topics if row["difference"]]
    return Difference(
        measure=name,
        mean=one["mean"],
        other_mean=other["mean"],
        **{n: pair[n] for n in ("difference", "low", "high", "p", "is_significant")},
        **{n: pair[n] for n in ("wins", "ties", "losses", "n_topics")},
        n_not_judged=sum(row["difference"] is None for row in topics),
        moved=[
            Moved(
                topic=row["topic_id"],
                value=row["value"],
                other_value=row["other_value"],
                difference=row["difference"],
            )
            for row in moved[:MOVED]
        ],
    )
