"""PowerPoint."""

from collections.abc import Callable, Mapping

from tests.artifacts.reading.cases.zipped import archive, picture, relations

SPACES = " ".join(
    f'xmlns:{short}="{address}"'
    for short, address in {
        "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
        "p": "http://schemas.openxmlformats.org/presentationml/2006/main",
        "r": "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
        "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
        "c": "http://schemas.openxmlformats.org/drawingml/2006/chart",
        "dgm": "http://schemas.openxmlformats.org/drawingml/2006/diagram",
        "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
        "a14": "http://schemas.microsoft.com/office/drawing/2010/main",
        "p188": "http://schemas.microsoft.com/office/powerpoint/2018/8/main",
    }.items()
)
MAIN = "application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"
TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    f'<Override PartName="/ppt/presentation.xml" ContentType="{MAIN}"/></Types>'
)
type Member = tuple[str, str | bytes]
type Slide = tuple[str | bytes, Mapping[str, Member]]
"""The slide, and what it refers to: kind and content by the id, the place is the kind with its number."""


def deck(*slides: Slide, authors: str = "") -> bytes:
    ids = "".join(f'<p:sldId id="{at + 255}" r:id="s{at}"/>' for at in range(1, len(slides) + 1))
    root = f'<p:presentation {SPACES}><p:sldIdLst>{ids}</p:sldIdLst><p:sldSz cx="9000" cy="6000"/></p:presentation>'
    related = {f"s{at}": f"slide=ppt/slides/slide{at}.xml" for at in range(1, len(slides) + 1)}
    members: dict[str, str | bytes] = {
        "[Content_Types].xml": TYPES,
        "_rels/.rels": relations({"d": "officeDocument=ppt/presentation.xml"}),
        "ppt/presentation.xml": root,
        "ppt/_rels/presentation.xml.rels": relations({**related, "a": "commentAuthors=ppt/authors.xml"}, "ppt"),
        "ppt/authors.xml": authors,
    }
    for at, (content, refers) in enumerate(slides, 1):
        links = {}
        members[f"ppt/slides/slide{at}.xml"] = content
        for id, (kind, inside) in refers.items():
            members[f"ppt/slides/{kind}{at}{id}.xml"] = inside
            links[id] = f"{kind}=ppt/slides/{kind}{at}{id}.xml"
        members[f"ppt/slides/_rels/slide{at}.xml.rels"] = relations(links, "ppt/slides")
    return archive(members)


def slide(*shapes: str, background: str = "", about: str = "", **refers: Member) -> Slide:
    tree = f"<p:spTree><p:nvGrpSpPr/><p:grpSpPr/>{''.join(shapes)}</p:spTree>"
    return f"<p:sld {SPACES} {about}><p:cSld>{background}{tree}</p:cSld></p:sld>", refers


def shape(*paragraphs: str, role: str = "", about: str = "", fill: str = "", at: str = "") -> str:
    kind = f'<p:ph type="{role}"/>' if role else ""
    place = at or '<a:xfrm><a:off x="100" y="100"/><a:ext cx="3000" cy="900"/></a:xfrm>'
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="2" name="T" {about}/><p:cNvSpPr/><p:nvPr>{kind}</p:nvPr></p:nvSpPr>'
        f"<p:spPr>{place}{fill}</p:spPr><p:txBody><a:bodyPr/>{''.join(paragraphs)}</p:txBody></p:sp>"
    )


def p(*runs: str, properties: str = "") -> str:
    return f"<a:p>{properties}{''.join(runs)}</a:p>"


def r(text: str, looks: str = "", inside: str = "") -> str:
    return f"<a:r><a:rPr {looks}>{inside}</a:rPr><a:t>{text}</a:t></a:r>"


def place(x: int, y: int, cx: int = 1000, cy: int = 1000, kind: str = "a:xfrm") -> str:
    return f'<{kind}><a:off x="{x}" y="{y}"/><a:ext cx="{cx}" cy="{cy}"/></{kind}>'


def solid(colour: str) -> str:
    return f'<a:solidFill><a:srgbClr val="{colour}"/></a:solidFill>'


def frame(inside: str) -> str:
    about = '<p:nvGraphicFramePr><p:cNvPr id="4" name="F"/></p:nvGraphicFramePr>'
    return f"<p:graphicFrame>{about}<a:graphic><a:graphicData>{inside}</a:graphicData></a:graphic></p:graphicFrame>"


def image(about: str = "", more: str = "") -> str:
    return (
        f'<p:pic><p:nvPicPr><p:cNvPr id="5" name="P" {about}/><p:nvPr>{more}</p:nvPr></p:nvPicPr>'
        f'<p:blipFill><a:blip r:embed="i"/></p:blipFill><p:spPr>{place(5000, 3000)}</p:spPr></p:pic>'
    )


def looks() -> bytes:
    return deck(
        slide(
            shape(p(r("Speed 10"), r("8", 'baseline="30000"')), role="title"),
            shape(p(r("H"), r("2", 'baseline="-25000"'), r("O, "), r("10", 'baseline="0"'), r("n", 'baseline="30%"'))),
            shape(p(r("Price "), r("120", 'strike="sngStrike"'), r(" 99 "), r("kept", 'strike="noStrike"'))),
        )
    )


def hidden() -> bytes:
    def white(text: str, inside: str = "") -> str:
        return p(r(text, inside=solid("FFFFFF") + inside))

    group = '<p:grpSp><p:grpSpPr><a:xfrm><a:off x="9500" y="0"/><a:ext cx="100" cy="100"/><a:chOff x="0" y="0"/>'
    group += f'<a:chExt cx="100" cy="100"/></a:xfrm></p:grpSpPr>{shape(p(r("gonegroup")))}</p:grpSp>'
    return deck(
        slide(
            shape(p(r("Seen."))),
            shape(p(r("goneshape")), about='hidden="1"'),
            shape(p(r("goneoutside")), at=place(-4000, 0)),
            group,
            shape(p(r("gonetiny", 'sz="100"'), r("Second."))),
            shape(white("gonewhite"), p(r("Third."))),
            shape(p(r("goneclear", inside=solid("000000").replace("/></a:s", '><a:alpha val="0"/></a:srgbClr></a:s')))),
            shape(white("white on blue"), fill=solid("002060")),
            shape(white("marked", "<a:highlight><a:srgbClr val='000000'/></a:highlight>")),
        ),
        slide(shape(white("white on a dark slide")), background=f"<p:bg><p:bgPr>{solid('101010')}</p:bgPr></p:bg>"),
        slide(
            shape(p(), fill=solid("203040")),
            shape(p(r("white on a panel", inside=solid("FFFFFF")))),
            shape(p(r("gonebeside", inside=solid("FFFFFF"))), at=place(6000, 4000)),
        ),
    )


def equations() -> bytes:
    def t(text: str) -> str:
        return f"<m:r><m:t>{text}</m:t></m:r>"

    def either(choice: str, fallback: str) -> str:
        options = f'<mc:Choice Requires="a14">{choice}</mc:Choice><mc:Fallback>{fallback}</mc:Fallback>'
        return f"<mc:AlternateContent>{options}</mc:AlternateContent>"

    root = f"<m:oMath>{t('A=π')}<m:sSup><m:e>{t('r')}</m:e><m:sup>{t('2')}</m:sup></m:sSup></m:oMath>"
    inline = either(f"<a14:m>{root}</a14:m>", r("no"))
    whole = either(shape(p(f"<a14:m><m:oMathPara>{root}</m:oMathPara></a14:m>")), shape(p(r("no"))))
    return deck(slide(shape(p(r("Area "), inline, r(" of a circle"))), whole))


def symbols() -> bytes:
    return deck(
        slide(
            shape(
                p(r("Tolerance "), r("&#xF0B1;", inside='<a:sym typeface="Symbol"/>'), r("5")),
                p(r("&#xF0FC;", inside='<a:latin typeface="Calibri"/><a:sym typeface="Wingdings"/>'), r(" done")),
                p(r("a", inside='<a:latin typeface="Symbol"/>'), r(" angle, Donau&#xAD;dampf")),
            )
        )
    )


def tables() -> bytes:
    def row(*cells: str) -> str:
        return f'<a:tr h="1">{"".join(cells)}</a:tr>'

    def cell(text: str, about: str = "", looks: str = "") -> str:
        return f"<a:tc {about}><a:txBody>{p(r(text, looks))}</a:txBody><a:tcPr/></a:tc>"

    beside, below = 'hMerge="1"', 'vMerge="1"'
    rows = (
        row(cell("Shifts", 'gridSpan="3"'), cell("", beside), cell("", beside)),
        row(cell("Name"), cell("Monday"), cell("Tuesday")),
        row(cell("Ann", 'rowSpan="2"'), cell("on leave", 'gridSpan="2"'), cell("stale", beside)),
        row(cell("", below), cell("8"), cell("m", looks='baseline="30000"')),
    )
    return deck(slide(frame(f"<a:tbl>{''.join(rows)}</a:tbl>")))


def graphics() -> bytes:
    months = '<c:cat><c:strRef><c:strCache><c:pt idx="0"><c:v>May</c:v></c:pt></c:strCache></c:strRef></c:cat>'
    shares = '<c:numCache><c:formatCode>0%</c:formatCode><c:pt idx="0"><c:v>0.81</c:v></c:pt></c:numCache>'
    series = f"<c:ser><c:tx><c:v>Ships</c:v></c:tx>{months}<c:val><c:numRef>{shares}</c:numRef></c:val></c:ser>"
    plot = f"<c:plotArea><c:pieChart>{series}</c:pieChart></c:plotArea>"
    chart = f"<c:chartSpace {SPACES}><c:chart>{plot}</c:chart></c:chartSpace>"
    texts = enumerate((p(r("Order")), p(r("Deliver"))))
    points = "".join(f'<dgm:pt modelId="{at}"><dgm:t>{text}</dgm:t></dgm:pt>' for at, text in texts)
    diagram = f"<dgm:dataModel {SPACES}><dgm:ptLst>{points}</dgm:ptLst></dgm:dataModel>"
    return deck(
        slide(
            shape(p(r("Figures")), role="title"),
            frame('<c:chart r:id="c"/>'),
            frame('<dgm:relIds r:dm="d"/>'),
            frame('<p:oleObj progId="Excel.Sheet.12"/>'),
            frame('<c:chart r:id="broken"/>'),
            image('descr="The pier"'),
            image(more='<a:videoFile r:link="v"/>'),
            c=("chart", chart),
            d=("diagramData", diagram),
            broken=("chart", "<c:chartSpace"),
        )
    )


def beside() -> bytes:
    def notes(text: str) -> Member:
        tree = f"<p:spTree>{shape(p(r(text)), role='body')}</p:spTree>"
        return "notesSlide", f"<p:notes {SPACES}><p:cSld>{tree}</p:cSld></p:notes>"

    comment = f'<p:cmLst {SPACES}><p:cm authorId="3" idx="1"><p:text>Ask the mayor.</p:text></p:cm></p:cmLst>'
    newer = f'<p188:cmLst {SPACES}><p188:cm authorId="3"><p188:txBody>{p(r("Why May?"))}</p188:txBody></p188:cm></p188:cmLst>'
    authors = f'<p:cmAuthorLst {SPACES}><p:cmAuthor id="3" name="Eva"/></p:cmAuthorLst>'
    return deck(
        slide(
            shape(p(r("Words."))),
            shape(p(r("Confidential")), role="ftr"),
            n=notes("Thank the builders."),
            k=("comments", comment),
        ),
        slide(shape(p(r("Kept."))), shape(p(r("Confidential")), role="ftr"), about='show="0"', m=("comments", newer)),
        authors=authors,
    )


def damaged() -> bytes:
    chart = frame('<c:chart r:id="lost"/>')
    deep = "<p:grpSp>" * 600 + shape(p(r("deep"))) + "</p:grpSp>" * 600
    return deck(
        slide(shape(p(r("First stays.")))),
        (f"<p:sld {SPACES}><p:cSld>", {}),
        slide(shape(p(r("Third stays."))), chart, n=("notesSlide", b"\0\0")),
        slide(deep),
        slide(shape(p(r("Fifth stays.")))),
    )


def lists() -> bytes:
    def item(text: str, kind: str, more: str = "") -> str:
        return p(r(text), properties=f'<a:pPr {more}><a:buFont typeface="x"/><a:buAutoNum type="{kind}"/></a:pPr>')

    plain = p(r("plain"), "<a:br/>", r("second line"))
    return deck(
        slide(
            shape(
                item("one", "arabicPeriod"), item("two", "arabicPeriod"), item("inner", "alphaLcParenR", 'lvl="1"'),
                item("three", "arabicPeriod"), plain, item("anew", "romanUcPeriod"),
                p(r("deeper"), properties='<a:pPr lvl="1"/>'),
            )
        )
    )  # fmt: skip


def pictures() -> bytes:
    drawn: Member = ("image", picture())
    return deck(
        slide(image(), i=drawn),
        slide(shape(p(r("With words."))), image(), i=drawn),
        slide(image(), i=("image", b"none")),
    )


FILES: Mapping[str, Callable[[], bytes]] = {
    "looks.pptx": looks,
    "hidden.pptx": hidden,
    "equations.pptx": equations,
    "symbols.pptx": symbols,
    "tables.pptx": tables,
    "graphics.pptx": graphics,
    "notes-and-comments.pptx": beside,
    "damaged-slides.pptx": damaged,
    "lists.pptx": lists,
    "pictures-alone.pptx": pictures,
}
