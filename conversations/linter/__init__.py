"""What of an assistant's requests is paid for and of no use, found by statements over the recorded requests."""
