"""One file per verb: each holds its permission, its one transaction, its rows and its event."""
