"""The judges as tools for a coding agent, over the Model Context Protocol.

`server` defines the tools, `tools` does their work, `session` holds the judges and the budget,
`folder` limits what can be read, and `replies` defines the replies. Nothing else imports it.
"""
