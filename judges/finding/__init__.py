"""Judges that look for one thing in a single sentence, such as an accepted answer to a question.
Imports `judges`, `judges.lexical` and backends; programs may import it, most by the names in
`judges.table`."""
