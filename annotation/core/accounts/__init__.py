"""What accounts stand on: from where people come, what happened to their accounts, tokens, and turns at mail."""
