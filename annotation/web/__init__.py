"""What all web views share."""
