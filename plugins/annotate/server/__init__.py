"""The local web server of `judge annotate`: access, requests and answers.

Only the command line may import it; it imports `live`, `work` and `store`.
"""
