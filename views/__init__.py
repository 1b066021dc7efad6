"""Results as tables, rendered for a terminal, a page or a file.

`table.py` says what a table is: columns of a kind, rows, a verdict, notes. Every command and page
makes one and hands it to `terminal.py` (window width, colour), `formats.py` (Markdown, CSV, LaTeX,
JSON, HTML) or `printing.py` (whichever `--format` asks for). It imports records
alone, and whatever shows results may import it.
"""
