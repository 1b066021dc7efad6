"""Judges that write: key points, claims, queries, answers. Imports `judges`, `judges.lexical` and
backends; programs may import it, most by the names in `judges.table`."""
