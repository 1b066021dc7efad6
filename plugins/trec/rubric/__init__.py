"""The task `rubric`: rubrics, the criteria that answers meet, and their scores.

It imports `engine`, `config`, `metrics` and `records`. Other folders do not
import it; they find the task in the table of tasks.
"""
