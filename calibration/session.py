"""`nuggetjudge.calibrate`: from labels and a config to a judge file and a report."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..backends.config import TRAINED_FILE
from ..backends.gateway import Backend
from ..backends.loop import run_sync
from ..judges import JudgeFile, Verified
from ..judges.fitted import FORMAT
from ..judges.makers.lists import ListMaker
from ..judges.table import item_judges, list_makers
from ..programs.config.reading import load_config, name_settings
from ..programs.config.sections import Config, ItemsConfig
from ..programs.engine.dry_run import estimate_calls
from ..programs.engine.folders import check_writable
from ..programs.engine.judge_set import JudgeSet, check_prices, make_budget, open_cache
from ..programs.engine.spending import Estimate
from ..records.reading.problems import InputError, Problems, did_you_mean
from ..records.tables import DEFAULT_MISSING
from ..records.writing import rename, write_file, writing
from .examples import read_examples
from .fits import FIT_METHODS
from .fitting import (
    SEARCH,
    Calibration,
    ItemTarget,
    Target,
    ask_what_it_asks,
    fit_target,
    scale_estimate,
)
from .list_examples import read_list_examples
from .lists import LEXICAL, ListTarget, Matcher
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
    missing: Collection[str] = DEFAULT_MISSING,
    sheet: str | None = None,
    limit: int | None = None,
    **settings: Any,
) -> Calibration:
    """Fit a judge to human labels on some topics, and measure on others whether it helped.

    Args:
        labels: a file of human labels, or, for a judge that makes lists, of lists that people made.
        judge: the judge to fit, such as support, relevance or assigner; the YAML file of your own
            judge; or a judge that makes lists: nuggetizer, subquestions, keypoint_extractor or
            claim_extractor.
        method: how to fit the labels: threshold, topic, platt, ordinal or isotonic; or how to
            improve the prompt: few-shot, bootstrap, mipro, simba or gepa; or train, which trains
            a small network (extra `dense`).
        config: a config file, as in `nuggetjudge.run`; None: everything is in `settings`.
        model: the judging model, as in `nuggetjudge.run`.
        out: the judge file to write, or the folder of train; None: nothing is written.
        prompt_model: the entry of `models:` that writes instructions; None: the judging model.
        fields: our name of an input, an id or the label -> its column in `labels`; None: columns
            are recognised by name.
        where: field -> values; only rows of `labels` with one of these values are read. None: all.
        scale: labels of people, worst to best -> the label of the judge; neighbours may share one.
            None: the labels of the judge.
        missing: words, in lower case, that mean no label.
        sheet: the sheet of a workbook; None: the first sheet.
        limit: the maximum number of labels, drawn evenly over the topics; None: all.
        settings: fields of `Settings` (objective, folds, seed, ...), and the names of `data:` and
            `run:` as in `nuggetjudge.run` (topics, passages, max_calls, ...).

    Returns: the judge file, also written to `out`, and the report, ready for JSON.
    Raises: InputError for bad labels or settings. EndpointUnusable if no request can succeed.
        JudgeError (budget) if a prompt method could not try any new prompt.

    Example: nj.calibrate("labels.jsonl", "support", "threshold", config="judge.yaml")

    The demo has 12 topics; a share of 0.4 of them, 5 topics, tests the fit:

    >>> import nuggetjudge as nj
    >>> from pathlib import Path
    >>> demo = Path(nj.__file__).parent / "examples" / "demo"
    >>> labels, config = demo / "labels" / "support.jsonl", demo / "judge.yaml"
    >>> fitted = nj.calibrate(labels, "support", "threshold", config=config, resamples=0, limit=60)
    >>> fitted.report["n_test_topics"], fitted.file.judge
    (5, 'support')
    """
    own = {name: settings.pop(name) for name in _SETTINGS & settings.keys()}
    if isinstance(model, dict):  # a whole entry, instead of the name of one or of a model
        settings["models.default"], model = model, None
    resolved = load_config(Path(config) if config else None, name_settings(settings), model=model)
    own.setdefault("concurrency", resolved.run.concurrency)
    how = Settings(method=method, **own)
    fitting = Fitting(
        *(Path(labels), judge, resolved, how, fields, where, scale, limit),
        missing=frozenset(missing),
        sheet=sheet,
    )
    return fitting.fit(Path(out) if out is not None else None, prompt_model)


@dataclass(frozen=True)
class Fitting:
    """Labels of a file, and the judge that is to be fitted to them.

    Attributes:
        labels: see `examples.read_examples`, as are fields, where, scale, missing and sheet.
        judge: assigner, support, relevance, answerability, entailment, importance, or the YAML
            file of a judge of your own; nuggetizer, subquestions, keypoint_extractor,
            claim_extractor, whose labels are lists that people made (`read_list_examples`).
        config: models, the judge's section (a `state` is where the fit goes on from), what the
            run may spend, and where topics, runs, passages and nuggets are.
        limit: take so many labels, drawn evenly over the topics.
    """

    labels: Path
    judge: str
    config: Config
    settings: Settings
    fields: Mapping[str, str] | None = None
    where: Mapping[str, Sequence[str]] | None = None
    scale: Mapping[str, str] | None = None
    limit: int | None = None
    problems: Problems = field(default_factory=Problems)
    missing: frozenset[str] = DEFAULT_MISSING
    sheet: str | None = None

    def fit(self, out: Path | None = None, prompt_model: str | None = None) -> Calibration:
        """Fit the judge, and measure it.

        Args:
            out: the judge file to write; None: none is written. What a prompt method tried goes to
                the same name with .log.jsonl, and .part behind it until the judge file is written.
            prompt_model: the entry of `models:` that writes instructions.

        Raises: InputError for bad labels, before anything is fitted or asked; JudgeError (budget)
            where a prompt method could try no new prompt, and nothing is written then.
        """
        check_out(out, self.settings.method)
        log = get_log_path(out) if self.settings.method in PROMPT_METHODS else None
        part = get_part_path(log) if log is not None else None
        with open_judges(self.config) as judge_set:
            writer: Backend | None = judge_set.backend(prompt_model) if prompt_model else None
            calibration = fit_target(self._target(judge_set), prompt_model=writer, log=part)
        source = describe_source(self.labels)
        report = {**calibration.report, "labels": source}
        file = calibration.file.model_copy(
            update={"fitted": {**calibration.file.fitted, "labels": source}}
        )
        if out is not None and calibration.save is not None:
            calibration.save(out, file)
        elif out is not None:
            write_judge_file(out, file)
        if log is not None:
            rename(get_part_path(log), log)
        return calibration._replace(file=file, report=report)

    def plan(self, out: Path | None = None) -> list[Estimate]:
        """Estimate what `fit` would ask, for `--dry-run`; asks nothing and writes nothing."""
        check_out(out, self.settings.method)
        often = 1.0  # how often what was asked for a search is asked

        def ask(alone: Config, judge_set: JudgeSet) -> None:
            nonlocal often
            with open_judges(alone, judge_set):
                often = ask_what_it_asks(judge_set, replace(self, config=alone)._target(judge_set))

        estimates = estimate_calls(self.config.here(), ask)
        return [
            scale_estimate(row, often) if row.judge.endswith(SEARCH) else row for row in estimates
        ]

    def _target(self, judge_set: JudgeSet) -> Target:
        """The judge with its backend, and what people said, all checked."""
        return self._lists(judge_set) if self.judge in list_makers() else self._items(judge_set)

    def _lists(self, judge_set: JudgeSet) -> ListTarget:
        """A judge that makes lists, people's lists, and who matches them."""
        if self.fields or self.where or self.scale:
            raise InputError("--field, --where and --scale apply to labels, but these are lists")
        maker, match = judge_set[self.judge], self.settings.match
        assert isinstance(maker, ListMaker)
        is_lexical = match == LEXICAL
        if not (is_lexical or _is_item_judge(match)):
            raise InputError(f"--match {match}: wanted lexical, or a judge such as entailment")
        matcher = Matcher(None if is_lexical else judge_set.item_judge(match))
        others = [] if is_lexical else [ItemsConfig(judge=match).name]
        check_prices(self.config, [self.judge, *others])
        inputs = (self.labels, maker, self.config, self.problems)
        lists = read_list_examples(*inputs, limit=self.limit, seed=self.settings.seed)
        matcher.check(lists.items[0])
        return ListTarget(maker, lists, self.settings, matcher)

    def _items(self, judge_set: JudgeSet) -> ItemTarget:
        """A judge of items, and the labelled items."""
        if not _is_item_judge(self.judge):
            judges, makers = ", ".join(item_judges()), ", ".join(list_makers())
            what = f"wanted {judges}, or a YAML file of your own; to fit lists: {makers}"
            near = did_you_mean(self.judge, [*item_judges(), *list_makers()])
            raise InputError(f"judge {self.judge!r}: {what}{near}")
        fitted = judge_set.item_judge(self.judge)
        if isinstance(fitted, Verified):
            what = "a fit is of the first labels: remove verify, fit, and verify the fitted judge"
            raise InputError(f"judges.{fitted.name}.verify: {what}")
        if fitted.model_name == "lexical" and not fitted.baselines:
            what = "without a `lexical:` section it needs a model (--model)"
            raise InputError(f"{self.judge}: {what}")
        check_prices(self.config, [ItemsConfig(judge=self.judge).name])
        examples = read_examples(
            self.labels,
            fitted,
            self.problems,
            data=self.config.data,
            fields=self.fields,
            where=self.where,
            scale=self.scale,
            missing=self.missing,
            sheet=self.sheet,
            limit=self.limit,
            seed=self.settings.seed,
        )
        return ItemTarget(fitted, examples, self.settings)


def _is_item_judge(judge: str) -> bool:
    return judge in item_judges() or Path(judge).is_file()


def describe_source(labels: Path) -> dict[str, str]:
    """What a judge file says of the labels that it was fitted to."""
    return {"file": labels.name, "sha256": hashlib.sha256(labels.read_bytes()).hexdigest()}


@contextmanager
def open_judges(config: Config, judge_set: JudgeSet | None = None) -> Iterator[JudgeSet]:
    """The judges of a config, or those that are open already; closed in the end."""
    cache = None
    if judge_set is None:
        cache = open_cache(config)
        judge_set = JudgeSet(config.here(), cache=cache, budget=make_budget(config))
    try:
        yield judge_set
    finally:
        run_sync(judge_set.aclose())
        if cache is not None:
            cache.close()


def write_judge_file(path: Path, file: JudgeFile) -> None:
    """Write a judge file, whole or not at all. Raises: InputError."""
    write_file(get_part_path(path), file.text())
    rename(get_part_path(path), path)


def get_part_path(path: Path) -> Path:
    """Where a file is written before it is whole."""
    return path.with_name(f"{path.name}.part")


def get_log_path(out: Path | None) -> Path | None:
    """Where a prompt method notes what it tried."""
    return out.with_name(f"{out.name.removesuffix('.json')}.log.jsonl") if out else None


def check_out(out: Path | None, method: str) -> None:
    """Refuse, before anything is asked, what cannot be written, and to replace other files."""
    if out is None:
        return
    if method not in (*FIT_METHODS, *PROMPT_METHODS):
        if out.exists() and not (out / TRAINED_FILE).is_file():
            raise InputError(f"{out}: exists and is not a trained judge; choose another --out")
        return check_writable(out)
    with writing(out):
        if out.exists() and (not out.is_file() or not _is_judge_file(out)):
            raise InputError(f"{out}: exists and is not a judge file; choose another --out")
    check_writable(out)


def _is_judge_file(path: Path) -> bool:
    with path.open(encoding="utf-8", errors="replace") as stream:
        return FORMAT in stream.read(200)
