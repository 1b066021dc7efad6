"""Contexts to evaluate: what finds passages, fuses rankings, reorders and cuts them.

Imports `backends` (folders, secrets, errors) and `records`, and asks no judge; agents, programs and
the CLI may import it.

The parts are loaded when they are first used, for the config reads `defaults` alone.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
