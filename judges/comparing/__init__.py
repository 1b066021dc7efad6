"""Judges that set texts side by side: windows of passages in order. Imports
`judges`, `judges.lexical` and backends; programs may import it, most by the names in
`judges.table`."""
