"""Judges that make texts: nuggets, sub-questions, key points, claims, requests, answers. Imports
`judges`, `judges.lexical` and backends; programs may import it, most by the names in
`judges.table`."""
