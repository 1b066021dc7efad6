"""Judges: each has one question for a model, as a signature, a module, typed labels and a baseline.

Classes are loaded when they are first used, so a config can name a judge without DSPy (see
`table`). Imports `backends` and `records`; programs and calibration import this.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
