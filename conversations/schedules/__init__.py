"""Messages that are sent at a time: whose they are, when they are due, the sending."""
