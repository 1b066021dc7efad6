"""Files that agents write, and their readers. Imports `records` and `records.reading`; every folder
above may import it."""
