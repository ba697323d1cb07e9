"""The same things from a terminal."""
