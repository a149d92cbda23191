"""What a file is, by what stands in it. Its name decides only among kinds of plain text, which look alike."""

import mmap
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from conversations.files.archives import open_archive
from conversations.files.problems import FileProblem

SAMPLE_BYTES = 64 * 2**10


class Kind(StrEnum):
    IMAGE = "image"
    PDF = "pdf"
    DOCUMENT = "document"
    """Word, OpenDocument text."""
    SHEET = "sheet"
    """Workbooks of Excel and OpenDocument. CSV is text."""
    SLIDES = "slides"
    BOOK = "book"
    """EPUB."""
    PAGE = "page"
    """HTML."""
    MAIL = "mail"
    TEXT = "text"
    """Markdown, plain text, CSV, JSON, code."""


@dataclass(frozen=True)
class FileType:
    """What a file is, whatever its name says."""

    kind: Kind
    media_type: str
    extension: str
    """Without a dot."""


READABLE = (
    "Images (PNG, JPEG, WebP, GIF, HEIC, AVIF, TIFF, BMP), PDF, Word, Excel, PowerPoint, OpenDocument, EPUB, HTML, "
    "e-mail (.eml), Markdown, CSV, JSON, code and plain text can be read."
)

PDF = FileType(Kind.PDF, "application/pdf", "pdf")
XLS = FileType(Kind.SHEET, "application/vnd.ms-excel", "xls")
EPUB = FileType(Kind.BOOK, "application/epub+zip", "epub")
HTML = FileType(Kind.PAGE, "text/html", "html")
MAIL = FileType(Kind.MAIL, "message/rfc822", "eml")
PLAIN = FileType(Kind.TEXT, "text/plain", "txt")

IMAGES = {
    rb"\x89PNG\r\n\x1a\n": ("image/png", "png"),
    rb"\xff\xd8\xff": ("image/jpeg", "jpg"),
    rb"GIF8[79]a": ("image/gif", "gif"),
    rb"RIFF....WEBP": ("image/webp", "webp"),
    rb"....ftypavi[fs]": ("image/avif", "avif"),
    rb"II[*+]\0|MM\0[*+]": ("image/tiff", "tiff"),
    rb"BM.{4}\0{4}": ("image/bmp", "bmp"),
    rb"....ftyp(?:hei[cxms]|hev[cxms]|mif1|msf1)": ("image/heic", "heic"),
}

OPEN_XML = "application/vnd.openxmlformats-officedocument."
MACRO = "application/vnd.ms-"
OFFICE = {
    f"{OPEN_XML}wordprocessingml.document.main+xml": (Kind.DOCUMENT, f"{OPEN_XML}wordprocessingml.document", "docx"),
    f"{OPEN_XML}wordprocessingml.template.main+xml": (Kind.DOCUMENT, f"{OPEN_XML}wordprocessingml.template", "dotx"),
    f"{MACRO}word.document.macroEnabled.main+xml": (Kind.DOCUMENT, f"{MACRO}word.document.macroEnabled.12", "docm"),
    f"{OPEN_XML}spreadsheetml.sheet.main+xml": (Kind.SHEET, f"{OPEN_XML}spreadsheetml.sheet", "xlsx"),
    f"{OPEN_XML}spreadsheetml.template.main+xml": (Kind.SHEET, f"{OPEN_XML}spreadsheetml.template", "xltx"),
    f"{MACRO}excel.sheet.macroEnabled.main+xml": (Kind.SHEET, f"{MACRO}excel.sheet.macroEnabled.12", "xlsm"),
    f"{MACRO}excel.sheet.binary.macroEnabled.main": (Kind.SHEET, f"{MACRO}excel.sheet.binary.macroEnabled.12", "xlsb"),
    f"{OPEN_XML}presentationml.presentation.main+xml": (Kind.SLIDES, f"{OPEN_XML}presentationml.presentation", "pptx"),
    f"{OPEN_XML}presentationml.slideshow.main+xml": (Kind.SLIDES, f"{OPEN_XML}presentationml.slideshow", "ppsx"),
    f"{MACRO}powerpoint.presentation.macroEnabled.main+xml": (
        Kind.SLIDES,
        f"{MACRO}powerpoint.presentation.macroEnabled.12",
        "pptm",
    ),
}
OPEN_DOCUMENT = {
    "text": (Kind.DOCUMENT, "odt"),
    "text-template": (Kind.DOCUMENT, "ott"),
    "spreadsheet": (Kind.SHEET, "ods"),
    "spreadsheet-template": (Kind.SHEET, "ots"),
    "presentation": (Kind.SLIDES, "odp"),
    "presentation-template": (Kind.SLIDES, "otp"),
}

ELSEWHERE = {
    rb"\{\\rtf": ("a Rich Text document", "Save it as Word (.docx) or PDF."),
    rb"%!PS": ("a PostScript file", "Save it as PDF."),
    rb"....ftyp|\x1aE\xdf\xa3|ID3|OggS|fLaC|RIFF....(?:AVI |WAVE)": ("a film or a recording", "Give its text instead."),
    rb"Rar!|7z\xbc\xaf|\x1f\x8b|BZh|\xfd7zXZ": ("a packed archive", "Unpack it and give the files that matter."),
    rb"SQLite format 3": ("a database", "Export what matters as CSV."),
    rb"MZ|\x7fELF|\xcf\xfa\xed\xfe": ("a program", READABLE),
}
OLD_OFFICE = {
    "EncryptedPackage": "",
    "WordDocument": "This is a document in the old format of Word (.doc). Save it as .docx or PDF.",
    "PowerPoint Document": "These are slides in the old format of PowerPoint (.ppt). Save them as .pptx or PDF.",
    "__properties_version1.0": "This is a message in Outlook's own format (.msg). Save it as .eml or PDF.",
}

TEXTS = {
    "text/markdown": "md markdown",
    "text/csv": "csv",
    "text/tab-separated-values": "tsv tab",
    "application/json": "json jsonl ndjson geojson ipynb",
    "text/plain": "txt text log",
    "text/x-code": "py js mjs cjs ts tsx jsx java kt kts c h cc cpp hpp cs go rs rb php swift scala sh bash zsh fish ps1 sql r"
    " jl lua pl pm hs ml ex exs erl clj dart vue svelte css scss less yaml yml toml ini cfg conf env properties xml svg xsl tex"
    " bib rst adoc org gradle cmake make dockerfile tf proto graphql diff patch vtt srt ics vcf asm s vb bat vbs groovy m",
}
MEDIA_TYPES = {extension: media_type for media_type, words in TEXTS.items() for extension in words.split()}

HTML_START = re.compile(
    r"\s*+(?:<\?xml[^>]*+>\s*+)?(?:(?><!--.*?-->)\s*+)*+<(?:!doctype html|html)\b", re.IGNORECASE | re.DOTALL
)
HEADERS = re.compile(r"(?:From [^\n]*\n)?((?:[A-Za-z][\w-]*:[^\n]*\n(?:[ \t][^\n]*\n)*)+)(?:\r?\n|$)")
MAIL_HEADER = re.compile(
    r"^(?:From|To|Subject|Date|Message-ID|Received|MIME-Version|Return-Path):", re.IGNORECASE | re.M
)


def detect(path: Path, name: str) -> FileType:
    """What the file is. ``name`` is what the person called it. Raises ``FileProblem``; reads a few kilobytes only."""
    with path.open("rb") as file:
        start = file.read(SAMPLE_BYTES)
    if not start.strip():
        raise FileProblem("empty", "The file is empty.")
    if start.startswith(b"PK"):
        return _archived(path)
    if start.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        return _old_office(path)
    if b"%PDF-" in start[:1024]:
        return PDF
    for pattern, (media_type, extension) in IMAGES.items():
        if re.match(pattern, start, re.DOTALL):
            return FileType(Kind.IMAGE, media_type, extension)
    for pattern, (what, advice) in ELSEWHERE.items():
        if re.match(pattern, start, re.DOTALL):
            raise FileProblem("unknown_type", f"This is {what}, which can't be read. {advice}")
    return _text(start, name)


def _archived(path: Path) -> FileType:
    """By the parts that such files must have, not by where they lie in the archive."""
    with open_archive(path) as archive:
        names = set(archive.names)
        if "mimetype" in names:
            what = archive.read("mimetype", at_most=200).decode("ascii", "replace").strip()
            kind, extension = OPEN_DOCUMENT.get(what.rpartition("opendocument.")[2], (None, ""))
            if kind:
                return FileType(kind, what, extension)
            if what == EPUB.media_type:
                return EPUB
        if "[Content_Types].xml" in names:
            types = archive.read("[Content_Types].xml", at_most=2**20).decode("utf-8", "replace")
            for main in re.findall(r'ContentType\s*=\s*["\']([^"\']+)', types):
                if main in OFFICE:
                    return FileType(*OFFICE[main])
    if "META-INF/container.xml" in names:
        return EPUB
    raise FileProblem("unknown_type", "This is a packed archive. Unpack it and give the files that matter.")


def _old_office(path: Path) -> FileType:
    """The container of Office before 2007, and of what Office encrypts: known by the names of the streams in it."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        for stream, message in OLD_OFFICE.items():
            if content.find(stream.encode("utf-16-le")) >= 0:
                if message:
                    raise FileProblem("unknown_type", message)
                raise FileProblem(
                    "encrypted", "The file is protected by a password. Remove the password and try again."
                )
        if any(content.find(stream.encode("utf-16-le")) >= 0 for stream in ("Workbook", "Book")):
            return XLS
    raise FileProblem("unknown_type", f"What kind of file this is can't be said. {READABLE}")


def _text(start: bytes, name: str) -> FileType:
    if not _is_text(start):
        raise FileProblem("unknown_type", f"What kind of file this is can't be said. {READABLE}")
    text = start.decode("utf-16" if start[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8", "replace").lstrip("\ufeff")
    extension = Path(name).suffix.lstrip(".").lower() or Path(name).name.lower()
    if HTML_START.match(text) or (
        extension in {"html", "htm", "xhtml"} and re.search(r"<[a-z][a-z0-9]*[\s>]", text, re.I)
    ):
        return HTML
    if extension == "eml" or extension not in MEDIA_TYPES:
        headers = HEADERS.match(text)
        if headers and len(MAIL_HEADER.findall(headers[1])) >= 2:
            return MAIL
    media_type = MEDIA_TYPES.get(extension)
    return FileType(Kind.TEXT, media_type, extension) if media_type else PLAIN


def _is_text(start: bytes) -> bool:
    """Whether no bytes are in it that text has not. UTF-16 has zeros, every second of them."""
    if start[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        return True
    zeros = start.count(0)
    if zeros and max(start[::2].count(0), start[1::2].count(0)) == zeros and zeros > len(start) / 4:
        return True
    controls = sum(start.count(byte) for byte in range(32) if byte not in b"\t\n\v\f\r\x1a\x1b")
    return controls <= 1 + len(start) / 100
