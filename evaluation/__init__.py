"""nuggetjudge in Python, inside a development loop: run an evaluation, look at what it found.

What users call, over programs, calibration and report, and no more: how things are judged and
scored is below. The package's own names, exports, gates, integrations and the MCP server import it.
"""
