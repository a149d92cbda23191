"""Word: what lies beside its text."""

from collections.abc import Callable, Mapping
from functools import partial

from tests.artifacts.reading.cases.word_xml import (
    SPACES,
    TYPES,
    UP,
    cell,
    document,
    drawing,
    p,
    part,
    r,
    row,
    style,
    styles,
    table,
    val,
)
from tests.artifacts.reading.cases.zipped import archive, picture

STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"


def inserted(content: bytes, place: str, kind: str = "aFChunk") -> bytes:
    body = p(r("Cover.")) + '<w:altChunk r:id="c"/>' + p(r("End."))
    return document(body, {f"word/{place}": content}, c=f"{kind}=word/{place}")


def web_archive() -> bytes:
    content = (
        b'MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary="x"\r\n\r\n--x\r\n'
        b"Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"
        b"<html><body><p>The rent is 900=20euro.</p></body></html>\r\n--x--\r\n"
    )
    return inserted(content, "chunk.mht")


def chart() -> bytes:
    def points(kind: str, values: tuple[str, ...]) -> str:
        inside = "".join(f'<c:pt idx="{at}"><c:v>{value}</c:v></c:pt>' for at, value in enumerate(values))
        return f"<c:{kind}>{inside}</c:{kind}>"

    series = (
        f"<c:ser><c:tx><c:strRef>{points('strCache', ('Ships',))}</c:strRef></c:tx><c:cat><c:strRef>"
        f"{points('strCache', ('May', 'June'))}</c:strRef></c:cat><c:val><c:numRef>{points('numCache', ('81', '92.5'))}"
        "</c:numRef></c:val></c:ser>"
    )
    title = "<c:title><c:tx><c:rich><a:p><a:r><a:t>Ships a month</a:t></a:r></a:p></c:rich></c:tx></c:title>"
    plot = f"<c:plotArea><c:barChart>{series}</c:barChart></c:plotArea>"
    root = f"<c:chartSpace {SPACES}><c:chart>{title}{plot}</c:chart></c:chartSpace>"
    body = p(r("See:"), drawing('<c:chart r:id="c"/>'))
    body += table(row(cell(p(drawing('<c:chart r:id="c"/>'))), cell(p(r("beside")))))
    return document(body, {"word/charts/chart1.xml": root}, c="chart=word/charts/chart1.xml")


def diagram() -> bytes:
    def point(id: str, text: str) -> str:
        return f'<dgm:pt modelId="{id}"><dgm:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></dgm:t></dgm:pt>'

    points = '<dgm:pt modelId="0" type="doc"/>' + point("1", "Order") + point("2", "By phone") + point("3", "Deliver")
    links = "".join(
        f'<dgm:cxn modelId="{at}" srcId="{source}" destId="{target}" srcOrd="{order}"/>'
        for at, (source, target, order) in enumerate((tuple("010"), tuple("031"), tuple("120")), 10)
    )
    root = f"<dgm:dataModel {SPACES}><dgm:ptLst>{points}</dgm:ptLst><dgm:cxnLst>{links}</dgm:cxnLst></dgm:dataModel>"
    body = p(drawing('<dgm:relIds r:dm="d"/>')) + p(drawing('<dgm:relIds r:dm="lost"/>', 'descr="the process"'))
    return document(body, {"word/diagrams/data1.xml": root}, d="diagramData=word/diagrams/data1.xml")


def objects() -> bytes:
    def embedded(program: str) -> str:
        shape = '<v:shape style="w:1"><v:imagedata r:id="i"/></v:shape>'
        return f'<w:r><w:object>{shape}<o:OLEObject ProgID="{program}"/></w:object></w:r>'

    return document(p(r("Budget "), embedded("Excel.Sheet.12"), r(" and "), embedded("Equation.DSMT4"), r(".")))


def pictures() -> bytes:
    inside = '<pic:pic><pic:nvPicPr><pic:cNvPr id="1" name="P" {}/></pic:nvPicPr><pic:blipFill>'
    inside += '<a:blip r:embed="i"/></pic:blipFill></pic:pic>'
    body = p(drawing(inside.format(""))) + p(drawing(inside.format('descr="The pier"')))
    return document(body, {"word/media/a.png": picture()}, i="image=word/media/a.png")


def described_pictures() -> bytes:
    inside = '<pic:pic><pic:blipFill><a:blip r:embed="i"/></pic:blipFill></pic:pic>'
    text = "A paragraph that is long enough for the document to be one of words and not of pictures."
    body = p(r(text)) + p(r("Seen "), drawing(inside, 'descr="The pier in May"'), r("here.")) + p(drawing(inside))
    body += p(drawing(inside, 'hidden="1" descr="never"'))
    return document(body, {"word/media/a.png": picture()}, i="image=word/media/a.png")


def headers() -> bytes:
    def top(text: str, kind: str = "hdr") -> str:
        return part(kind, p(r(text)))

    members = {
        f"word/{name}.xml": top(text)
        for name, text in {
            "one": "Harbour office",
            "first": "First page only",
            "even": "Even pages",
            "old": "Old draft",
        }.items()
    }
    section = (
        '<w:sectPr><w:headerReference w:type="default" r:id="one"/><w:headerReference w:type="first" r:id="first"/>'
    )
    section += '<w:headerReference w:type="even" r:id="even"/></w:sectPr>'
    body = p(r("Section one."), properties=section) + p(r("Section two.")) + section
    return document(body, members, **{name: f"header=word/{name}.xml" for name in ("one", "first", "even", "old")})


def false_heading() -> bytes:
    text = "This whole paragraph was given a heading style by somebody who wanted it larger. " * 4
    return document(
        p(r("Costs"), style="Heading1") + p(r(text), style="Heading1") + p(r("Rent"), style="Heading1"),
        styles(style("Heading1", f"<w:pPr>{val('outlineLvl', '0')}</w:pPr>")),
        styles="word/styles.xml",
    )


def damaged_parts() -> bytes:
    broken = f"<w:hdr {SPACES}><w:p>"
    section = '<w:sectPr><w:headerReference w:type="default" r:id="h"/></w:sectPr>'
    body = p(r("Body stays."), '<w:r><w:footnoteReference w:id="1"/></w:r>', drawing('<c:chart r:id="c"/>')) + section
    members: dict[str, str | bytes] = {
        "word/h.xml": broken,
        "word/styles.xml": "<w:styles",
        "word/footnotes.xml": b"\x00",
        "word/chart.xml": "no xml",
    }
    return document(
        body,
        members,
        h="header=word/h.xml",
        styles="word/styles.xml",
        footnotes="word/footnotes.xml",
        c="chart=word/chart.xml",
    )


def strict() -> bytes:
    body = p(r("Ten to the power 10"), r("8", UP), r(" and "), "<m:oMath><m:r><m:t>π</m:t></m:r></m:oMath>")
    whole = f"<w:document {SPACES}><w:body>{body}</w:body></w:document>".replace(
        "http://schemas.openxmlformats.org/wordprocessingml/2006/main", STRICT
    ).replace(
        "http://schemas.openxmlformats.org/officeDocument/2006/math", "http://purl.oclc.org/ooxml/officeDocument/math"
    )
    return archive({"[Content_Types].xml": TYPES, "word/document.xml": whole})


FILES: Mapping[str, Callable[[], bytes]] = {
    "inserted-page.docx": partial(inserted, "<html><body><p>Café 900 €</p></body></html>".encode(), "c.html"),
    "inserted-text.docx": partial(inserted, b"Plain words\r\nof a text.", "c.txt"),
    "inserted-document.docx": lambda: inserted(document(p(r("Inner words."))), "c.docx"),
    "inserted-rich-text.docx": partial(inserted, rb"{\rtf1 Rich words.}", "c.rtf"),
    "inserted-web-archive.docx": web_archive,
    "chart.docx": chart,
    "diagram.docx": diagram,
    "objects.docx": objects,
    "pictures-alone.docx": pictures,
    "described-pictures.docx": described_pictures,
    "headers.docx": headers,
    "false-heading.docx": false_heading,
    "damaged-parts.docx": damaged_parts,
    "strict.docx": strict,
}
