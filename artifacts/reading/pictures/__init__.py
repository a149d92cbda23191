"""Pictures, in files and by themselves, and what stands in them, read by a machine."""
