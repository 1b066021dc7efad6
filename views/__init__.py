"""Results as tables, rendered for a terminal, a page or a file.

`table.py` defines a table: columns with kinds, rows, a verdict, notes. Every command and page makes
a table and passes it to `terminal.py` (window width, colour), `formats.py` (Markdown, CSV, LaTeX,
JSON, HTML) or `printing.py` (the format of `--format`). This folder imports only records, and
anything that shows results may import it.
"""
