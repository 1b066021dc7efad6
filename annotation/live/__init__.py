"""What the labels say so far: corrected scores, agreement, how people label, progress.

`server/` may import it; it imports `out`, `work` and `store`.
"""
