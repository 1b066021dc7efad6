"""`judge report`: results folders as one HTML file that needs no network.

`page.py` puts it together; `web/` is what every section is drawn with. A section is two files of
one name side by side, in the folder of what it is about: Python that finds its data in results
folders, and a JavaScript module that draws them; `sections.py` lists them in their order. May
import programs and what is below; only the command line, `evaluation` and `exports` import it.
"""
