"""A file is what stands in it, whatever it is called."""

import io
import shutil
import struct
import zipfile
from pathlib import Path

import pytest
from PIL import Image

from artifacts.reading.kinds import Kind, detect
from artifacts.reading.problems import FileProblem
from tests.artifacts.reading.cases.kinds import compound
from tests.artifacts.reading.helpers import SAMPLES

KINDS = {
    "report.odt": (Kind.DOCUMENT, "odt"),
    "report.docx": (Kind.DOCUMENT, "docx"),
    "report.pdf": (Kind.PDF, "pdf"),
    "report.epub": (Kind.BOOK, "epub"),
    "budget.ods": (Kind.SHEET, "ods"),
    "budget.xlsx": (Kind.SHEET, "xlsx"),
    "budget.xls": (Kind.SHEET, "xls"),
    "talk.odp": (Kind.SLIDES, "odp"),
    "talk.pptx": (Kind.SLIDES, "pptx"),
    "photo.jpg": (Kind.IMAGE, "jpg"),
    "photo.heic": (Kind.IMAGE, "heic"),
    "photo.png": (Kind.IMAGE, "png"),
    "photo.webp": (Kind.IMAGE, "webp"),
    "photo.gif": (Kind.IMAGE, "gif"),
    "page.html": (Kind.PAGE, "html"),
}

MAIL = "Received: by here\r\nFrom: a@example.com\r\nTo: b@example.com\r\nSubject: Hi\r\n\r\nBody\r\n"

TEXTS = [
    ("a.md", "# Head\n", (Kind.TEXT, "text/markdown", "md")),
    ("a.csv", "a;b\n1;2\n", (Kind.TEXT, "text/csv", "csv")),
    ("a.json", '{"a": 1}', (Kind.TEXT, "application/json", "json")),
    ("a.py", "import os\n", (Kind.TEXT, "text/x-code", "py")),
    ("Dockerfile", "FROM scratch\n", (Kind.TEXT, "text/x-code", "dockerfile")),
    (
        "a.svg",
        "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        (Kind.TEXT, "text/x-code", "svg"),
    ),
    ("notes", "Just words.", (Kind.TEXT, "text/plain", "txt")),
    ("photo.png", "No picture at all.", (Kind.TEXT, "text/plain", "txt")),
    ("saved", "<!DOCTYPE html>\n<html><body>x", (Kind.PAGE, "text/html", "html")),
    ("saved.txt", "<!DOCTYPE html>\n<html><body>x", (Kind.TEXT, "text/plain", "txt")),
    ("part.htm", "<p>a piece</p>", (Kind.PAGE, "text/html", "html")),
    ("message", MAIL, (Kind.MAIL, "message/rfc822", "eml")),
    ("message.eml", MAIL, (Kind.MAIL, "message/rfc822", "eml")),
    ("letter.txt", MAIL, (Kind.TEXT, "text/plain", "txt")),
]

REFUSED = [
    (b"", "empty", "The file is empty."),
    (b" \n\n", "empty", "The file is empty."),
    (b"{\\rtf1 x}", "unknown_type", "Rich Text"),
    (b"\x7fELF\2\1\1", "unknown_type", "a program"),
    (b"\0\0\0\x18ftypmp42", "unknown_type", "a film"),
    (b"\x1f\x8b\x08\0", "unknown_type", "a packed archive"),
    (bytes(range(256)) * 40, "unknown_type", "can't be said"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "WordDocument".encode("utf-16-le"), "damaged", "cut off"),
]


@pytest.mark.parametrize("name", KINDS)
def test_a_file_is_known_by_its_content(name: str, tmp_path: Path) -> None:
    renamed = tmp_path / "holiday.mp3"
    shutil.copy(SAMPLES / name, renamed)
    found = detect(renamed, "holiday.mp3")
    assert (found.kind, found.extension) == KINDS[name]


@pytest.mark.parametrize(("name", "content", "expected"), TEXTS, ids=[name for name, _, _ in TEXTS])
def test_the_name_decides_among_texts(name: str, content: str, expected: object, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(content.encode())
    found = detect(file, name)
    assert (found.kind, found.media_type, found.extension) == expected


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "cp1251", "shift-jis"])
def test_text_is_text_in_any_encoding(encoding: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    words = {"shift-jis": "こんにちは", "cp1251": "Привет"}.get(encoding, "Grüße ")
    file.write_bytes((words * 50).encode(encoding))
    assert detect(file, "a.txt").kind == Kind.TEXT


@pytest.mark.parametrize(("content", "code", "words"), REFUSED)
def test_what_can_not_be_read_is_refused_in_words(content: bytes, code: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    with pytest.raises(FileProblem, match=words) as refused:
        detect(file, "a.pdf")
    assert refused.value.code == code


def test_an_archive_of_other_things_is_no_document(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.docx", "w") as archive:
        archive.writestr("holiday.txt", "x")
    with pytest.raises(FileProblem, match="Unpack it"):
        detect(tmp_path / "a.docx", "a.docx")


BOF = struct.pack("<HH", 0x809, 16) + bytes(16)
OLD = [
    (compound({"Workbook": BOF}, {"WordDocument": b"x"}), "", ""),
    (compound({"Book": BOF}), "", ""),
    (compound({"Workbook": BOF + struct.pack("<HH", 0x2F, 54)}), "encrypted", "password"),
    (compound({"WordDocument": b"x", "1Table": b"x"}, {"Workbook": BOF}), "unknown_type", ".doc"),
    (compound({"PowerPoint Document": b"x"}, {"Workbook": BOF}), "unknown_type", ".ppt"),
    (compound({"EncryptedPackage": "Workbook".encode("utf-16-le")}), "encrypted", "password"),
    (compound({"__properties_version1.0": b"x"}), "unknown_type", "Outlook"),
    (compound({"VisioDocument": b"x"}), "unknown_type", "Visio"),
    (compound({"Other": b"WordDocument"}), "unknown_type", "can't be said"),
    (compound({"Workbook": BOF})[:600], "damaged", "cut off"),
]


@pytest.mark.parametrize(("content", "code", "words"), OLD)
def test_an_old_office_file_is_what_lies_at_its_top(content: bytes, code: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    if not code:
        assert detect(file, "a.xls").extension == "xls"
        return
    with pytest.raises(FileProblem, match=words) as refused:
        detect(file, "a.xls")
    assert refused.value.code == code


def test_circles_in_the_directory_of_an_old_office_file_end(tmp_path: Path) -> None:
    content = bytearray(compound({"Workbook": BOF, "Other": b"x"}))
    content[512:516] = struct.pack("<I", 1)  # the sector after the table's own
    content[516:520] = struct.pack("<I", 1)  # the directory goes on with itself
    content[1024 + 128 + 68 : 1024 + 128 + 76] = struct.pack("<II", 1, 2)
    (tmp_path / "a.xls").write_bytes(content)
    assert detect(tmp_path / "a.xls", "a.xls").extension == "xls"


@pytest.mark.parametrize(
    ("member", "words"),
    [
        ("Index/Document.iwa", "Apple's Pages, Numbers or Keynote, .* Export it as PDF"),
        ("Index.zip", "Export it"),
        ("index.apxl", "Keynote"),
        ("visio/document.xml", "Visio"),
        ("FixedDocSeq.fdseq", "XPS"),
        ("holiday.txt", "Unpack it"),
    ],
)
def test_what_is_an_archive_is_told_by_its_members(member: str, words: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a", "w") as archive:
        archive.writestr(member, "x")
    with pytest.raises(FileProblem, match=words):
        detect(tmp_path / "a", "a.pages")


@pytest.mark.parametrize("name", ["report.fodt", "budget.fods"])
def test_flat_files_of_opendocument_are_not_shown_as_code(name: str) -> None:
    with pytest.raises(FileProblem, match="flat OpenDocument"):
        detect(SAMPLES / name, name)


def test_an_encrypted_office_file_is_known_as_such() -> None:
    with pytest.raises(FileProblem, match="password") as refused:
        detect(SAMPLES / "locked.docx", "locked.docx")
    assert refused.value.code == "encrypted"


@pytest.mark.parametrize("way", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_archives_that_unpack_without_bound_are_not_opened(way: int, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.docx", "w", way) as archive:
        archive.writestr("[Content_Types].xml", " " * 1_000_000)
    with pytest.raises(FileProblem) as refused:
        detect(tmp_path / "a.docx", "a.docx")
    assert refused.value.code == "damaged"


def test_an_endless_table_of_contents_is_not_held_in_memory(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.docx", "w") as archive:
        for number in range(300):
            archive.writestr(f"{'long' * 4_000}{number}", "")
    with pytest.raises(FileProblem) as refused:
        detect(tmp_path / "a.docx", "a.docx")
    assert refused.value.code == "too_many_parts"


def test_a_picture_of_few_bytes_is_no_text_though_most_of_them_are_letters(tmp_path: Path) -> None:
    file = io.BytesIO()
    Image.new("RGB", (320, 240), "teal").save(file, "PNG")
    (tmp_path / "file.txt").write_bytes(file.getvalue())
    assert detect(tmp_path / "file.txt", "file.txt").kind is Kind.IMAGE
