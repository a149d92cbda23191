"""Word."""

from collections.abc import Callable, Mapping

from tests.conversations.files.cases.zipped import archive

MAIN = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument'
    '.wordprocessingml.document.main+xml"/></Types>'
)


def document(body: str, members: Mapping[str, str | bytes] | None = None) -> bytes:
    """A document of this body, and of further members by their place."""
    whole = f'<w:document xmlns:w="{MAIN}"><w:body>{body}</w:body></w:document>'
    return archive({"[Content_Types].xml": TYPES, "word/document.xml": whole, **(members or {})})


def power() -> bytes:
    return document(
        "<w:p><w:r><w:t>The speed is 3×10</w:t></w:r>"
        '<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>8</w:t></w:r><w:r><w:t> m/s</w:t></w:r></w:p>'
    )


FILES: Mapping[str, Callable[[], bytes]] = {"power.docx": power}
