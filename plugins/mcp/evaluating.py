"""`evaluate`: a config of the folder, judged as `judge run` does, into the folder's results."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from ...programs.analysis.leaderboards import Leaderboard, leaderboards
from ...programs.config.reading import load_config
from ...programs.config.sections import Config
from ...programs.pipelines.closed_loop import is_closed_loop
from ...programs.run import judge_collection
from ...programs.scoring.result import Result
from ...records.reading.problems import InputError
from .budget import Part, amount_of, amount_text
from .replies import Evaluation, Expected, Line
from .session import Session, in_thread

LINES = 100  # of a leaderboard, in one reply
LOOK_S = 0.5  # between two notes of progress

Tell = Callable[[float, str], Awaitable[None]]


async def evaluate(session: Session, config: str, name: str | None, tell: Tell) -> Evaluation:
    """Judge what a config names; the same call goes on where one was stopped.

    Args:
        config: a file of the folder. name: of its results; None: that of the config.
        tell: called now and then with how many judgements there are.

    Raises: InputError for what the config gets wrong, or names outside; OverBudget.
    """
    import anyio

    ready, notes = _ready(session, config, name)
    async with session.spending(await session.expected(ready)) as part:
        async with anyio.create_task_group() as group:
            group.start_soon(_report_progress, ready.run.out, part, tell)
            result, error = await _outcome(ready, part)
            group.cancel_scope.cancel()
        if result is None:
            raise error or InputError("stopped")
    return _evaluation_of(session, result, ready, notes, dict(await session.spent(part)))


async def forecast_evaluation(session: Session, config: str) -> Expected:
    """What `evaluate` would ask. Raises: InputError."""
    ready, _ = _ready(session, config, None)
    return await session.forecast(session.model_of(ready), await session.expected(ready))


async def _outcome(config: Config, part: Part) -> tuple[Result | None, Exception | None]:
    """A result, or what was wrong: a task group would wrap what is raised in it."""
    try:
        return await in_thread(lambda: judge_collection(config, budget=part)), None
    except InputError as error:
        what, is_taken, _ = str(error).partition("; name another --out")  # of a command line
        return None, InputError(f"{what}; give another name") if is_taken else error
    except Exception as error:
        return None, error


def _ready(session: Session, config: str, name: str | None) -> tuple[Config, list[str]]:
    """The config by the session's models, checked, and what of it does not hold here."""
    path = session.folder.config_file(config)
    out = session.folder.out(name or path.stem)
    own = load_models(path)
    ready = load_config(path, session.settings(out))
    if is_closed_loop(ready):
        what = "retrieves by itself, which is not limited here; judge what it found by data:"
        raise InputError(f"config {config}: {what}")
    session.folder.check(ready, f"config {config}")
    others = sorted(own - {model.model for model in session.config.models.values()})
    notes = [f"models: of {config} ({', '.join(others)}) was not used"] if others else []
    return ready, notes


def load_models(path: Path) -> set[str]:
    """The models that a config names by itself."""
    from ...records.reading.settings import NotYaml, read_yaml

    try:
        data = read_yaml(path.read_text(encoding="utf-8"))[0]
    except (NotYaml, OSError, UnicodeDecodeError):
        return set()  # load_config reports it
    entries = data.get("models") if isinstance(data, dict) else None
    named = entries.values() if isinstance(entries, dict) else ()
    return {str(each.get("model")) for each in named if isinstance(each, dict)}


async def _report_progress(out: Path, part: Part, tell: Tell) -> None:
    import anyio

    done = -1
    while True:
        if (n := _n_judged(out)) > done:
            done = n
            await tell(n, f"{n:,} judgements, {amount_text(amount_of(part))}")
        await anyio.sleep(LOOK_S)


def _n_judged(out: Path) -> int:
    """Lines of the journals."""
    return sum(path.read_bytes().count(b"\n") for path in (out / "journal").glob("*-*.jsonl"))


def _evaluation_of(
    session: Session, result: Result, config: Config, notes: list[str], about: dict[str, object]
) -> Evaluation:
    manifest = result.manifest
    lines = [line for board in leaderboards(result.scores, result.folder) for line in _lines(board)]
    return Evaluation.model_validate(
        {
            **about,
            "results": session.folder.named(result.folder),
            "is_complete": result.is_complete,
            "limit_reached": manifest["limit_reached"],
            "n_judged": result.n_judged,
            "n_unjudged": result.n_unjudged,
            "unjudged_by_reason": manifest["unjudged_by_reason"],
            "leaderboard": lines[:LINES],
            "n_lines": len(lines),
            "model": session.model_of(config),
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
                told_from_next=line.is_told_apart,
            )
        )
    return lines
