"""Labels into files and files into labels: what other commands read, and what others labelled.

`server/`, and the command line, may import it; it imports `work` and `store`.
"""
