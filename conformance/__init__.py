"""What a memory for chat has to do, asked of it over HTTP: ``python -m conformance URL --token T``."""
