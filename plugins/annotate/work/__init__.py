"""The items to label and their order: tasks, queues, nuggets, key points, disputes.

`annotation/live`, `out` and `server` may import it; it imports `annotation/store`, records,
programs, and of judges those that are YAML files.
"""
