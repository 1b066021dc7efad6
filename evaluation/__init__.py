"""nuggetjudge in Python, inside a development loop: run an evaluation, look at what it found.

What users call, over programs, calibration and report, and no more: how things are judged and
scored is below. Only the command line, and the package's own names, import it.
"""
