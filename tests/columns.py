"""No line of a template, script, style sheet or Makefile is longer than 120 characters: `python -m tests.columns`."""

import sys
from collections.abc import Iterator
from pathlib import Path

LONGEST = 120
ROOT = Path(__file__).parent.parent
FOLDERS = ["artifacts", "config", "conversations", "memory", "templates", "tests", "types"]
ENDINGS = {".css", ".ts", ".html", ".js", ".sh", ".svg", ".yml"}


def files(root: Path) -> Iterator[Path]:
    yield from (root / name for name in ("Makefile", "eslint.config.js", "tsconfig.json", "package.json"))
    for folder in FOLDERS:
        yield from (path for path in (root / folder).rglob("*") if path.suffix in ENDINGS)


def long_lines(path: Path) -> Iterator[tuple[int, int]]:
    """The number of each line that is too long, and its length."""
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if len(line) > LONGEST:
            yield number, len(line)


def main() -> int:
    problems = [
        f"{path.relative_to(ROOT)}:{number}: {length} characters, {LONGEST} are the most"
        for path in files(ROOT)
        for number, length in long_lines(path)
    ]
    sys.stderr.writelines(f"{problem}\n" for problem in problems)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
