"""The judges as tools of a coding agent, over the Model Context Protocol.

Only the command line imports it.
"""
