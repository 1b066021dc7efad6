"""The engine that runs judgements: stages, journals, sessions, executors and results folders.

It knows no task. It imports `inputs`, `config`, `judges` and `backends`.
"""
