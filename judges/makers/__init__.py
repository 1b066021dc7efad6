"""Judges that write: key points, claims, queries, answers. Imports `judges`, `judges.lexical` and
backends; programs may import it, usually by names in `judges.table`."""
