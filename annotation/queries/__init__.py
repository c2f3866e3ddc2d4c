"""What doors read, one noun a module; nothing here writes."""
