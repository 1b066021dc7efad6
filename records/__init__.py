"""The data: frozen typed rows, and for every file format a checking reader and a writer.

Imports only metrics of nuggetjudge; every folder but metrics may import it.

Readers take a `Problems` object, in which they record faults by file and line; the caller ends with
`problems.raise_errors()`. They raise `InputError` only for a file that cannot be read at all. A
module is loaded when one of its names is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
