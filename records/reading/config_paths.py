"""Paths of a config file stand relative to that file; those of flags and of Python as they are."""

from __future__ import annotations

import glob
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator


class FileText(str):
    """A text of a config file, which knows the folder that the file is in."""

    folder: Path


def texts_of_file(value: Any, folder: Path) -> Any:
    """The value of a config file with each text in it as a `FileText`."""
    if isinstance(value, dict):
        return {key: texts_of_file(inner, folder) for key, inner in value.items()}
    if isinstance(value, list):
        return [texts_of_file(inner, folder) for inner in value]
    if isinstance(value, str):
        value = FileText(value)
        value.folder = folder
    return value


def beside(value: Any) -> Any:
    """The path that a text of a config file names; anything else as it is."""
    return value.folder / value if isinstance(value, FileText) else value


def _pattern(value: Any) -> Any:
    """A name or pattern in the file's folder, whose own name is no pattern whatever it holds."""
    if not isinstance(value, FileText):
        return str(value) if isinstance(value, Path) else value
    if _is_there(value):
        return str(beside(value))
    return str(Path(glob.escape(str(value.folder))) / value)


def _path_or_name(value: Any) -> Any:
    return str(beside(value)) if isinstance(value, FileText) and _is_there(value) else value


def text_or_file(value: Any) -> Any:
    """A text as it is; a Path, beside the config file, where it is the name of a file there.

    What ends in `.txt` or `.md` is such a name, be there a file or not.
    """
    if not isinstance(value, str) or "\n" in value:
        return value
    path = Path(beside(value))
    with suppress(OSError, ValueError):
        if path.suffix in (".txt", ".md") or path.is_file():
            return path
    return str(value)


def _is_there(text: FileText) -> bool:
    with suppress(OSError):
        return (text.folder / text).exists()
    return False


InputPath = Annotated[Path, BeforeValidator(beside)]
InputPattern = Annotated[str, BeforeValidator(_pattern)]  # of files that may be many
TextOrFile = Annotated[Path | str, BeforeValidator(text_or_file)]
PathOrName = Annotated[str, BeforeValidator(_path_or_name)]  # a name that others know, if no path
