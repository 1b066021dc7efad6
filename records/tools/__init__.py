"""Folders and files of other tools, read as ours and written as theirs. Imports `records`,
`records.reading`, `records.writing`, `records.instruments` and, of folders, `records.labels`; every
folder above may import it."""
