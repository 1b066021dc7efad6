"""The lexical twin of every judge: word overlap instead of a model, and quotes looked for in
texts. Imports the modules of `judges` that ask nothing (labels, segments) and records; each
judge may import its twin, calibration the overlap."""
