"""Our judges inside other tools' harnesses: one file a tool, which imports that tool.

Each takes that tool's samples, evaluates them as `nuggetjudge.evaluate` does, and hands back that
tool's kind of score with what it rests on. Nothing of ours imports it.
"""
