"""How files are read: lines and their numbers, checked fields, YAML with line numbers, problems as
`file:line`. Imports no other folder of ours, only orjson and PyYAML; every folder but metrics may
import it."""
