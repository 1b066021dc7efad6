"""`judge schema`, `judge export-config`: everything about config files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from ...records.reading.problems import InputError
from ..flags import Given, settings
from ..signatures import Takes
from ..tables import shown


def schema(*, judge: bool = False) -> None:
    """Print the JSON Schema of config files, for editors. Example: judge schema > judge.json

    Args:
        judge: Of the YAML file of a judge of your own.
    """
    import orjson
    from pydantic import BaseModel

    kind: type[BaseModel]
    if judge:
        from ...judges.own import OwnJudgeDefinition as kind
    else:
        from ...programs.config.sections import Config as kind
    text = orjson.dumps(kind.model_json_schema(by_alias=True), option=orjson.OPT_INDENT_2)
    sys.stdout.write(text.decode() + "\n")


@settings(model=False, config=False)
def export_config(
    given: Given,
    what: Annotated[str | None, Takes(show_default=False)] = None,
) -> None:
    """Print a complete config, as YAML: of a finished run, or of a config with its defaults.

    Paths are those of the run, relative to the folder in which it was started.

    Example: judge export-config results/demo > judge.yaml

    Args:
        what: A results folder, a config file, or programs to start from.
    """
    import yaml

    from ...programs.engine.manifest import config_of

    if what is None or not Path(what).is_dir():
        config = given.config_of(what)
    elif given.is_empty:
        config = config_of(Path(what))
    else:
        raise InputError(
            f"{what}: is a finished run, which --config, --model and --set cannot change"
        )
    data = config.model_dump(mode="json", by_alias=True)
    text = yaml.safe_dump(data, sort_keys=False, allow_unicode=True)
    sys.stdout.write(shown(text) if sys.stdout.isatty() else text)
