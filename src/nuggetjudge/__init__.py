"""LLM judges for long-form RAG: nuggets, support, coverage and more, checked against people.

Importing the package reads no `.env`, opens no cache and configures nothing. Each part loads
when it is first used.
"""

import os

import lazy_loader

_CORE = (
    *("agents", "backends", "calibration", "cli", "evaluation", "gates"),
    *("judges", "metrics", "programs", "records", "retrieval", "views"),
)
for _name in _CORE:  # links to the folders of the source; in a wheel, folders
    if not os.path.isdir(_folder := os.path.join(os.path.dirname(__file__), _name)):
        raise ImportError(
            f"{_folder} is not a folder: this copy of nuggetjudge's source lost its symbolic links "
            "(zip files, Git on Windows); in a clone on Linux, macOS or WSL run `git config "
            "core.symlinks true && git checkout -f -- src/nuggetjudge`, else clone it again"
        )

FUNCTIONS = "nuggetjudge.functions"  # entry points: NAME = "module:function", used as nj.NAME
_get_own, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    """Load a part or a function of this package, or a function from an entry point."""
    if name.startswith("_") or name in __all__:
        return _get_own(name)
    from importlib.metadata import entry_points

    for entry in entry_points(group=FUNCTIONS, name=name):
        globals()[name] = found = entry.load()
        return found
    return _get_own(name)


__all__ += ["__version__"]
__version__ = "0.1.0"
