"""How moments and days are written, by language, where a template or the admin does not say: in 24 hours."""
