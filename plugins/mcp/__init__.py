"""The judges as tools of a coding agent, over the Model Context Protocol.

`server` has the tools as a client sees them, `tools` what each does, `session` who judges and what
may be spent, `folder` what may be seen, `replies` what comes back. Nothing else
imports it.
"""
