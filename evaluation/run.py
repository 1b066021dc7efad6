"""`nuggetjudge.run`: an evaluation by a config, settings or both."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..programs.config.reading import dotted, load_config
from ..programs.config.sections import Config
from ..programs.engine.manifest import constant_judges
from ..programs.run import NO_MODEL, judge_collection, names_no_model
from .result import Result


def run(
    config: str | Path | Config | None = None, *, quiet: bool = True, **settings: Any
) -> Result:
    """Judge runs and write a results folder.

    Args:
        config: a YAML file or a Config; None: everything is in `settings`.
        quiet: draw no progress bar.
        settings: `program`; `model`, the name of a model or of an entry under `models:`, or a
            whole entry as a dict; the names of `data:` (topics, runs, passages, candidates,
            qrels, nuggets, items, questions, ratings, retrieval, ...), of `items:` (judge,
            fields) and of `run:` (out, concurrency, max_cost, limit, ...), or any dotted name
            as `**{"support.citations": "all"}`.

    Returns: scores, judgements and counts, read back from the folder.
    Raises: InputError for bad input, EndpointUnusable when no request can succeed; what was
        judged until then is in the folder's journal, and the same call goes on from there.
    Warns: UserWarning where no model is named, so that the lexical judge answers, and of a judge
        that gave all of 15 or more items the same label.
    """
    if not isinstance(config, Config):
        config = config_from(settings, Path(config) if config is not None else None)
    elif settings:
        raise ValueError("give settings or a Config, not both")
    warn_without_model(config)
    result = Result(judge_collection(config, quiet=quiet).folder)
    for what in constant_judges(result.manifest):
        warnings.warn(what, UserWarning, stacklevel=2)
    return result


def warn_without_model(config: Config) -> None:
    """Warn where no model is named, in the line that called the function which called this one."""
    if names_no_model(config):
        warnings.warn(f"{NO_MODEL} Give model=.", UserWarning, stacklevel=3)


def config_from(settings: Mapping[str, Any], path: Path | None = None) -> Config:
    """The config of settings as `run` takes them, over those of a file.

    Raises: InputError for a setting or value that is none.
    """
    settings = dict(settings)
    model = settings.pop("model", None)
    if isinstance(model, dict):  # a whole entry, instead of the name of one or of a model
        settings["models.default"], model = model, None
    return load_config(path, dotted(settings), model=model)
