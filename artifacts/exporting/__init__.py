"""Artifacts as files: Markdown, a web page, Word and PDF, made from one reading of the content.

What is converted comes from a model or a stranger, so it is done in a process of its own that ends at a deadline, and nothing
in it is ever fetched, opened or run.
"""

from dataclasses import dataclass

FORMATS = ("source", "md", "html", "docx", "pdf")


@dataclass(frozen=True, kw_only=True)
class ExportFile:
    filename: str
    media_type: str
    body: bytes
