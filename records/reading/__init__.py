"""How files are read: lines and their numbers, checked fields, YAML with line numbers, paths beside
their file, problems as `file:line`. Imports rows of `records`, no other folder of ours, orjson,
PyYAML and pydantic; every folder but metrics may import it."""
