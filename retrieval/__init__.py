"""Contexts to evaluate: retrievers, fusion of rankings, rerankers and cuts.

Imports `backends` (folders, secrets, errors) and `records`, and calls no judge; agents, programs
and the CLI may import it.

Modules are loaded when they are first used, because the config needs only `defaults`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
