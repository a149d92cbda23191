"""Presentations of PowerPoint."""
