"""What the columns of a file of rows hold: layouts in wide use, guesses from a look at the first rows, and choices."""
