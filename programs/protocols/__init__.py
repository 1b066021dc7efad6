"""One file or folder a program: what it asks, which files it writes, how they become scores.
Imports engine, inputs and config; scoring, pipelines, build, analysis and run import it."""
