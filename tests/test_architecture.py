"""What the documents say of the code: rooms, paths and settings are there, and links lead somewhere."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.processes import ROOT
from tests.test_house import APPS, rows

DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
ARCHITECTURE = ROOT / "docs" / "architecture.md"
TOP_FOLDERS = ("artifacts", "config", "conversations", "docs", "memory", "templates", "tests")
CODE_BLOCK = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`]+)`")
PATH = re.compile(rf"(?:{'|'.join(TOP_FOLDERS)})/[\w./-]*")
FILE = re.compile(rf"{PATH.pattern}\.(?:py|js|md|html|json|css)")
LINK = re.compile(r"\]\(([^)\s]+)\)")
ELSEWHERE = re.compile(r"https?:|mailto:|/")
"""A link that leads out of the repository, or to an address of the server."""


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def prose(document: Path) -> str:
    return CODE_BLOCK.sub("", document.read_text(encoding="utf-8"))


def picture() -> list[set[str]]:
    """The rows of the house as the table of the architecture has them."""
    lines = [line for line in prose(ARCHITECTURE).splitlines() if line.startswith("|")]
    first = next(number for number, line in enumerate(lines) if line.startswith("| row |"))
    table = []
    for line in lines[first + 2 :]:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 1 + len(APPS):
            break
        table.append(
            {f"{app}.{room}" for app, cell in zip(APPS, cells[1:], strict=True) for room in CODE.findall(cell)}
        )
    return table


def anchors(document: Path) -> Iterator[str]:
    """What a heading is linked to by, as the usual hosts make it."""
    for heading in re.findall(r"^#+ (.+)$", prose(document), re.MULTILINE):
        words = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower())
        yield words.replace(" ", "-")


def test_the_picture_of_the_house_is_the_import_contract() -> None:
    assert picture() == [row for row in rows() if row != {"config"}]


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_each_file_that_a_document_names_is_there(document: Path) -> None:
    pattern = PATH if document == ARCHITECTURE or document.parent.name == "decisions" else FILE
    paths = {code for code in CODE.findall(prose(document)) if pattern.fullmatch(code)}
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_each_link_leads_somewhere(document: Path) -> None:
    broken = []
    for link in LINK.findall(prose(document)):
        if ELSEWHERE.match(link):
            continue
        path, _, anchor = unquote(link).partition("#")
        target = (document.parent / path).resolve() if path else document
        if not target.exists() or (anchor and anchor not in set(anchors(target))):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("index", [ROOT / "docs" / "README.md", ROOT / "docs" / "decisions" / "README.md"], ids=name)
def test_an_index_has_each_document_beside_it(index: Path) -> None:
    assert {path.name for path in index.parent.glob("*.md")} - {index.name} - set(LINK.findall(prose(index))) == set()


def test_the_readme_is_a_page() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 200


def test_each_setting_of_the_environment_is_documented() -> None:
    names = set(re.findall(r"\benv(?:_list|_switch)?\(\s*\"(\w+)\"", (ROOT / "config" / "settings.py").read_text()))
    documented = set(re.findall(r"\b[A-Z][A-Z0-9_]+\b", (ROOT / "docs" / "configuration.md").read_text()))
    assert names - documented == set()
