"""What a file is, by what stands in it. Its name decides only among kinds of plain text, which look alike."""

import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from artifacts.reading import compound
from artifacts.reading.archives import DAMAGED, ENCRYPTED, open_archive
from artifacts.reading.formats import format_of
from artifacts.reading.problems import FileProblem
from artifacts.reading.text.encodings import PADDING, wide_encoding

SAMPLE_BYTES = 64 * 2**10
MOST_CONTROLS = 0.03
"""Of the bytes of a text; of packed ones it is a ninth."""
HEAD_BYTES = 512
"""Behind which zeros may fill up a log."""


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

UNPACK = "Unpack it and give the files that matter."
EXPORT = "Export it as PDF, or as a file of Word, Excel or PowerPoint."


UNKNOWN = FileProblem("unknown_type", f"What kind of file this is can't be said. {READABLE}")


def _other(what: str, advice: str) -> FileProblem:
    return FileProblem("unknown_type", f"This is {what}, which can't be read. {advice}")


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
OPEN_MAIN = {
    "wordprocessingml.document": (Kind.DOCUMENT, "docx"),
    "wordprocessingml.template": (Kind.DOCUMENT, "dotx"),
    "spreadsheetml.sheet": (Kind.SHEET, "xlsx"),
    "spreadsheetml.template": (Kind.SHEET, "xltx"),
    "presentationml.presentation": (Kind.SLIDES, "pptx"),
    "presentationml.slideshow": (Kind.SLIDES, "ppsx"),
    "presentationml.template": (Kind.SLIDES, "potx"),
}
MACRO_MAIN = {
    "word.document.macroEnabled": (Kind.DOCUMENT, "docm"),
    "word.template.macroEnabledTemplate": (Kind.DOCUMENT, "dotm"),
    "excel.sheet.macroEnabled": (Kind.SHEET, "xlsm"),
    "excel.template.macroEnabled": (Kind.SHEET, "xltm"),
    "excel.addin.macroEnabled": (Kind.SHEET, "xlam"),
    "excel.sheet.binary.macroEnabled": (Kind.SHEET, "xlsb"),
    "powerpoint.presentation.macroEnabled": (Kind.SLIDES, "pptm"),
    "powerpoint.slideshow.macroEnabled": (Kind.SLIDES, "ppsm"),
    "powerpoint.template.macroEnabled": (Kind.SLIDES, "potm"),
}
OFFICE = {
    f"{OPEN_XML}{main}.main+xml".lower(): FileType(kind, f"{OPEN_XML}{main}", extension)
    for main, (kind, extension) in OPEN_MAIN.items()
} | {
    f"{MACRO}{main}.main{'' if extension == 'xlsb' else '+xml'}".lower(): FileType(
        kind, f"{MACRO}{main.removesuffix('Template')}.12", extension
    )
    for main, (kind, extension) in MACRO_MAIN.items()
}
"""By the type of their main part."""
OPEN_DOCUMENT = {
    "text": (Kind.DOCUMENT, "odt"),
    "text-template": (Kind.DOCUMENT, "ott"),
    "spreadsheet": (Kind.SHEET, "ods"),
    "spreadsheet-template": (Kind.SHEET, "ots"),
    "presentation": (Kind.SLIDES, "odp"),
    "presentation-template": (Kind.SLIDES, "otp"),
    "text-master": (Kind.DOCUMENT, "odm"),
    "text-web": (Kind.DOCUMENT, "oth"),
    "graphics": (Kind.SLIDES, "odg"),
    "graphics-template": (Kind.SLIDES, "otg"),
}

UNREADABLE_TEXTS = {
    rb"\{\\rtf\d?[\s\\{]": _other("a Rich Text document", "Save it as Word (.docx) or PDF."),
    rb"%!PS-Adobe|%!PS\s*$": _other("a PostScript file", "Save it as PDF."),
}
"""Written in letters, but not for people."""
ELSEWHERE = {
    rb"....ftyp|\x1aE\xdf\xa3|ID3|OggS|fLaC|RIFF....(?:AVI |WAVE)": ("a film or a recording", "Give its text instead."),
    rb"Rar!|7z\xbc\xaf|\x1f\x8b|BZh|\xfd7zXZ": ("a packed archive", UNPACK),
    rb"SQLite format 3": ("a database", "Export what matters as CSV."),
    rb"MZ|\x7fELF|\xcf\xfa\xed\xfe": ("a program", READABLE),
}
NO_TEXT = re.compile(
    rb"\x89PNG\r\n|\xff\xd8\xff|\0\0\0.ftyp|II[*+]\0|MM\0[*+]|7z\xbc\xaf|\x1f\x8b|\xfd7zXZ|\x7fELF", re.DOTALL
)
"""How files begin that may look like a text further on, but for these first bytes, which no text has."""
OLD_OFFICE = {
    "EncryptedPackage": ENCRYPTED,
    "WordDocument": _other("a document in the old format of Word (.doc)", "Save it as .docx or PDF."),
    "PowerPoint Document": _other("slides in the old format of PowerPoint (.ppt)", "Save them as .pptx or PDF."),
    "__properties_version1.0": _other("a message in Outlook's own format (.msg)", "Save it as .eml or PDF."),
    "VisioDocument": _other("a drawing of Visio", "Save it as PDF."),
    "Quill": _other("a publication of Publisher", "Save it as PDF."),
    "HwpSummaryInformation": _other("a document of Hangul", "Save it as .docx or PDF."),
}
"""By a stream or a folder that lies at the top of them."""
WORKBOOKS = ("Workbook", "Book")
ARCHIVED = {
    "Index/Document.iwa": _other("a file of Apple's Pages, Numbers or Keynote", EXPORT),
    "Index.zip": _other("a file of Apple's Pages, Numbers or Keynote", EXPORT),
    "index.apxl": _other("a file of Apple's Keynote", EXPORT),
    "visio/document.xml": _other("a drawing of Visio", "Save it as PDF."),
    "FixedDocSeq.fdseq": _other("an XPS document", "Save it as PDF."),
    "AndroidManifest.xml": _other("a program", READABLE),
}
"""By a member of the archive."""

TEXTS = {
    "text/markdown": "md markdown",
    "text/csv": "csv",
    "text/tab-separated-values": "tsv tab",
    "application/json": "json jsonl ndjson geojson ipynb",
    "text/plain": "txt text log",
    "text/x-code": "py js mjs cjs ts tsx jsx java kt kts c h cc cpp hpp cs go rs rb php swift scala sh bash zsh fish ps1 sql r"
    " jl lua pl pm hs ml ex exs erl clj dart vue svelte css scss less yaml yml toml ini cfg conf env properties xml svg xsl tex"
    " bib rst adoc org gradle cmake make dockerfile tf proto graphql diff patch vtt srt ics vcf asm s vb bat vbs groovy m"
    " jsp asp aspx cshtml erb ejs hbs mustache njk j2 jinja jinja2 twig liquid tpl tmpl astro pug haml eta ftl cfm phtml",
}
MEDIA_TYPES = {extension: media_type for media_type, words in TEXTS.items() for extension in words.split()}

PAGES = {"html", "htm", "xhtml", "xht", "shtml"}
MAILS = {"eml", "mht", "mhtml", "mbox", "mbx"}
TABLES = {"xls", "xlsx"}
"""Programs write tables as text under these names."""

HTML_START = re.compile(
    r"\s*+(?:<\?xml[^>]*+>\s*+)?(?:(?><!--.*?-->)\s*+)*+<(?:!doctype html|html)\b", re.IGNORECASE | re.DOTALL
)
TAG = re.compile(r"<[a-z][a-z0-9]*[\s>]", re.IGNORECASE)
TEMPLATE = re.compile(r"<\?(?:php|=)|<%[=@!\s]|\{%-?\s*\w")
"""What a server has yet to fill in."""
HEADERS = re.compile(r"(?:From [^\n]*\n)?((?:[A-Za-z][\w-]*:[^\n]*(?:\n|$)(?:[ \t][^\n]*(?:\n|$))*)+)(?:\r?\n|$)")
MAIL_HEADER = re.compile(
    r"^(?:From|To|Subject|Date|Message-ID|Received|MIME-Version|Return-Path|Content-Type):", re.IGNORECASE | re.M
)
PDF_START = re.compile(rb"%PDF-\d")
PDF_INSIDE = re.compile(rb"\bobj\b|startxref|xref\b")
FLAT = re.compile(r"\s*<\?xml[^>]*>[^<]*<office:document\b")


def detect(path: Path, name: str) -> FileType:
    """What the file is. ``name`` is what the person called it. Raises ``FileProblem``; reads a few kilobytes only."""
    with path.open("rb") as file:
        start = file.read(SAMPLE_BYTES)
    if not start.strip():
        raise FileProblem("empty", "The file is empty.")
    if format := format_of(start):
        return FileType(Kind(format.kind), format.media_type, format.extension)
    if start.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")):
        return _archived(path)
    if start.startswith(compound.MAGIC):
        return _old_office(path)
    is_text, extension = _is_text(start), _extension(name)
    if _is_pdf(start, is_text, extension):
        return PDF
    if not is_text:
        return _binary(start)
    if extension not in MEDIA_TYPES:
        for pattern, problem in UNREADABLE_TEXTS.items():
            if re.match(pattern, start):
                raise problem
    return _text(start, extension)


def _extension(name: str) -> str:
    return Path(name).suffix.lstrip(".").lower() or Path(name).name.lower()


def _is_pdf(start: bytes, is_text: bool, extension: str) -> bool:
    """Some begin with junk. A text may speak of PDF, or be a program that makes some."""
    found = PDF_START.search(start[:1_024])
    if found is None:
        return False
    is_first = not start[: found.start()].strip(b"\xef\xbb\xbf \t\r\n")
    if is_first and extension == "pdf":
        return True
    return not is_text or (PDF_INSIDE.search(start) is not None and (is_first or extension not in MEDIA_TYPES))


def _binary(start: bytes) -> FileType:
    for pattern, (media_type, extension) in IMAGES.items():
        if re.match(pattern, start, re.DOTALL):
            return FileType(Kind.IMAGE, media_type, extension)
    for pattern, (what, advice) in ELSEWHERE.items():
        if re.match(pattern, start, re.DOTALL):
            raise _other(what, advice)
    raise UNKNOWN


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
                if found := OFFICE.get(main.strip().lower()):
                    return found
    if "META-INF/container.xml" in names:
        return EPUB
    raise next((ARCHIVED[name] for name in ARCHIVED if name in names), _other("a packed archive", UNPACK))


def _old_office(path: Path) -> FileType:
    """The container of Office before 2007, and of what Office encrypts: known by what lies at the top of it."""
    found = compound.top_level(path)
    if not found:
        raise DAMAGED
    for name in WORKBOOKS:
        if name in found:
            if compound.is_encrypted_workbook(found[name].start):
                raise ENCRYPTED
            return XLS
    bare = {name.lstrip("\x05") for name in found}
    raise next(
        (OLD_OFFICE[name] for name in OLD_OFFICE if name in bare),
        UNKNOWN,
    )


def _text(start: bytes, extension: str) -> FileType:
    """The ending decides among texts; what is in it, where the ending says nothing."""
    wide = "utf-16" if start[:2] in {b"\xff\xfe", b"\xfe\xff"} else wide_encoding(start)
    text = start.decode(wide or "utf-8", "replace").lstrip("\ufeff")
    is_named = extension in MEDIA_TYPES
    if extension in PAGES and TEMPLATE.search(text):
        return FileType(Kind.TEXT, "text/x-code", "html")
    if not is_named and (HTML_START.match(text) or (extension in PAGES and TAG.search(text))):
        return HTML
    if not is_named and _is_mail(text, extension):
        return MAIL
    if not is_named and FLAT.match(text):
        raise _other("a flat OpenDocument file", "Save it as .odt, .ods or .odp.")
    if extension in TABLES:
        extension = "tsv" if "\t" in text.partition("\n")[0] else "csv"
    media_type = MEDIA_TYPES.get(extension)
    return FileType(Kind.TEXT, media_type, extension) if media_type else PLAIN


def _is_mail(text: str, extension: str) -> bool:
    """Where the name says so, one header will do, whatever stands around it."""
    if extension in MAILS:
        return MAIL_HEADER.search(text[:HEAD_BYTES]) is not None
    headers = HEADERS.match(text.lstrip("\r\n"))
    return headers is not None and len(MAIL_HEADER.findall(headers[1])) > 1


def _is_text(start: bytes) -> bool:
    """Whether no bytes are in it that text has not. UTF-16 has zeros, every second of them."""
    if NO_TEXT.match(start):
        return False
    if start[:2] in {b"\xff\xfe", b"\xfe\xff"} or wide_encoding(start):
        return True
    return _has_few_controls(start[:HEAD_BYTES]) and _has_few_controls(PADDING.sub(b"", start))


def _has_few_controls(start: bytes) -> bool:
    controls = sum(start.count(byte) for byte in range(32) if byte not in b"\t\n\v\f\r\x1a\x1b")
    return controls <= 1 + len(start) * MOST_CONTROLS
