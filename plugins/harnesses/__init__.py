"""nuggetjudge's judges in the evaluation harnesses of other tools: one file for each tool.

Each file imports its tool, evaluates that tool's samples like `nuggetjudge.evaluate`, and returns
that tool's kind of score, with the judgements behind it. No other package imports this one.
"""
