"""A YAML file as a checked model, with file and line for all that is wrong in it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from .problems import InputError
from .yaml_text import Keys, NotYaml, line_of, plain_error, read_yaml, unfit_values

Model = TypeVar("Model", bound=BaseModel)


def settings_of(path: Path, text: str, such_as: str) -> tuple[dict[str, Any], Mapping[Keys, int]]:
    """The settings of a file and their lines; `yes`, `no`, `on` and `off` are words in it.

    Args:
        such_as: settings that it should have, for errors.

    Raises: InputError.
    """
    try:
        data, lines = read_yaml(text, words=True)
    except NotYaml as error:
        raise InputError(f"{path}:{error.line}: {error}") from None
    if not isinstance(data, dict):
        raise InputError(f"{path}:1: wanted settings such as {such_as}")
    return data, lines


def checked(
    model: type[Model], data: Mapping[str, Any], path: Path, lines: Mapping[Keys, int]
) -> Model:
    """The settings as a model. Raises: InputError with file and line for all that is wrong."""
    wrong = list(unfit_values(dict(data)))
    if not wrong:
        try:
            return model.model_validate(data)
        except ValidationError as error:
            wrong = [plain_error(detail) for detail in error.errors(include_url=False)]
    complaints = [f"{path}:{line_of(at, lines)}: {'.'.join(at)}: {what}" for at, what in wrong]
    raise InputError("\n".join(dict.fromkeys(complaints)))
