"""What all views of the JSON API share."""
