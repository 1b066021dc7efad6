"""journal/started.json: what a run was started with, so that a stopped one can be read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import orjson
from pydantic import TypeAdapter, ValidationError

from ....records.reading.problems import InputError
from ....records.writing import write_file
from ...config.reading import config_before
from ...config.sections import Config
from ..manifest import STARTED, fingerprint_of, made_in
from .inputs import Inputs, located_inputs


class Started(NamedTuple):
    """What was started, and its inputs as they are found now."""

    fingerprint: str
    config: Config
    inputs: Inputs


def write_started(config: Config, inputs: Mapping[str, str]) -> None:
    """Write it to the run's folder, in the place of that of the start before."""
    about = {
        "fingerprint": fingerprint_of(config, inputs),
        "config": config.model_dump(mode="json", by_alias=True),
        "inputs": dict(inputs),
        "made_in": made_in(config.run.out),
    }
    write_file(config.run.out / STARTED, orjson.dumps(about, option=orjson.OPT_APPEND_NEWLINE))


def read_started(folder: Path) -> Started | None:
    """What was started in a folder; None where nothing was, or half of the file was written.

    Raises: InputError for a config that this version cannot read.
    """
    texts = TypeAdapter(dict[str, str]).validate_python
    try:
        about = orjson.loads((folder / STARTED).read_bytes())
        fingerprint, hashes, where = str(about["fingerprint"]), about["inputs"], about["made_in"]
        hashes, where = texts(hashes), texts(where)
        settings = about["config"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    try:
        config = config_before(settings)
    except ValidationError:
        raise InputError(f"{folder / STARTED}: its config is not of this version") from None
    return Started(fingerprint, config, located_inputs(folder, config, hashes, where))
