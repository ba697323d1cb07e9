"""Who is this, and what may they do."""
