"""Documents of Word, piece by piece."""

from collections.abc import Mapping

from tests.artifacts.reading.cases.zipped import archive, relations

SPACES = " ".join(
    f'xmlns:{short}="{address}"'
    for short, address in {
        "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
        "r": "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
        "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
        "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
        "c": "http://schemas.openxmlformats.org/drawingml/2006/chart",
        "dgm": "http://schemas.openxmlformats.org/drawingml/2006/diagram",
        "pic": "http://schemas.openxmlformats.org/drawingml/2006/picture",
        "wp": "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing",
        "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
        "w14": "http://schemas.microsoft.com/office/word/2010/wordml",
        "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
        "v": "urn:schemas-microsoft-com:vml",
        "o": "urn:schemas-microsoft-com:office:office",
    }.items()
)
TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument'
    '.wordprocessingml.document.main+xml"/></Types>'
)


def document(body: str, members: Mapping[str, str | bytes] | None = None, **related: str) -> bytes:
    """A document of this body, and of further members by their place; ``related``: their kinds and places by their ids."""
    whole = f"<w:document {SPACES}><w:body>{body}</w:body></w:document>"
    links = relations(related, base="word")
    return archive(
        {
            "[Content_Types].xml": TYPES,
            "_rels/.rels": relations({"d": "officeDocument=word/document.xml"}),
            "word/document.xml": whole,
            "word/_rels/document.xml.rels": links,
            **(members or {}),
        }
    )


def part(root: str, inside: str) -> str:
    return f"<w:{root} {SPACES}>{inside}</w:{root}>"


def p(*inside: str, style: str = "", properties: str = "") -> str:
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f"<w:p><w:pPr>{named}{properties}</w:pPr>{''.join(inside)}</w:p>"


def r(text: str, looks: str = "") -> str:
    return f'<w:r><w:rPr>{looks}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def cell(*inside: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{''.join(inside)}</w:tc>"


def row(*cells: str, properties: str = "") -> str:
    return f"<w:tr><w:trPr>{properties}</w:trPr>{''.join(cells)}</w:tr>"


def table(*rows: str) -> str:
    return f"<w:tbl>{''.join(rows)}</w:tbl>"


def drawing(inside: str, about: str = "", anchor: str = "inline") -> str:
    return (
        f'<w:r><w:drawing><wp:{anchor}><wp:docPr id="1" name="Thing" {about}/><a:graphic><a:graphicData>{inside}'
        f"</a:graphicData></a:graphic></wp:{anchor}></w:drawing></w:r>"
    )


def box(text: str, fill: str = "") -> str:
    return f"<wps:wsp><wps:spPr>{fill}</wps:spPr><wps:txbx><w:txbxContent>{text}</w:txbxContent></wps:txbx></wps:wsp>"


def styles(inside: str) -> dict[str, str]:
    return {"word/styles.xml": part("styles", inside)}


def style(id: str, inside: str, kind: str = "paragraph") -> str:
    return f'<w:style w:type="{kind}" w:styleId="{id}"><w:name w:val="{id}"/>{inside}</w:style>'


def on(kind: str) -> str:
    return f"<w:{kind}/>"


def val(kind: str, value: str) -> str:
    return f'<w:{kind} w:val="{value}"/>'


UP, DOWN = val("vertAlign", "superscript"), val("vertAlign", "subscript")
WHITE = val("color", "FFFFFF")
