"""Parts that all views of the JSON API share."""
