"""Files of samples that are written beside earlier ones, and take their place all together."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...records.writing import own_folder, remove, rename, writing
from .banks import BEGUN
from .files import NAMES

FOLDER = "samples"  # in the folder of an evaluation
_FILES = (*(f"{name}.jsonl" for name in NAMES), BEGUN, "items.jsonl", "judge.yaml")


class NewFiles:
    """A folder beside that of the samples, which goes when this context ends.

    Attributes:
        folder: where the files are written until `publish`.
    """

    def __init__(self, evaluation: Path) -> None:
        self._final = evaluation / FOLDER
        self.folder = evaluation / f"{FOLDER}.part"

    def __enter__(self) -> NewFiles:
        own_folder(self.folder)
        self._clear()  # of an evaluation that was killed
        own_folder(self.folder)
        return self

    def __exit__(self, *ended: object) -> None:
        self._clear()

    def copy(self, name: str) -> None:
        """Take over an earlier file, if there is one."""
        if (self._final / name).is_file():
            with writing(self.folder / name):
                shutil.copyfile(self._final / name, self.folder / name)

    def named(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """The values, of which paths of these files are as they will be once they are published."""
        return {
            name: str(self._final / Path(value).name)
            if Path(value).parent == self.folder
            else value
            for name, value in data.items()
        }

    def publish(self) -> None:
        """Give the files their places, in that of all earlier ones."""
        own_folder(self._final)
        for name in _FILES:
            if (self.folder / name).is_file():
                rename(self.folder / name, self._final / name)
            else:
                remove(self._final / name)

    def _clear(self) -> None:
        with writing(self.folder):
            shutil.rmtree(self.folder)
