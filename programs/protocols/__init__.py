"""The tasks, one file or folder each: what a task asks, its files, and its scores.

`program` has the base class, `table` the list of tasks. This folder imports `engine`, `inputs` and
`config`.
"""
