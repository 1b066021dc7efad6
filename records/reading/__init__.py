"""How files are read: lines and their numbers, checked fields, YAML with line numbers, problems as
`file:line`. Standard parts and pydantic only; every folder may import it."""
