"""How pictures are drawn: the same bytes each time, and no text that could steer them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from ....records.reading.problems import InputError, pip_install
from ....records.writing import write_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SETTINGS: Any = {
    "svg.hashsalt": "nuggetjudge",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,  # text that stays text
    "text.parse_math": False,
}
# For a paper: small type, thin lines, and nothing that a caption says.
PAPER: Any = {
    "font.size": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "hatch.linewidth": 0.5,
}
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
def drawing(settings: Mapping[str, Any] = MappingProxyType({})) -> Iterator[None]:
    """Draw in here. Raises: InputError if matplotlib is not installed.

    Args:
        settings: of matplotlib, such as `PAPER`.
    """
    try:
        import matplotlib
    except ImportError:
        raise InputError(f"figures need matplotlib: {pip_install('plots')}") from None
    settings = {**_SETTINGS, **settings}
    with matplotlib.rc_context(cast(Any, settings)):
        yield


def save(figure: Figure, path: Path, form: str, dpi: int = 150) -> None:
    """Write a figure, within `drawing`; its folder is made. Raises: InputError."""
    picture = BytesIO()
    figure.savefig(picture, format=form, metadata=_METADATA[form], dpi=dpi)
    write_file(path, picture.getvalue())


def printable(text: str) -> str:
    """Without characters that XML cannot hold."""
    return "".join(c if c.isprintable() else "?" for c in text)
