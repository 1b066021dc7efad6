"""Folders that nuggetizer or RAGDoll judged, recognised and read as results.

An entry point `nuggetjudge.folders` names them to the core. A task takes their files by a function
that an entry point `nuggetjudge.tool_files` names. May import the core, and `plugins.exports`.
"""
