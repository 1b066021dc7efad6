"""The data: frozen typed rows, and a checked reader for every file format, with its writer.

Imports metrics alone of ours; every folder but metrics may import it.

Readers take a `Problems`, in which they note what is wrong by file and line; a caller ends with
`problems.raise_errors()`. They raise `InputError` only for a file that cannot be read at all. A
module is loaded when one of its names is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
