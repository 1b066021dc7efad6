"""The judges as tools of a coding agent, over the Model Context Protocol.

`server` has the tools as a client sees them, `session` who judges, `budget` what may be spent,
`folder` what may be seen, `replies` what comes back; a file for what each tool does. Only the
command line imports it.
"""
