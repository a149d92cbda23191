"""Twins of ordinary files that are meant to harm. Each function writes one into a folder."""

import base64
import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.artifacts.reading.helpers import SAMPLES

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
LAUGHS = "<!DOCTYPE x [<!ENTITY a0 'haha'>{}]>".format(
    "".join(f"<!ENTITY a{level} '{f'&a{level - 1};' * 10}'>" for level in range(1, 12))
)


def rewritten(name: str, target: Path, change: dict[str, Callable[[bytes], bytes | Iterable[bytes]]]) -> Path:
    """A sample of which some members are others."""
    with (
        zipfile.ZipFile(SAMPLES / name) as source,
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as twin,
    ):
        for member in source.namelist():
            content: bytes | Iterable[bytes] = source.read(member)
            if member in change:
                content = change[member](source.read(member))
            with twin.open(member, "w", force_zip64=True) as file:
                for piece in [content] if isinstance(content, bytes) else content:
                    file.write(piece)
    return target


def body(inside: str, before: str = "") -> Callable[[bytes], bytes]:
    return lambda _: (
        f'<?xml version="1.0"?>{before}<w:document xmlns:w="{WORD}"><w:body>{inside}</w:body></w:document>'.encode()
    )


def zip_bomb(folder: Path, megabytes: int = 550) -> Path:
    """A document of one paragraph."""

    def endless(_: bytes) -> Iterable[bytes]:
        yield f'<w:document xmlns:w="{WORD}"><w:body><w:p><w:r><w:t>'.encode()
        yield from [b"a" * 2**20] * megabytes
        yield b"</w:t></w:r></w:p></w:body></w:document>"

    return rewritten("report.docx", folder / "bomb.docx", {"word/document.xml": endless})


def sheet_bomb(folder: Path) -> Path:
    member = "xl/worksheets/sheet1.xml"
    return rewritten("budget.xlsx", folder / "bomb.xlsx", {member: lambda _: [b" " * 2**20] * 550})


def sheet_of_two_corners(folder: Path) -> Path:
    """Seventeen thousand million cells between the first and the last."""

    def corners(content: bytes) -> bytes:
        cell = b'<c r="%s" t="str"><v>x</v></c>'
        rows = b'<row r="1">%s</row><row r="1048576">%s</row>' % (cell % b"A1", cell % b"XFD1048576")
        start, _, rest = content.partition(b"<sheetData>")
        return start + b"<sheetData>" + rows + b"</sheetData>" + rest.partition(b"</sheetData>")[2]

    return rewritten("budget.xlsx", folder / "corners.xlsx", {"xl/worksheets/sheet1.xml": corners})


def laughs(folder: Path) -> Path:
    inside = "<w:p><w:r><w:t>&a11;</w:t></w:r></w:p>"
    return rewritten("report.docx", folder / "laughs.docx", {"word/document.xml": body(inside, LAUGHS)})


def entity_of_a_file(folder: Path) -> Path:
    before = '<!DOCTYPE x [<!ENTITY secret SYSTEM "file:///etc/passwd">]>'
    inside = "<w:p><w:r><w:t>before &secret; after</w:t></w:r></w:p>"
    return rewritten("report.docx", folder / "entity.docx", {"word/document.xml": body(inside, before)})


def deep_tables(folder: Path) -> Path:
    opening = "<w:tbl><w:tr><w:tc>"
    inside = opening * 50_000 + "<w:p/>" + "</w:tc></w:tr></w:tbl>" * 50_000
    return rewritten("report.docx", folder / "deep.docx", {"word/document.xml": body(inside)})


def repeated_cells(folder: Path) -> Path:
    """A table of an OpenDocument text, of which one cell stands for two thousand million."""

    def repeated(content: bytes) -> bytes:
        return content.replace(
            b"<table:table-cell ", b'<table:table-cell table:number-columns-repeated="2000000000" ', 3
        )

    return rewritten("report.odt", folder / "repeated.odt", {"content.xml": repeated})


def encrypted_text(folder: Path) -> Path:
    """As LibreOffice lists what it encrypted."""

    def locked(content: bytes) -> bytes:
        return content.replace(b'"content.xml"', b'"content.xml"><manifest:encryption-data/', 1)

    change: dict[str, Callable[[bytes], bytes | Iterable[bytes]]] = {
        "META-INF/manifest.xml": locked,
        "content.xml": lambda _: bytes(range(256)) * 8,
    }
    return rewritten("report.odt", folder / "locked.odt", change)


def book_without_a_chapter(folder: Path) -> Path:
    def other(content: bytes) -> bytes:
        return content.replace(b"section0002.xhtml", b"../../../../etc/passwd")

    return rewritten("report.epub", folder / "passwd.epub", {"OEBPS/content.opf": other})


def png_bomb(folder: Path) -> Path:
    """Forty thousand pixels square, of one colour."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    pressed = zlib.compressobj(9)
    rows = b"".join(pressed.compress(bytes(5_001) * 100) for _ in range(400)) + pressed.flush()
    header = struct.pack(">IIBBBBB", 40_000, 40_000, 1, 0, 0, 0, 0)
    file = folder / "bomb.png"
    file.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b""))
    return file


def pdf(objects: Iterable[str], file: Path) -> Path:
    """A PDF of these objects, of which the first is the catalogue."""
    content, places = bytearray(b"%PDF-1.7\n"), []
    for number, inside in enumerate(objects, 1):
        places.append(len(content))
        content += f"{number} 0 obj\n{inside}\nendobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = f"xref\n0 {len(places) + 1}\n0000000000 65535 f \n{table}trailer\n<</Size {len(places) + 1}/Root 1 0 R>>\n"
    file.write_bytes(bytes(content) + f"{end}startxref\n{len(content)}\n%%EOF\n".encode())
    return file


def pdf_of_many_pages(folder: Path, count: int = 100_000) -> Path:
    """All of them one and the same."""
    kids = "3 0 R " * count
    objects = ["<</Type/Catalog/Pages 2 0 R>>", f"<</Type/Pages/Count {count}/Kids[{kids}]>>"]
    page = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>"
    return pdf([*objects, page], folder / "many.pdf")


def pdf_of_a_giant_page(folder: Path) -> Path:
    objects = ["<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Count 1/Kids[3 0 R]>>"]
    stream = "0 0 900000000 300000000 re f"
    page = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 999999999 999999999]/Contents 4 0 R>>"
    return pdf([*objects, page, f"<</Length {len(stream)}>>stream\n{stream}\nendstream"], folder / "giant.pdf")


def pdf_of_circles(folder: Path) -> Path:
    """Pages within pages that hold themselves, and a table of contents that goes round."""
    objects = [
        "<</Type/Catalog/Pages 2 0 R/Outlines 4 0 R>>",
        "<</Type/Pages/Count 2/Kids[2 0 R 3 0 R]/Parent 2 0 R>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>",
        "<</First 5 0 R/Last 5 0 R/Count 1>>",
        "<</Title(a)/Parent 4 0 R/Next 5 0 R/First 5 0 R/Last 5 0 R/Dest[3 0 R/Fit]>>",
    ]
    return pdf(objects, folder / "circles.pdf")


def pdf_with_many_bookmarks(folder: Path, count: int = 100_000) -> Path:
    objects = [
        "<</Type/Catalog/Pages 2 0 R/Outlines 4 0 R>>",
        "<</Type/Pages/Count 1/Kids[3 0 R]>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>",
        f"<</First 5 0 R/Last {count + 4} 0 R/Count {count}>>",
        *(
            f"<</Title(a{number})/Parent 4 0 R/Next {number + 1} 0 R/Dest[3 0 R/Fit]>>"
            for number in range(5, count + 5)
        ),
    ]
    return pdf(objects, folder / "bookmarks.pdf")


def html_of_many_levels(folder: Path) -> Path:
    file = folder / "deep.html"
    file.write_text("<!doctype html>" + "<div><table><tr><td><ul><li>" * 5_000 + "found")
    return file


def mail_of_many_levels(folder: Path) -> Path:
    head = "From: a@example.com\nTo: b@example.com\nSubject: x\n"
    inner = "".join(f'Content-Type: multipart/mixed; boundary="b{level}"\n\n--b{level}\n' for level in range(9_000))
    file = folder / "deep.eml"
    file.write_text(head + inner + "Content-Type: text/plain\n\nfound\n")
    return file


def mail_of_messages_in_messages(folder: Path) -> Path:
    file = folder / "messages.eml"
    file.write_text(
        "From: a@example.com\nTo: b@example.com\n" + "Content-Type: message/rfc822\n\n" * 9_000 + "\nfound\n"
    )
    return file


def mail_of_many_parts(folder: Path) -> Path:
    file = folder / "parts.eml"
    head = "From: a@example.com\nTo: b@example.com\nContent-Type: multipart/mixed; boundary=b\n\n"
    file.write_text(head + "--b\n\nfound\n" + "--b\n" * 5_000_000)
    return file


def mail_of_many_headers(folder: Path) -> Path:
    file = folder / "headers.eml"
    many = "".join(f"X-{number}: =?utf-8?b?{'=?utf-8?b?' * 20}\n" for number in range(100_000))
    file.write_text(f"From: a@example.com\nSubject: {'=?utf-8?q?a?= ' * 100_000}\nTo: found\n{many}\n\nfound\n")
    return file


def mail_of_false_boundaries(folder: Path) -> Path:
    """Each line may be one, and none is."""
    file = folder / "boundaries.eml"
    head = "From: a@example.com\nSubject: x\nContent-Type: multipart/mixed; boundary=b\n\n"
    file.write_text(head + "".join(f"--{number}\n" for number in range(3_000_000)) + "--b\n\nfound\n")
    return file


def mail_packed_in_mail(folder: Path) -> Path:
    """Messages in base64 in messages in base64."""
    content = b"From: a@example.com\nSubject: x\n\nfound\n"
    head = b"From: a@example.com\nSubject: x\nContent-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n"
    for _ in range(40):
        content = head + base64.encodebytes(content)
    file = folder / "packed.eml"
    file.write_bytes(content)
    return file


OPEN_ROWS = 200_000
"""Several times what one field of a table may hold."""


def csv_of_an_open_quote(folder: Path) -> Path:
    file = folder / "quote.csv"
    file.write_text("a,b\n1,2\n3,4\n" + '5,"' + "open,\n" * OPEN_ROWS)
    return file


def json_of_one_line(folder: Path) -> Path:
    file = folder / "line.json"
    file.write_text(json.dumps(list(range(1_000_000))))
    return file


def truncated(name: str, folder: Path) -> Path:
    content = (SAMPLES / name).read_bytes()
    file = folder / name
    file.write_bytes(content[: len(content) * 2 // 3])
    return file


def scrambled(name: str, folder: Path) -> Path:
    """Each fiftieth byte of the second half is another."""
    content = bytearray((SAMPLES / name).read_bytes())
    content[len(content) // 2 :: 50] = bytes(byte ^ 0x55 for byte in content[len(content) // 2 :: 50])
    file = folder / name
    file.write_bytes(content)
    return file
