"""Texts, presentations and sheets of OpenDocument."""
