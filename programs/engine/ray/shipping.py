"""A stage on its way to a worker: its judges by name, its settings, and none of its data."""

from __future__ import annotations

import copy
import io
import pickle
from inspect import iscoroutinefunction
from typing import Any

from pydantic import BaseModel

from ....judges.base import Judge
from ..panel import Panel
from ..stage import Stage

_SETTINGS = (BaseModel, str, int, float, type(None))


def packed(stage: Stage, panel: Panel) -> bytes:
    """What `unpacked` makes a stage of whose `judge` does the same with another panel.

    Bytes for a process of the same run, which code can be in: they are never kept.
    """
    from ray.cloudpickle import CloudPickler

    class Pickler(CloudPickler):  # type: ignore[misc]
        def persistent_id(self, held: Any) -> Any:
            return panel.name_of(held) if isinstance(held, Judge) else None

    light = copy.copy(stage)
    for name, held in vars(stage).items():
        if not (isinstance(held, (Judge, *_SETTINGS)) or iscoroutinefunction(held)):
            delattr(light, name)
    stream = io.BytesIO()
    Pickler(stream).dump(light)
    return stream.getvalue()


def unpacked(stage: bytes, panel: Panel) -> Stage:
    """The stage, asking the judges of this panel."""

    class Unpickler(pickle.Unpickler):
        def persistent_load(self, name: Any) -> Any:
            return panel.named(name)

    found: Stage = Unpickler(io.BytesIO(stage)).load()
    return found
