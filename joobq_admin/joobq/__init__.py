"""JoobQ's dead-letter queue in Python: its contract, its bytes and its scripts, without any web framework."""
