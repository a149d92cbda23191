"""One conversion in a process of its own: a job comes in as JSON, the file goes out. It knows nothing of Django."""

import json
import sys
from pathlib import Path
from typing import Any

from artifacts.exporting import markdown_blocks, page, pdf, word
from conversations.runtime import confinement

MEMORY_BYTES = 4 * 2**30


def main() -> None:
    confinement.limit(memory_bytes=MEMORY_BYTES)
    sys.stdout.buffer.write(convert(json.load(sys.stdin)))


def convert(job: dict[str, Any]) -> bytes:
    title = job["title"]
    blocks = markdown_blocks.parse_markdown(job["markdown"], title=title, note=job["note"])
    match job["as"]:
        case "html":
            return page.write(blocks, title=title)
        case "docx":
            return word.write(blocks, title=title)
    return pdf.write(blocks, title=title, npm=Path(job["npm"]))


if __name__ == "__main__":
    main()
