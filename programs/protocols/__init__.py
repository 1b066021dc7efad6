"""One file or folder a program: what it asks, which files it writes, how they become scores;
`program` says what one is, `table` which there are. Imports engine, inputs and config; scoring,
pipelines, build, analysis, run and the command line may import it, and so may other packages."""
