"""Reading of files: lines with numbers, checked fields, YAML with line numbers, paths relative to
their file, problems as `file:line`. Imports rows of `records`, orjson, PyYAML and pydantic; every
folder but metrics may import it."""
