"""Parts that all pages share."""
