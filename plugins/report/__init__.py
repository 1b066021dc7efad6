"""`judge report`: results folders as one HTML file that needs no network.

`page.py` puts it together. A section is a function that finds its data in results folders and a
file in `web/sections/` that draws them; `sections.py` lists them in their order. Other annexes may
import it for a section of their own; the core does not.
"""
