"""What documents of Word, PowerPoint and OpenDocument have in common."""
