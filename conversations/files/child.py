"""The process that reads one file. It knows nothing of Django, and no secrets."""
