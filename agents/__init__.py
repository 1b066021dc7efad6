"""Judges of several steps: they search, read, ask other judges, and keep a trace.

Each is a DSPy module that uses ordinary judges. Imports `judges`, `retrieval`, `backends`,
`records`; programs import this.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
