"""What is judged, read and checked once: topics, passages, answers, coverage inputs, hostile
text. Imports config and records; everything above it in programs/, calibration and the command
line may import it."""
