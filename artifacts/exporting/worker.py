"""One conversion in a process of its own: a job comes in as JSON, the file goes out. It knows nothing of Django.

Where the content can't be had in that format it ends with ``PROBLEM``, and why goes out as JSON.
"""

import json
import sys
from pathlib import Path
from typing import Any

from artifacts.exporting import (
    PROBLEM,
    TABLE_FORMATS,
    ExportProblem,
    comma_separated,
    markdown_blocks,
    page,
    pdf,
    word,
    workbook,
)
from artifacts.exporting.tables import read_tables
from conversations.runtime import confinement

MEMORY_BYTES = 4 * 2**30


def main() -> None:
    confinement.limit(memory_bytes=MEMORY_BYTES)
    try:
        sys.stdout.buffer.write(convert(json.load(sys.stdin)))
    except ExportProblem as problem:
        json.dump({"code": problem.code, "message": problem.message}, sys.stdout)
        sys.exit(PROBLEM)


def convert(job: dict[str, Any]) -> bytes:
    title = job["title"]
    if job["as"] in TABLE_FORMATS:
        return _tables(job)
    blocks = markdown_blocks.parse_markdown(job["markdown"], title=title, note=job["note"])
    match job["as"]:
        case "html":
            return page.write(blocks, title=title)
        case "docx":
            return word.write(blocks, title=title)
    return pdf.write(blocks, title=title, npm=Path(job["npm"]))


def _tables(job: dict[str, Any]) -> bytes:
    tables = read_tables(job["content"], kind=job["kind"], title=job["title"])
    if not tables:
        raise ExportProblem("export_no_table", "There is no table in this artifact. Export it in another format.")
    return workbook.write(tables, title=job["title"]) if job["as"] == "xlsx" else comma_separated.write(tables)


if __name__ == "__main__":
    main()
