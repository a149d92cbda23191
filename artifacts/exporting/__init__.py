"""Artifacts as files: Markdown, a web page, Word and PDF, their tables as Excel and CSV, made from one reading of the content.

What is converted comes from a model or a stranger, so it is done in a process of its own that ends at a deadline, and nothing
in it is ever fetched, opened or run.
"""

from dataclasses import dataclass

FORMATS = ("source", "md", "html", "docx", "pdf", "xlsx", "csv")
TABLE_FORMATS = frozenset({"xlsx", "csv"})
"""Those that hold tables only."""
PROBLEM = 3
"""How the process of a conversion ends that raised an ``ExportProblem``."""


@dataclass(frozen=True, kw_only=True)
class ExportFile:
    filename: str
    media_type: str
    body: bytes


class ExportProblem(Exception):
    """Why content can't be had in a format: ``code`` for programs, ``message`` for people."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message
