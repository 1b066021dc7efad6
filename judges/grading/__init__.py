"""Judges that hold an answer against criteria. Imports `judges`, `judges.lexical` and backends;
programs may import it, most by the names in `judges.table`."""
