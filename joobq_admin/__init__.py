"""JoobQ Admin: JoobQ's dead letters, to look at and to redrive."""
