"""What judging a document set is made of: its texts, its claims and questions, and the writing of answers."""
