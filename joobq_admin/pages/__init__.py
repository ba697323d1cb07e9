"""HTTP: a page for people, a fragment for htmx."""
