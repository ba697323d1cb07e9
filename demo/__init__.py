"""The dashboard over made-up dead letters: what `make run` starts."""
