"""Rows and files of the instruments of 2025 and 2026: rubrics, battles, question lists. Imports
`records` and `records.reading`; every folder above may import it."""
