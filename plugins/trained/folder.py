"""The folder of a trained judge: its network, its tokenizer, and what they belong to."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Literal

from pydantic import Field, JsonValue

from ...judges.fitted import Correction, Weight
from ...records.reading.problems import InputError
from ...records.reading.settings import read_json_file
from ...records.rows import Row

FORMAT: Literal["nuggetjudge-trained-2"] = "nuggetjudge-trained-2"
ABOUT, NETWORK, TOKENIZER = "trained.json", "network.onnx", "tokenizer.json"


class TrainedFile(Row):
    """What `trained.json` says of a trained judge.

    Attributes:
        format: the name and version of the format.
        judge: the judge that was trained; scale: its labels, worst to best.
        statement, source: the input that is looked for, and the input in which.
        correction: the map from scores to labels and their probabilities.
        words: the weight of each word stem in word overlap.
        files: the SHA-256 of each file of the folder.
        fitted_on: the topics whose labels were used; a later fit must not be tested on them.
        fitted: for people only: method, labels, split, figures before and after.
    """

    format: Literal["nuggetjudge-trained-2"] = FORMAT
    judge: str
    scale: tuple[str, ...] = Field(min_length=2)
    statement: str
    source: str
    correction: Correction
    words: dict[str, Weight]
    files: dict[str, str]
    fitted_on: tuple[str, ...]
    fitted: dict[str, JsonValue] = Field(default_factory=dict)

    def text(self) -> str:
        """Return the content of the file; equal files have the same."""
        return json.dumps(self.model_dump(mode="json"), indent=1, ensure_ascii=False) + "\n"


def read_folder(folder: Path) -> TrainedFile:
    """Read what a folder says of its judge, and check that its files are those of the training.

    Raises: InputError with the file, and what was wanted.
    """
    if not folder.is_dir():
        how = "judge calibrate LABELS --method train --out FOLDER makes one"
        raise InputError(f"{folder}: the folder does not exist; {how}")
    path = folder / ABOUT
    if not path.is_file():
        raise InputError(f"{folder}: not a trained judge (it has no {ABOUT})")
    about = read_json_file(path, TrainedFile, FORMAT, "a trained judge")
    for name in (NETWORK, TOKENIZER):
        file = folder / name
        if not file.is_file():
            raise InputError(f"{file}: missing; copy the whole folder of the trained judge")
        if hash_file(file) != about.files.get(name):
            raise InputError(f"{file}: not the file that was trained (another SHA-256)")
    return about


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
