"""Files for analysts: what a row holds (one module a level), how it is written (one module a format)."""
