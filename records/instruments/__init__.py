"""Rows and files of the instruments of 2025 and 2026: rubrics, battles, question lists, the parts
of narratives. Imports `records` and `records.reading`; every folder above may import it, and files
of `records` that have such parts."""
