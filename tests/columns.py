"""How long lines and functions are: `python -m tests.columns`.

No line of a template, script, style sheet or Makefile is longer than 120 characters. The linter counts those of Python; what
it lets through may still take more than 128 bytes, with letters of several. No function of the product has more than 60 lines,
without its decorators. Subjects of the latest commits have at most 72 characters.
"""

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

LONGEST = 120
MOST_BYTES = 128
LONGEST_FUNCTION = 60
LONGEST_SUBJECT = 72
LATEST = 20
"""Commits whose subjects are looked at; earlier ones had no such rule."""
ROOT = Path(__file__).parent.parent
FOLDERS = ["artifacts", "clients", "config", "conversations", "memory", "templates", "tests", "types"]
ENDINGS = {".css", ".ts", ".html", ".js", ".sh", ".svg", ".yml"}
PRODUCT = ["artifacts", "config", "conversations", "memory"]
MAY_BE_LONG = {"migrations/*.py", "tests/browser/ways_out.py", "tests/browser/markup.py"}


def files(root: Path) -> Iterator[Path]:
    yield from (root / name for name in ("Makefile", "eslint.config.js", "tsconfig.json", "package.json"))
    for folder in FOLDERS:
        yield from (path for path in (root / folder).rglob("*") if path.suffix in ENDINGS)


def modules(root: Path) -> Iterator[Path]:
    for folder in FOLDERS:
        yield from (path for path in (root / folder).rglob("*.py") if not any(map(path.match, MAY_BE_LONG)))


def product_modules(root: Path) -> Iterator[Path]:
    yield root / "manage.py"
    for folder in PRODUCT:
        yield from (path for path in (root / folder).rglob("*.py") if not path.match("migrations/*.py"))


def long_functions(source: str) -> Iterator[tuple[int, str, int]]:
    """Line, name and length of each that is too long."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > LONGEST_FUNCTION:
                yield node.lineno, node.name, length


def problems(root: Path) -> Iterator[str]:
    for path in files(root):
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            if len(line) > LONGEST:
                yield f"{path.relative_to(root)}:{number}: {len(line)} characters, {LONGEST} are the most"
    for path in modules(root):
        for number, raw in enumerate(path.read_bytes().splitlines(), start=1):
            if len(raw) > MOST_BYTES:
                yield f"{path.relative_to(root)}:{number}: {len(raw)} bytes, {MOST_BYTES} are the most"
    for path in product_modules(root):
        for number, name, length in long_functions(path.read_text()):
            yield f"{path.relative_to(root)}:{number}: {name} has {length} lines, {LONGEST_FUNCTION} are the most"


def subjects(root: Path) -> list[str]:
    """Of the latest commits; none where there is no Git, or no history."""
    try:
        log = subprocess.run(
            ["git", "log", f"--max-count={LATEST}", "--format=%h: %s"],
            cwd=root, capture_output=True, text=True, check=True,
        )  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        return []
    return log.stdout.splitlines()


def long_subjects(subjects: Iterable[str]) -> Iterator[str]:
    for line in subjects:
        commit, _, subject = line.partition(": ")
        if len(subject) > LONGEST_SUBJECT:
            yield f"{commit}: a subject of {len(subject)} characters, {LONGEST_SUBJECT} are the most"


def main() -> int:
    found = [*problems(ROOT), *long_subjects(subjects(ROOT))]
    sys.stderr.writelines(f"{problem}\n" for problem in found)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
