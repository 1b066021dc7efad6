"""What is judged, read and checked once: topics, passages, answers, coverage inputs, hostile text.
Imports config and records; everything above it in programs/ may import it."""
