"""Parts that all web views share."""
