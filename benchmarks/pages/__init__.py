"""The tables of the pages in docs/, each made by one module: `python -m benchmarks.pages DATA`.

`python -m benchmarks.pages.lexical DATA` prints those of one. What may not be redistributed is read
from DATA, laid out as the pages say; a set that is missing is left out.
"""
