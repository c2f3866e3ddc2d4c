"""How far ratings of the same items agree."""
