"""Artifacts as files: everything that was written is in them, and nothing in them acts."""

import io
import re
import zipfile
from typing import Any

import pypdf
import pytest
from docx import Document
from docx.oxml.ns import qn

from artifacts.exporting import markdown_blocks, page, pdf, word
from artifacts.exporting.convert import export
from artifacts.exporting.markdown import as_markdown, is_csv, read_csv
from artifacts.exporting.names import file_name
from artifacts.services import ArtifactError

DOCUMENT = """\
# Requirements for the portal

Text with **strong**, *slanted*, ~~struck~~ and `code()`. See [the plan](https://example.com/plan).

> A quote.

3. Third
   - below it
     - deeper
- [x] Interviews
- [ ] Budget

| ID | Requirement |
|----|------------:|
| R-1 | Download every<br>invoice \\| bill |

```python
def answer() -> int:
    return 42
```
---
Требования · Απαιτήσεις · 要求 · お客様 · العميل · ✅
"""
TOLD = [
    *(
        "Requirements for the portal",
        "strong",
        "slanted",
        "struck",
        "code()",
        "the plan",
        "A quote.",
        "Third",
        "below it",
    ),
    *("deeper", "Interviews", "Budget", "Requirement", "R-1", "Download every", "def answer() -> int:", "return 42"),
    *("Требования", "Απαιτήσεις", "要求", "お客様", "✅"),
]
HOSTILE = """\
<script>alert(1)</script> <img src=x onerror=alert(2)> <!-- hidden -->

[click](javascript:alert(3)) [data](data:text/html,x) [file](file:///etc/passwd) ![plan](https://evil.example/a.png)

![local](/etc/passwd) #read("/etc/passwd") \\") #import "@preview/x:1.0.0" <a href="javascript:x">link</a> Vec<String>
"""


def export_bytes(content: str, as_: str, kind: str = "document", title: str = "Plan") -> bytes:
    return export(title=title, kind=kind, language="python", content=content, as_=as_).body


def pdf_text(file: bytes) -> str:
    return "\n".join(each.extract_text() for each in pypdf.PdfReader(io.BytesIO(file)).pages).replace("\u200b", "")


def word_text(file: bytes) -> str:
    paragraphs = Document(io.BytesIO(file)).element.body.iter(qn("w:p"))
    return "\n".join(paragraph.text for paragraph in paragraphs)


READERS: dict[str, Any] = {"html": bytes.decode, "docx": word_text, "pdf": pdf_text}


@pytest.mark.once("docx")
@pytest.mark.parametrize("as_", READERS)
def test_everything_that_a_document_says_is_in_its_export(as_: str) -> None:
    text = READERS[as_](export_bytes(DOCUMENT, as_)).replace("&gt;", ">")
    assert [told for told in TOLD if told not in text] == []
    assert "▯" not in text


def test_a_page_is_what_the_markdown_means() -> None:
    made = page.write(
        markdown_blocks.parse_markdown("- [x] a\n  1. **b** [c](https://x.example)", title="T"), title="T<"
    ).decode()
    assert "<title>T&lt;</title>" in made
    assert made.partition("<body>\n")[2] == (
        '<h1 dir="auto">T</h1>\n'
        '<ul dir="auto">\n<li class="task"><input type="checkbox" disabled checked>a\n'
        '<ol start="1" dir="auto">\n<li><strong>b</strong> '
        '<a href="https://x.example" rel="noopener noreferrer">c</a></li>\n</ol></li>\n</ul>\n'
        "</body>\n</html>\n"
    )


def test_a_word_file_has_words_own_headings_lists_links_and_tables() -> None:
    document = Document(io.BytesIO(export_bytes(DOCUMENT, "docx")))
    styles = [each.style.name for each in document.paragraphs if each.style]
    assert (styles[0], "Code" in styles) == ("Heading 1", True)
    assert [link.url for each in document.paragraphs for link in each.hyperlinks] == ["https://example.com/plan"]
    assert [[cell.text for cell in row.cells] for row in document.tables[0].rows] == [
        ["ID", "Requirement"],
        ["R-1", "Download every\ninvoice | bill"],
    ]
    numbered = [each.text for each in document.paragraphs if each._p.pPr is not None and each._p.pPr.numPr is not None]
    assert numbered == ["Third", "below it", "deeper"]
    assert [each.text for each in document.paragraphs if each.text[:1] in "☐☒" and each.text] == [
        "☒ Interviews",
        "☐ Budget",
    ]


def test_a_pdf_has_an_outline_its_title_and_its_links() -> None:
    made = export_bytes(DOCUMENT, "pdf", title="Портал")
    found = pypdf.PdfReader(io.BytesIO(made))
    outline: Any = found.outline
    assert found.metadata
    assert (found.metadata.title, [each.title for each in outline]) == ("Портал", ["Requirements for the portal"])
    assert b"(https://example.com/plan)" in made


@pytest.mark.once("html")
@pytest.mark.parametrize("as_", READERS)
def test_nothing_hostile_acts_or_is_fetched(as_: str) -> None:
    made = export_bytes(HOSTILE, as_)
    text = READERS[as_](made)
    assert [word for word in ("root:", "hidden") if word in text] == []
    assert [
        word for word in ("click", "data", "file", "plan", "local", "#read(", "link", "String") if word not in text
    ] == []
    if as_ == "docx":
        with zipfile.ZipFile(io.BytesIO(made)) as archive:
            made = archive.read("word/_rels/document.xml.rels")
    assert [word for word in (b"javascript:", b"file:///", b"data:", b"<script", b"<img") if word in made] == []


def test_letters_without_a_font_are_told_of_in_the_pdf() -> None:
    text = " ".join(pdf_text(export_bytes("English and \u0997\u09cd\u09b0 \U00012000", "pdf")).split())
    assert "Some letters have no font here (Bengali, Cuneiform) and are shown as ▯" in text
    assert "English and ▯▯▯ ▯" in text


@pytest.mark.once("content0")
@pytest.mark.parametrize("content", [">" * 1_000 + " deep", "".join("  " * n + f"- deep {n}\n" for n in range(1_000))])
def test_what_is_too_deep_to_lay_out_is_shown_as_it_is_written(content: str) -> None:
    blocks = markdown_blocks.parse_markdown(content, title="Deep")
    assert [type(block).__name__ for block in blocks] == ["Heading", "NoteBlock", "Code"]
    assert content in word_text(word.write(blocks, title="Deep"))


def test_as_deep_as_a_list_may_be_it_is_laid_out(settings: Any) -> None:
    depth = markdown_blocks.DEEPEST
    content = "".join("  " * n + f"- level {n}\n" for n in range(depth)) + "\n\n" + ">" * depth + " **quoted**"
    blocks = markdown_blocks.parse_markdown(content, title="Deep")
    assert [type(block).__name__ for block in blocks] == ["Heading", "ListBlock", "Quote"]
    text = pdf_text(pdf.write(blocks, title="Deep", npm=settings.BASE_DIR / "node_modules"))
    assert [n for n in range(depth) if f"level {n}" not in text] == []
    assert "quoted" in text


def test_a_conversion_ends_at_its_deadline(settings: Any) -> None:
    settings.OPENBOOK_EXPORT_SECONDS = 0.01
    with pytest.raises(ArtifactError) as refused:
        export_bytes("# A", "pdf")
    assert (refused.value.code, refused.value.details) == ("export_too_long", {"seconds": 0.01})


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(ArtifactError, match="`as` is one of source, md, html, docx, pdf, xlsx, csv"):
        export_bytes("# A", "rtf")


CSV = 'name;sum\n"Weber; Sons";=1+2\n"two\nlines";|x|\n\nshort\n'


def test_a_csv_table_is_read_as_it_is_meant() -> None:
    rows = [["name", "sum"], ["Weber; Sons", "=1+2"], ["two\nlines", "|x|"], ["short", ""]]
    assert (is_csv(CSV), is_csv("| a |\n|---|\n| b |"), read_csv(CSV)) == (True, False, rows)
    tables = Document(io.BytesIO(export_bytes(CSV, "docx", kind="table"))).tables
    assert [[cell.text for cell in row.cells] for row in tables[0].rows] == rows
    assert export_bytes(CSV, "md", kind="table").decode() == (
        "| name | sum |\n| --- | --- |\n| Weber; Sons | =1+2 |\n| two<br>lines | \\|x\\| |\n| short |  |\n"
    )


@pytest.mark.wide
@pytest.mark.long
def test_a_large_table_is_laid_out_in_time() -> None:
    rows = "\n".join(f"{number},Customer {number},{number * 3}" for number in range(500))
    text = pdf_text(export_bytes(f"number,name,tripled\n{rows}", "pdf", kind="table"))
    pages = text.count("Plan ")  # the title at the foot of each
    assert (text.count("Customer "), text.count("tripled")) == (500, pages)


@pytest.mark.once("12")
@pytest.mark.parametrize("width", [12, 40])
def test_a_wide_table_loses_no_column(width: int) -> None:
    cells = [f"c{number}" for number in range(width)]
    text = pdf_text(export_bytes(",".join(cells) + "\n" + ",".join(cells), "pdf", kind="table"))
    assert [cell for cell in cells if not re.search(rf"{cell}\b", text)] == []


@pytest.mark.parametrize(
    ("kind", "content", "as_", "name", "media_type"),
    [
        ("document", "# A", "source", "Plan.md", "text/markdown; charset=utf-8"),
        ("code", "x = 1", "source", "Plan.py", "text/plain; charset=utf-8"),
        ("code", "x = 1", "md", "Plan.md", "text/markdown; charset=utf-8"),
        ("html", "<p>", "html", "Plan.html", "text/html; charset=utf-8"),
        ("svg", "<svg/>", "source", "Plan.svg", "image/svg+xml"),
        ("mermaid", "graph TD", "source", "Plan.mmd", "text/plain; charset=utf-8"),
        ("table", "a,b\n1,2", "source", "Plan.csv", "text/csv; charset=utf-8"),
        ("table", "|a|\n|-|\n|1|", "source", "Plan.md", "text/markdown; charset=utf-8"),
    ],
)
def test_a_source_is_the_content_as_it_is(kind: str, content: str, as_: str, name: str, media_type: str) -> None:
    made = export(title="Plan", kind=kind, language="python", content=content, as_=as_)
    body = b"```python\nx = 1\n```\n" if as_ == "md" else content.encode()
    assert (made.filename, made.media_type, made.body) == (name, media_type, body)


def test_what_can_not_be_drawn_is_shown_as_its_source_and_says_so() -> None:
    assert as_markdown("svg", "", "<svg>```` </svg>") == "`````xml\n<svg>```` </svg>\n`````\n"
    text = word_text(export_bytes("<svg/>", "docx", kind="svg"))
    assert text.split("\n")[:3] == [
        "Plan",
        "The source of an SVG picture. To see it, export the source or open the artifact in Openbook.",
        "<svg/>",
    ]


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Лист / план: №1?", "Лист - план- №1.md"),
        ("../../etc/passwd", "etc-passwd.md"),
        ("report.md", "report.md"),
        ("CON", "CON_.md"),
        ("a\u202egpj.exe\x00\n b", "agpj.exe b.md"),
        ("…", "….md"),
        ("...", "untitled.md"),
        ("ж" * 200, "ж" * 75 + ".md"),
    ],
)
def test_a_title_becomes_a_name_that_every_system_takes(title: str, name: str) -> None:
    assert file_name(title, "md") == name
