"""Texts, Markdown and notebooks, and their encodings."""
