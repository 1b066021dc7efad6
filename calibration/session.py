"""`nuggetjudge.calibrate`: labels and a config in, a judge file and a report out."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..backends.gateway import Backend
from ..backends.loop import run_sync
from ..judges import ItemJudge, JudgeFile, Verified
from ..judges.fitted.files import FORMAT
from ..judges.makers.lists import ListMaker
from ..judges.table import item_judges, list_makers
from ..programs.config.reading import dotted, load_config
from ..programs.config.sections import Config, ItemsConfig
from ..programs.engine.estimates import Estimate
from ..programs.engine.panel import Panel, budget_of, check_prices, open_cache
from ..programs.engine.rehearsal import rehearse
from ..programs.engine.writing import check_writable
from ..records.reading.problems import InputError, Problems
from ..records.writing.files import rename, write_file, writing
from .examples import Examples, read_examples
from .fitting import Calibration, fitted_and_tested
from .lists.examples import ListExamples, read_list_examples
from .lists.fitting import lists_fitted_and_tested
from .lists.matching import LEXICAL, Matcher
from .lists.plan import make_what_it_makes
from .plan import SEARCH, ask_what_it_asks, scaled
from .settings import PROMPT_METHODS, Settings

_SETTINGS = {field.name for field in dataclasses.fields(Settings)} - {"method"}


def calibrate(
    labels: str | Path,
    judge: str,
    method: str,
    *,
    config: str | Path | None = None,
    model: str | dict[str, Any] | None = None,
    out: str | Path | None = None,
    prompt_model: str | None = None,
    fields: Mapping[str, str] | None = None,
    where: Mapping[str, Sequence[str]] | None = None,
    scale: Mapping[str, str] | None = None,
    limit: int | None = None,
    **settings: Any,
) -> Calibration:
    """Fit a judge to human labels on some topics, and measure on others whether it helped.

    Args:
        labels, judge, out, prompt_model, fields, where, scale, limit: see `calibrate_file`.
        method: threshold, topic, platt, ordinal, isotonic; few-shot, bootstrap, mipro, simba, gepa.
        config, model: as in `nuggetjudge.run`.
        settings: those of `Settings` (objective, folds, seed, ...), and the names of `data:` and
            `run:` as in `nuggetjudge.run` (topics, passages, max_calls, ...).

    Returns: the judge file, also written to `out`, and the report, ready for JSON.
    Raises: InputError for bad labels or settings; EndpointUnusable; JudgeError (budget) where a
        prompt method could try no new prompt.
    """
    own = {name: settings.pop(name) for name in _SETTINGS & settings.keys()}
    if isinstance(model, dict):  # a whole entry, instead of the name of one or of a model
        settings["models.default"], model = model, None
    resolved = load_config(Path(config) if config else None, dotted(settings), model=model)
    own.setdefault("concurrency", resolved.run.concurrency)
    return calibrate_file(
        Path(labels),
        judge,
        resolved,
        Settings(method=method, **own),
        out=Path(out) if out is not None else None,
        prompt_model=prompt_model,
        fields=fields,
        where=where,
        scale=scale,
        limit=limit,
    )


def calibrate_file(
    labels: Path,
    judge: str,
    config: Config,
    settings: Settings,
    *,
    out: Path | None = None,
    prompt_model: str | None = None,
    fields: Mapping[str, str] | None = None,
    where: Mapping[str, Sequence[str]] | None = None,
    scale: Mapping[str, str] | None = None,
    limit: int | None = None,
    problems: Problems | None = None,
) -> Calibration:
    """Fit a judge to the labels of a file.

    Args:
        labels: see `examples.read_examples`, as are fields, where and scale.
        judge: assigner, support, relevance, answerability, entailment, importance, or the YAML
            file of a judge of your own; nuggetizer, subquestions, keypoint_extractor,
            claim_extractor, whose labels are lists that people made (`read_list_examples`).
        config: models, the judge's section (a `state` is where the fit goes on from), what the
            run may spend, and where topics, runs, passages and nuggets are.
        out: the judge file to write; None: none is written. What a prompt method tried goes to
            the same name with .log.jsonl, and .part behind it until the judge file is written.
        prompt_model: the entry of `models:` that writes instructions.
        limit: take so many labels, drawn evenly over the topics.

    Raises: InputError for bad labels, before anything is fitted or asked; JudgeError (budget)
        where a prompt method could try no new prompt, and nothing is written then.
    """
    problems = problems if problems is not None else Problems()
    check_out(out)
    log = log_of(out) if settings.method in PROMPT_METHODS else None
    part = part_of(log) if log is not None else None
    with opened(config) as panel:
        writer: Backend | None = panel.backend(prompt_model) if prompt_model else None
        if judge in list_makers():
            _check_lists(fields, where, scale)
            maker, lists, matcher = _lists(panel, labels, judge, config, settings, limit, problems)
            found = lists_fitted_and_tested(
                maker, lists, settings, matcher, prompt_model=writer, log=part
            )
        else:
            fitted, examples = _items(
                panel, labels, judge, config, settings, fields, where, scale, limit, problems
            )
            found = fitted_and_tested(fitted, examples, settings, prompt_model=writer, log=part)
    source = {"file": labels.name, "sha256": hashlib.sha256(labels.read_bytes()).hexdigest()}
    report = {**found.report, "labels": source}
    file = found.file.model_copy(update={"fitted": {**found.file.fitted, "labels": source}})
    if out is not None:
        write_judge_file(out, file)
    if log is not None:
        rename(part_of(log), log)
    return Calibration(file, report, found.diff)


def plan_file(
    labels: Path,
    judge: str,
    config: Config,
    settings: Settings,
    *,
    out: Path | None = None,
    fields: Mapping[str, str] | None = None,
    where: Mapping[str, Sequence[str]] | None = None,
    scale: Mapping[str, str] | None = None,
    limit: int | None = None,
    problems: Problems | None = None,
) -> list[Estimate]:
    """What `calibrate_file` would ask, for `--dry-run`; asks nothing and writes nothing."""
    problems = problems if problems is not None else Problems()
    check_out(out)
    often = 1.0  # how often what was asked for a search is asked

    def ask(alone: Config, panel: Panel) -> None:
        nonlocal often
        with opened(alone, panel):
            if judge in list_makers():
                _check_lists(fields, where, scale)
                lists = _lists(panel, labels, judge, alone, settings, limit, problems)
                often = make_what_it_makes(panel, *lists, settings)
            else:
                items = _items(
                    panel, labels, judge, alone, settings, fields, where, scale, limit, problems
                )
                often = ask_what_it_asks(panel, *items, settings)

    found = rehearse(config.here(), ask)
    return [scaled(row, often) if row.judge.endswith(SEARCH) else row for row in found]


@contextmanager
def opened(config: Config, panel: Panel | None = None) -> Iterator[Panel]:
    """The judges of a config, or those that are open already; closed in the end."""
    cache = None
    if panel is None:
        cache = open_cache(config)
        panel = Panel(config.here(), cache=cache, budget=budget_of(config))
    try:
        yield panel
    finally:
        run_sync(panel.aclose())
        if cache is not None:
            cache.close()


def _lists(
    panel: Panel,
    labels: Path,
    judge: str,
    config: Config,
    settings: Settings,
    limit: int | None,
    problems: Problems,
) -> tuple[ListMaker, ListExamples, Matcher]:
    """The judge that makes lists, people's lists, and who matches them, all checked."""
    maker = panel[judge]
    assert isinstance(maker, ListMaker)
    is_lexical = settings.match == LEXICAL
    if not is_lexical:
        _check_match(settings.match)
    matcher = Matcher(None if is_lexical else panel.item_judge(settings.match))
    others = [] if is_lexical else [ItemsConfig(judge=settings.match).name]
    check_prices(config, [judge, *others])
    lists = read_list_examples(labels, maker, config, problems, limit=limit, seed=settings.seed)
    matcher.check(lists.items[0])
    return maker, lists, matcher


def _check_lists(*of_labels: Any) -> None:
    """Refuse what is said of labels, where there are lists."""
    if any(of_labels):
        raise InputError("--field, --where and --scale are about labels, and these are lists")


def _check_judge(judge: str) -> None:
    if judge not in item_judges() and not Path(judge).is_file():
        known, makers = ", ".join(item_judges()), ", ".join(list_makers())
        what = f"wanted {known}, or the YAML file of your own; of those that make lists {makers}"
        raise InputError(f"judge {judge!r}: {what}")


def _check_match(judge: str) -> None:
    if judge not in item_judges() and not Path(judge).is_file():
        raise InputError(f"--match {judge}: wanted lexical, or a judge such as entailment")


def _items(
    panel: Panel,
    labels: Path,
    judge: str,
    config: Config,
    settings: Settings,
    fields: Mapping[str, str] | None,
    where: Mapping[str, Sequence[str]] | None,
    scale: Mapping[str, str] | None,
    limit: int | None,
    problems: Problems,
) -> tuple[ItemJudge, Examples]:
    """The judge with its backend, and the labelled items, all checked."""
    _check_judge(judge)
    fitted = panel.item_judge(judge)
    if isinstance(fitted, Verified):
        what = "a fit is of the first labels: leave verify out, fit, and verify what is fitted"
        raise InputError(f"judges.{fitted.name}.verify: {what}")
    if fitted.model_name == "lexical" and not fitted.twins:
        raise InputError(f"{judge}: without a `lexical:` section it needs a model (--model)")
    check_prices(config, [ItemsConfig(judge=judge).name])
    examples = read_examples(
        labels,
        fitted,
        problems,
        data=config.data,
        fields=fields,
        where=where,
        scale=scale,
        limit=limit,
        seed=settings.seed,
    )
    return fitted, examples


def write_judge_file(path: Path, file: JudgeFile) -> None:
    """Write a judge file, whole or not at all. Raises: InputError."""
    write_file(part_of(path), file.text())
    rename(part_of(path), path)


def part_of(path: Path) -> Path:
    """Where a file is written before it is whole."""
    return path.with_name(f"{path.name}.part")


def log_of(out: Path | None) -> Path | None:
    """Where a prompt method notes what it tried."""
    return out.with_name(f"{out.name.removesuffix('.json')}.log.jsonl") if out else None


def check_out(out: Path | None) -> None:
    """Refuse, before anything is asked, what cannot be written, and to replace other files."""
    if out is None:
        return
    with writing(out):
        if out.exists() and (not out.is_file() or not _is_judge_file(out)):
            raise InputError(f"{out}: is there and no judge file; name another --out")
    check_writable(out)


def _is_judge_file(path: Path) -> bool:
    with path.open(encoding="utf-8", errors="replace") as stream:
        return FORMAT in stream.read(200)


def scale_of(texts: Sequence[str]) -> dict[str, str] | None:
    """`["0=none", "1=none", "2=full"]`, worst to best, as a map; without `=` the name is kept.

    Raises: InputError for an empty or repeated label.
    """
    if not texts:
        return None
    found: dict[str, str] = {}
    for text in texts:
        name, equals, ours = (part.strip().lower() for part in text.partition("="))
        if not name or (equals and not ours) or name in found:
            raise InputError(f"--scale {','.join(texts)}: wanted LABEL or LABEL=OURS, each once")
        found[name] = ours or name
    return found


def options_of(texts: Sequence[str]) -> dict[str, Any]:
    """`["max_labeled_demos=4"]` as a map; the values are read as YAML."""
    from ..records.reading.yaml_text import NotYaml, read_yaml

    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise InputError(f"--option {text}: wanted NAME=VALUE")
        try:
            found[name] = read_yaml(value)[0]
        except NotYaml as error:
            raise InputError(f"--option {text}: the value is {error}") from None
    return found
