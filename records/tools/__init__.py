"""Folders and files of other tools, read as ours and written as theirs. Imports `records`,
`records.reading`, `records.writing` and `records.labels`; every
folder above may import it."""
