"""What the tests of plugins add to those of the core; nothing where plugins/ is not there."""

import importlib.util
from pathlib import Path
from types import ModuleType


def of_plugins(file: str) -> list[ModuleType]:
    """The modules of this name in tests/plugins."""
    found = []
    for path in sorted((Path(__file__).parents[1] / "plugins").rglob(file)):
        spec = importlib.util.spec_from_file_location(f"of_plugins_{path.parent.name}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found.append(module)
    return found
