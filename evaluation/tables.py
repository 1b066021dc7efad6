"""How results show themselves: tables in a notebook, and as wide as the terminal elsewhere."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod

from ..views.formats import escape_html, view_html
from ..views.table import View
from ..views.terminal import Terminal, view_text


class InTables(ABC):
    """Something that shows itself as a verdict and tables."""

    @abstractmethod
    def view(self) -> View:
        """What it shows."""

    def _repr_html_(self) -> str:
        return view_html(self.view())

    def __str__(self) -> str:
        return view_text(self.view(), Terminal.of(sys.stdout))


class Text(str):
    """Lines that a notebook, an interpreter and `print` show as they are."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{escape_html(self)}</pre>"
