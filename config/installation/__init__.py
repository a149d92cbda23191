"""The configuration of an installation as one file: what stands in it, how it is written, compared and applied."""
