"""Any artifact as Markdown."""

import csv
import io
import re

TABLE_RULE = re.compile(r"^ {0,3}\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$", re.MULTILINE)
SPECIAL = re.compile(r"([\\`*_\[\]<>|~&])")
NOT_DRAWN = {
    "html": "The source of an HTML page. To see the page, export it as HTML or open the artifact in Openbook.",
    "svg": "The source of an SVG picture. To see it, export the source or open the artifact in Openbook.",
    "mermaid": "The source of a Mermaid diagram. To see it, open the artifact in Openbook.",
}
LONGEST_CELL = 2**31 - 1
"""How long a whole artifact may be is decided elsewhere; the default of the csv module is less."""
FENCED_AS = {"html": "html", "svg": "xml", "mermaid": "mermaid"}


def as_markdown(kind: str, language: str, content: str) -> str:
    match kind:
        case "code":
            return fenced(content, language)
        case "html" | "svg" | "mermaid":
            return fenced(content, FENCED_AS[kind])
        case "table" if is_csv(content):
            return table(read_csv(content))
    return content


def fenced(text: str, language: str) -> str:
    """A code block, whatever stands in the code."""
    longest = max((len(run) for run in re.findall("`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    end = "" if text.endswith("\n") else "\n"
    return f"{fence}{re.sub(r'[\s`]+', '-', language.strip())}\n{text}{end}{fence}\n"


def is_csv(content: str) -> bool:
    """Whether the content of a table is not Markdown already."""
    return not (TABLE_RULE.search(content) and "|" in content)


def read_csv(content: str) -> list[list[str]]:
    """Rows of one length. The separator is the one that the first line has most of."""
    first = content.lstrip().partition("\n")[0]
    separator = max(",;\t|", key=first.count)
    csv.field_size_limit(LONGEST_CELL)
    rows = [row for row in csv.reader(io.StringIO(content.strip("\n")), delimiter=separator) if any(row)]
    width = max(map(len, rows), default=0)
    return [[cell.strip() for cell in row] + [""] * (width - len(row)) for row in rows]


def table(rows: list[list[str]]) -> str:
    """The first row is the heading."""
    lines = ["| " + " | ".join(map(_cell, row)) + " |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]]) + "\n" if rows else ""


def _cell(text: str) -> str:
    return re.sub(r"\r?\n|\r", "<br>", SPECIAL.sub(r"\\\1", text))
