"""What an evaluation is refused for, found before a function is called or a file replaced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..programs.config.sections import Config
from ..programs.engine.folders import check_replaced
from ..programs.engine.manifest import config_of
from ..programs.engine.panel import check_judges, check_models, check_prices, spared_by
from ..programs.engine.results import ALWAYS, MANIFEST, check_free
from ..programs.protocols.table import chosen, program_files
from .run import config_from
from .samples.choosing import defaults


def check_start(
    folder: Path, programs: Sequence[str], settings: Mapping[str, Any], ids: Mapping[str, Any]
) -> None:
    """Raise InputError for what is wrong with an evaluation, whatever its samples hold.

    A missing key is EndpointUnusable.

    Args:
        programs: [] for those that fit its samples.
        settings: as of `nuggetjudge.run`, without those of data.
        ids: `run_ids` and `topic_ids`, as far as they are known.
    """
    check_free(folder, (*program_files(), *ALWAYS))
    options = {"program": programs, "out": folder, **settings}
    if settings.get("force") or not (folder / MANIFEST).is_file():
        _check_judges(config_from(options))
        return
    before = config_of(folder)
    programs = programs or before.program
    of_data = defaults(programs, {name: file for name, file in before.data if file})
    config = config_from({**of_data, **options, "program": programs})
    _check_judges(config)
    # What is judged is not there yet, so it counts as the same.
    config = config.model_copy(update={"data": before.data, "items": before.items})
    check_replaced(config, ids)


def _check_judges(config: Config) -> None:
    """Raise InputError if what a config says of judges and prices is wrong.

    Raises: EndpointUnusable if a model that is surely asked lacks its key.
    """
    judges = [name for each in chosen(config.program) for name in each.judges_of(config)]
    check_prices(config, judges)
    check_judges(config, judges)
    check_models(config, [name for name in judges if not spared_by(name)])
