"""EPUB."""

from collections.abc import Callable, Mapping
from functools import partial

from tests.artifacts.reading.cases.zipped import archive

CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
)
NAV = (
    '<html xmlns="http://www.w3.org/1999/xhtml"><body><nav><ol><li><a href="one.xhtml">Contents entry</a></li></ol></nav>'
    "</body></html>"
)


def chapter(body: str, head: str = "") -> bytes:
    namespace = "http://www.w3.org/1999/xhtml"
    page = f'<?xml version="1.0"?><html xmlns="{namespace}"><head>{head}</head><body>{body}</body></html>'
    return page.encode()


def book(chapters: Mapping[str, bytes | None], *, spine: str = "", more: Mapping[str, bytes] | None = None) -> bytes:
    """``None``: it is listed and not there. ``spine``: attributes of the last one."""
    names = list(chapters)
    items = "".join(f'<item id="{name}" href="{name}" media-type="application/xhtml+xml"/>' for name in names)
    items += '<item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>'
    items += '<item id="css" href="styles/book.css" media-type="text/css"/>'
    refs = "".join(f'<itemref idref="{name}"{spine if name == names[-1] else ""}/>' for name in names)
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<metadata><dc:title>Book</dc:title></metadata><manifest>{items}</manifest>"
        f'<spine><itemref idref="nav"/>{refs}</spine></package>'
    )
    members: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OEBPS/book.opf": package,
        "OEBPS/nav.xhtml": NAV,
        "OEBPS/styles/book.css": ".editor { display: none } .raised { vertical-align: super }",
    }
    members |= {f"OEBPS/{name}": content for name, content in chapters.items() if content is not None}
    return archive({**members, **(more or {})})


def one_damaged() -> bytes:
    """The bytes of the second chapter are no longer those that its checksum is of."""
    words = b"A chapter that is stored as it is, " * 20
    whole = book({"one.xhtml": chapter("<p>One</p>"), "two.xhtml": words, "three.xhtml": chapter("<p>Three</p>")})
    at = whole.index(b"two.xhtml") + len(b"two.xhtml")
    return whole[:at] + bytes(byte ^ 0x55 for byte in whole[at : at + 20]) + whole[at + 20 :]


LINK = '<link rel="stylesheet" href="styles/book.css"/>'

FILES: Mapping[str, Callable[[], bytes]] = {
    "missing.epub": partial(
        book, {"one.xhtml": chapter("<p>One</p>"), "two.xhtml": None, "three.xhtml": chapter("<p>Three</p>")}
    ),
    "damaged.epub": one_damaged,
    "marks.epub": partial(
        book,
        {
            "one.xhtml": chapter(
                "<h1>Light</h1><p>3×10<sup>8</sup> m/s, H<sub>2</sub>O and 10<span class='raised'>3</span></p>"
                '<p><math xmlns="http://www.w3.org/1998/Math/MathML"><msup><mi>c</mi><mn>2</mn></msup></math></p>'
                '<svg xmlns="http://www.w3.org/2000/svg"><image href="cover.jpg"/></svg><img src="m.png" alt="a map"/>',
                LINK,
            )
        },
    ),
    "hidden.epub": partial(
        book,
        {"one.xhtml": chapter("<p>Seen</p><p class='editor'>Alpha</p><p hidden='hidden'>Beta</p><!-- Gamma -->", LINK)},
    ),
    "beside.epub": partial(
        book, {"one.xhtml": chapter("<p>One</p>"), "note.xhtml": chapter("<p>Aside</p>")}, spine=' linear="no"'
    ),
    "declared.epub": partial(
        book,
        {
            "one.xhtml": (
                '<?xml version="1.0" encoding="windows-1251"?><html xmlns="http://www.w3.org/1999/xhtml"><body>'
                "<p>Привет, мир</p></body></html>"
            ).encode("cp1251")
        },
    ),
}
