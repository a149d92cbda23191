"""The Claude CLI: which one the tests fetch, and a stand-in that plays its faults."""
