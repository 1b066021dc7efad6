"""The local web server of `judge annotate`: who may ask what, and what they are answered.

Only the command line may import it; it imports `live`, `work` and `store`.
"""
