"""The task `rubric`: rubrics, the criteria that answers meet, and their scores.

It imports `engine`, `config`, `metrics` and `records`. No other folder of the package imports it:
they find it in the table of tasks.
"""
