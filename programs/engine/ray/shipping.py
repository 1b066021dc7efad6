"""How a stage asks, on its way to a worker: its judges by name, its settings, none of its data."""

from __future__ import annotations

import io
import pickle
from typing import Any

from ....judges.base import Judge
from ..panel import Panel
from ..stage import Ask


def packed(ask: Ask, panel: Panel) -> bytes:
    """What `unpacked` makes a function of that asks the judges of another panel.

    Bytes for a process of the same run, which code can be in: they are never kept.
    """
    from ray.cloudpickle import CloudPickler

    class Pickler(CloudPickler):  # type: ignore[misc]
        def persistent_id(self, obj: Any) -> Any:
            return panel.name_of(obj) if isinstance(obj, Judge) else None

    stream = io.BytesIO()
    Pickler(stream).dump(ask)
    return stream.getvalue()


def unpacked(ask: bytes, panel: Panel) -> Ask:
    """The function, asking the judges of this panel."""

    class Unpickler(pickle.Unpickler):
        def persistent_load(self, name: Any) -> Any:
            return panel[name]

    function: Ask = Unpickler(io.BytesIO(ask)).load()
    return function
