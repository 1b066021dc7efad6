"""How files are written: from their beginning, line by line behind what is there, or given their
names all at once. An error of the disk names its file; a link that stands in the way is not
followed. Imports only `records.reading` of ours; every folder but metrics may import it."""
