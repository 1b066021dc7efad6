"""One question asked of a model each: a signature, a module, typed labels, a lexical baseline.

The classes are loaded when they are first used: naming a judge in a config needs no DSPy, see
`table`. Imports `backends` and `records`; programs and calibration import this.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
