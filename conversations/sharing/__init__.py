"""Read-only links to a thread up to a turn, or to one artifact: made and revoked, opened by whoever has them, copied."""
