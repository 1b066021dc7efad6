"""Files that are one JSON object of a named format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from .problems import InputError, unreadable

Read = TypeVar("Read", bound=BaseModel)


def read_json_file(path: Path, kind: type[Read], format: str, what: str) -> Read:
    """Read one.

    Args:
        kind: what is in it. format: what its field `format` has to be.
        what: such a file is called, with its article, for errors.

    Raises: InputError with file, line and what was wanted.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")  # editors may add a byte order mark
        row: Any = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{path}:{error.lineno}: not JSON ({error.msg})") from None
    except RecursionError:
        raise InputError(f"{path}: not {what}, its JSON is nested too deeply") from None
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(path, error) from None
    if not isinstance(row, dict) or row.get("format") != format:
        raise InputError(f"{path}: not {what}, wanted format {format!r}")
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        parts = [*map(str, first["loc"]), first["msg"].removeprefix("Value error, ")]
        got = "" if isinstance(first["input"], dict | list) else f", got {first['input']!r:.80}"
        raise InputError(f"{path}: {': '.join(parts)}{got}") from None
