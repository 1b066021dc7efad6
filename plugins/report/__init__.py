"""`judge report`: results folders as one HTML file that works offline.

`page.py` assembles the file. A section has a function that finds its data in the results folders,
and a file in `web/sections/` that draws the data; `sections.py` lists the sections in order. Other
plugins may import this package to add a section; the core does not import it.
"""
