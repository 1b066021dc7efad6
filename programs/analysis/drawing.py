"""How pictures are drawn: the same bytes each time, and no text that could steer them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...records.reading.extras import pip_install
from ...records.reading.problems import InputError
from ...records.writing.files import write_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SETTINGS: Any = {"svg.hashsalt": "nuggetjudge", "svg.fonttype": "none", "text.parse_math": False}
_METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Date": None},
    "png": {"Software": None},
    "pdf": {"CreationDate": None},
}


def format_of(path: Path) -> str:
    """The format that a file's name asks for. Raises: InputError for another than these."""
    form = path.suffix.lower().removeprefix(".")
    if form not in _METADATA:
        raise InputError(f"{path}: pictures are written as {', '.join(_METADATA)}, by the ending")
    return form


@contextmanager
def drawing() -> Iterator[None]:
    """Draw in here. Raises: InputError if matplotlib is not installed."""
    try:
        import matplotlib
    except ImportError:
        raise InputError(f"plots need matplotlib: {pip_install('plots')}") from None
    with matplotlib.rc_context(_SETTINGS):
        yield


def save(figure: Figure, path: Path, form: str) -> None:
    """Write a figure, within `drawing`; its folder is made. Raises: InputError."""
    picture = BytesIO()
    figure.savefig(picture, format=form, metadata=_METADATA[form], dpi=150)
    write_file(path, picture.getvalue())


def printable(text: str) -> str:
    """Without characters that XML cannot hold."""
    return "".join(c if c.isprintable() else "?" for c in text)
