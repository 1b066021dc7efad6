"""The lexical twin of every judge: word overlap instead of a model. Imports the modules of
`judges` that ask nothing (labels, segments); each judge imports its twin, calibration overlap."""
