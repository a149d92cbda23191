"""OpenDocument text and slides."""

from collections.abc import Callable, Mapping

from tests.artifacts.reading.cases.zipped import archive, picture

ADDRESS = "urn:oasis:names:tc:opendocument:xmlns"
SPACES = " ".join(
    f'xmlns:{short}="{address}"'
    for short, address in {
        **{
            short: f"{ADDRESS}:{short}:1.0"
            for short in ("office", "text", "table", "style", "presentation", "form", "chart")
        },
        "draw": f"{ADDRESS}:drawing:1.0",
        "fo": f"{ADDRESS}:xsl-fo-compatible:1.0",
        "svg": f"{ADDRESS}:svg-compatible:1.0",
        "dc": "http://purl.org/dc/elements/1.1/",
        "xlink": "http://www.w3.org/1999/xlink",
        "math": "http://www.w3.org/1998/Math/MathML",
    }.items()
)
MIME = "application/vnd.oasis.opendocument."


def file(kind: str, body: str, styles: str = "", members: Mapping[str, str | bytes] | None = None) -> bytes:
    """``kind``: ``text`` or ``presentation``; ``styles`` are automatic ones."""
    inside = f"<office:body><office:{kind}>{body}</office:{kind}></office:body>"
    looks = f"<office:automatic-styles>{styles}</office:automatic-styles>"
    content = f"<office:document-content {SPACES}>{looks}{inside}</office:document-content>"
    return archive({"mimetype": MIME + kind, "content.xml": content, **(members or {})})


def text(body: str, styles: str = "", members: Mapping[str, str | bytes] | None = None) -> bytes:
    return file("text", body, styles, members)


def style(name: str, properties: str, family: str = "text", more: str = "", parent: str = "") -> str:
    based = f'style:parent-style-name="{parent}"' if parent else ""
    looks = f"<style:text-properties {properties}/>" if properties else ""
    return f'<style:style style:name="{name}" style:family="{family}" {based}>{looks}{more}</style:style>'


def p(*inside: str, style: str = "") -> str:
    return f'<text:p text:style-name="{style}">{"".join(inside)}</text:p>'


def h(inside: str, level: int = 1) -> str:
    return f'<text:h text:outline-level="{level}">{inside}</text:h>'


def s(inside: str, name: str) -> str:
    return f'<text:span text:style-name="{name}">{inside}</text:span>'


def cell(inside: str, about: str = "") -> str:
    return f"<table:table-cell {about}>{inside}</table:table-cell>"


def table(*rows: str) -> str:
    return f"<table:table>{''.join(f'<table:table-row>{row}</table:table-row>' for row in rows)}</table:table>"


def box(inside: str, about: str = "") -> str:
    return f"<draw:frame {about}><draw:text-box>{inside}</draw:text-box></draw:frame>"


def shared(styles: str = "", masters: str = "", own: str = "") -> dict[str, str]:
    inside = f"<office:styles>{styles}</office:styles><office:automatic-styles>{own}</office:automatic-styles>"
    inside += f"<office:master-styles>{masters}</office:master-styles>"
    return {"styles.xml": f"<office:document-styles {SPACES}>{inside}</office:document-styles>"}


def looks() -> bytes:
    styles = (
        style("Up", 'style:text-position="super 58%"') + style("Down", 'style:text-position="-33% 58%"')
        + style("Out", 'style:text-line-through-style="solid"') + style("Flat", 'style:text-position="0% 100%"')
        + style("Child", 'fo:color="#000000"', parent="Up")
    )  # fmt: skip
    body = p("Speed 10", s("8", "Up"), " m/s, H", s("2", "Down"), "O, m", s("2", "Child"), " ", s("flat", "Flat"))
    return text(body + p("Price ", s("120", "Out"), " 99"), styles)


def hidden() -> bytes:
    styles = (
        style("Gone", 'text:display="none"') + style("White", 'fo:color="#ffffff"') + style("Tiny", 'fo:font-size="1pt"')
        + style("Dark", "", "paragraph", '<style:paragraph-properties fo:background-color="#202020"/>')
        + style("Marked", 'fo:color="#ffffff" fo:background-color="#000080"')
    )  # fmt: skip
    body = (
        p("First.", s("gonespan", "Gone")) + p("Second.", s("gonewhite", "White")) + p("Third.", s("gonetiny", "Tiny"))
        + p(s("white on dark", "White"), style="Dark") + p(s("white on blue", "Marked"))
        + '<text:section text:display="none"><text:p>gonesection</text:p></text:section>'
        + p('<text:hidden-paragraph text:is-hidden="true"/>goneparagraph')
        + p('Fourth.<text:hidden-text text:is-hidden="true" text:string-value="gonetext"/>')
        + '<text:section text:display="condition" text:is-hidden="false"><text:p>Section shown.</text:p></text:section>'
    )  # fmt: skip
    return text(body, styles)


def tracked() -> bytes:
    info = "<office:change-info><dc:creator>Ann</dc:creator></office:change-info>"
    out = f"<text:deletion>{info}<text:p>800</text:p></text:deletion>"
    changes = f'<text:changed-region text:id="c1">{out}</text:changed-region>'
    changes += f'<text:changed-region text:id="c2"><text:insertion>{info}</text:insertion></text:changed-region>'
    line = 'The rent is <text:change text:change-id="c1"/><text:change-start text:change-id="c2"/>950'
    line += '<text:change-end text:change-id="c2"/> euro.'
    return text(f"<text:tracked-changes>{changes}</text:tracked-changes>" + p(line))


def notes() -> bytes:
    def note(kind: str, number: str, words: str) -> str:
        inside = f"<text:note-citation>{number}</text:note-citation><text:note-body><text:p>{words}</text:p></text:note-body>"
        return f'<text:note text:note-class="{kind}">{inside}</text:note>'

    comment = "<office:annotation><dc:creator>Eva</dc:creator><text:p>Ask the mayor.</text:p></office:annotation>"
    return text(
        h(f"Costs{comment}")
        + p("Rent", note("footnote", "1", "Without tax."), " and ", note("endnote", "i", "Archive."), "wages.")
    )


def numbered() -> bytes:
    levels = '<text:list-level-style-number text:level="1" style:num-format="a" style:num-suffix=")"/>'
    levels += '<text:list-level-style-number text:level="2" style:num-format="1" style:num-suffix="." text:display-levels="2"/>'
    outline = '<text:outline-level-style text:level="1" style:num-format="1"/>'
    outline += '<text:outline-level-style text:level="2" style:num-format="1" text:display-levels="2"/>'
    bullets = '<text:list-level-style-bullet text:level="1" text:bullet-char="•"/>'
    styles = f'<text:list-style style:name="L">{levels}</text:list-style>'
    styles += f'<text:list-style style:name="B">{bullets}</text:list-style>'

    def item(*inside: str) -> str:
        return f"<text:list-item>{''.join(inside)}</text:list-item>"

    inner = f"<text:list>{item(p('inner'))}{item(p('inner too'))}</text:list>"
    first = f'<text:list text:style-name="L">{item(p("one"), inner)}{item(p("two"), p("more of two"))}</text:list>'
    on = f'<text:list text:style-name="L" text:continue-numbering="true">{item(p("three"))}</text:list>'
    anew = f'<text:list text:style-name="L">{item(p("anew"))}</text:list>'
    anew += f'<text:list text:style-name="B">{item(p("dot"))}</text:list>'
    heads = h("Scope") + h("Money") + h("Rent", 2) + h("Wages", 2)
    return text(heads + first + on + anew, styles, shared(f"<text:outline-style>{outline}</text:outline-style>"))


def tables() -> bytes:
    covered = "<table:covered-table-cell/>"
    stale = f"<table:covered-table-cell>{p('stale')}</table:covered-table-cell>"
    wide = 'table:number-columns-spanned="2"'
    one = table(
        cell(p("Shifts"), 'table:number-columns-spanned="3"') + covered * 2,
        cell(p("Name")) + cell(p("Monday")) + cell(p("Tuesday")),
        cell(p("Ann"), 'table:number-rows-spanned="2"') + cell(p("on leave"), wide) + stale,
        covered + cell(p("8")) + cell(p("7")),
        cell(p("late"), wide) + covered + cell(p("5")),
    )
    inner = table(cell(p("inner a")) + cell(p("inner b")))
    nested = table(cell(p("Nest:") + inner) + cell(p("Boxed", box(p("only once")))))
    return text(one + p("Then.") + nested)


def boxes() -> bytes:
    fill = style("Filled", "", "graphic", '<style:graphic-properties draw:fill="solid" draw:fill-color="#002060"/>')
    white = style("White", 'fo:color="#ffffff"')
    body = p("Before.", box(p("In the box."))) + p(box(p(s("white in a box", "White")), 'draw:style-name="Filled"'))
    body += p("Shape: <draw:custom-shape>" + p("in a shape") + "</draw:custom-shape>")
    return text(body + p("Gone: " + box(p("gonebox"), 'draw:display="none"')), fill + white)


def objects() -> bytes:
    two = "<math:mn>2</math:mn>"
    half = f"<math:mfrac><math:mi>a</math:mi>{two}</math:mfrac>"
    row = f"<math:mrow>{half}<math:mo>+</math:mo><math:msup><math:mi>r</math:mi>{two}</math:msup></math:mrow>"
    math = f"<math:semantics>{row}<math:annotation>gone</math:annotation></math:semantics>"
    math = f"<math:math>{math}</math:math>"
    values = table(cell(p()) + cell(p("Ships")), cell(p("May")) + cell(p("81")))
    chart = f"<chart:chart><chart:title>{p('Ships a month')}</chart:title>{values}</chart:chart>"
    chart = f"<office:body><office:chart>{chart}</office:chart></office:body>"
    chart = f"<office:document-content {SPACES}>{chart}</office:document-content>"

    def frame(place: str) -> str:
        image = '<draw:image xlink:href="./ObjectReplacements/x"/>'
        return f'<draw:frame><draw:object xlink:href="./{place}"/>{image}<svg:desc>the sum</svg:desc></draw:frame>'

    inline = f"<draw:frame><draw:object>{math}</draw:object></draw:frame>"
    members = {
        "Object 1/content.xml": math.replace("<math:math>", f"<math:math {SPACES}>", 1),
        "Object 2/content.xml": chart,
    }
    body = (
        p("Area ", frame("Object 1"), ".") + p("Again ", inline) + p(frame("Object 2")) + p("Lost ", frame("Object 3"))
    )
    other = '<draw:frame><draw:object-ole xlink:href="./x"/><draw:image xlink:href="y"/></draw:frame>'
    return text(body + p("OLE ", other), "", members)


def form() -> bytes:
    fields = (
        '<form:checkbox form:id="a" form:label="Vegan" form:current-state="checked"/>'
        '<form:text form:id="b" form:current-value="Ann Miller"/><form:password form:id="c" form:value="hunter2"/>'
        '<form:listbox form:id="d"><form:option form:label="S"/>'
        '<form:option form:label="M" form:current-selected="true"/></form:listbox>'
        '<form:hidden form:id="e" form:value="gonevalue"/>'
    )
    body = f"<office:forms><form:form>{fields}</form:form></office:forms>"
    body += "".join(p(f'Field {at}: <draw:control draw:control="{at}"/>') for at in "abcd")
    return text(body + p("City: <text:placeholder>&lt;Your city&gt;</text:placeholder>"))


def letters() -> bytes:
    styles = style("W", 'style:font-name="Wingdings"') + style("S", 'style:font-name="Symbol"')
    ruby = "<text:ruby><text:ruby-base>漢字</text:ruby-base><text:ruby-text>かんじ</text:ruby-text></text:ruby>"
    body = (
        p(s("&#xF0FE;", "W"), " yes, ", s("&#xF0A3;", "S"), " 4")
        + p("a<text:tab/>b<text:s text:c='2'/>c<text:line-break/>d")
        + p(ruby)
    )
    return text(body + p("Donau&#xAD;dampf"), styles)


def headers() -> bytes:
    masters = (
        f'<style:master-page style:name="Standard"><style:header>{p("Harbour office")}</style:header>'
        f'<style:footer style:display="false">{p("goneoff")}</style:footer></style:master-page>'
        f'<style:master-page style:name="Other"><style:header>{p("goneother")}</style:header></style:master-page>'
        f'<style:master-page style:name="Wide"><style:header>{p("Harbour office")}</style:header>'
        f"<style:footer>{p('Wide page')}</style:footer></style:master-page>"
    )
    paragraph = '<style:style style:name="P" style:family="paragraph" style:master-page-name="Wide"/>'
    return text(p("Text.") + p("Wide.", style="P"), paragraph, shared("", masters))


def pictures() -> bytes:
    body = p('<draw:frame><draw:image xlink:href="Pictures/a.png"/><svg:desc>The pier</svg:desc></draw:frame>')
    return text(body, "", {"Pictures/a.png": picture()})


def page(*shapes: str, about: str = "") -> str:
    return f"<draw:page {about}>{''.join(shapes)}</draw:page>"


def at(x: str, y: str, more: str = "") -> str:
    return f'svg:x="{x}" svg:y="{y}" svg:width="5cm" svg:height="2cm" {more}'


def slides() -> bytes:
    master = '<draw:layer-set><draw:layer draw:name="off" draw:display="none"/></draw:layer-set>'
    fixed = box(p("Harbour office"), at("1cm", "1cm"))
    master += f'<style:master-page style:name="M" style:page-layout-name="L">{fixed}</style:master-page>'
    size = '<style:page-layout-properties fo:page-width="20cm" fo:page-height="15cm"/>'
    layout = f'<style:page-layout style:name="L">{size}</style:page-layout>'
    styles = (
        style("Up", 'style:text-position="super 58%"') + style("White", 'fo:color="#ffffff"')
        + style("Hidden", "", "drawing-page", '<style:drawing-page-properties presentation:visibility="hidden"/>')
        + style("Blue", "", "drawing-page", '<style:drawing-page-properties draw:fill="solid" draw:fill-color="#000080"/>')
    )  # fmt: skip
    notes = f"<presentation:notes>{box(p('Thank the builders.'), 'presentation:class="notes"')}</presentation:notes>"
    comment = "<office:annotation><dc:creator>Eva</dc:creator><text:p>Why May?</text:p></office:annotation>"
    declared = '<presentation:footer-decl presentation:name="f1">Confidential</presentation:footer-decl>'
    body = declared + page(
        box(p("Speed 10", s("8", "Up")), 'presentation:class="title"'),
        box(p("Words."), at("1cm", "5cm")),
        box(p("goneoutside"), at("-9cm", "5cm")),
        box(p("gonelayer"), at("1cm", "5cm", 'draw:layer="off"')),
        box(p("Seen. ", s("gonewhite", "White")), at("8cm", "8cm")),
        f"<draw:g>{box(p('grouped'))}</draw:g>", comment, notes,
        about='draw:master-page-name="M" presentation:use-footer-name="f1"',
    )  # fmt: skip
    about = 'draw:style-name="Hidden" draw:master-page-name="M" presentation:use-footer-name="f1"'
    body += page(box(p("kept aside")), about=about)
    body += page(box(p(s("white on blue", "White")), at("1cm", "1cm")), about='draw:style-name="Blue"')
    body += page('<draw:frame><draw:image xlink:href="Pictures/a.png"/></draw:frame>')
    members: dict[str, str | bytes] = {**shared("", master, layout), "Pictures/a.png": picture()}
    return file("presentation", body, styles, members)


FILES: Mapping[str, Callable[[], bytes]] = {
    "looks.odt": looks,
    "hidden.odt": hidden,
    "tracked.odt": tracked,
    "notes.odt": notes,
    "numbered.odt": numbered,
    "tables.odt": tables,
    "boxes.odt": boxes,
    "objects.odt": objects,
    "form.odt": form,
    "letters.odt": letters,
    "headers.odt": headers,
    "pictures-alone.odt": pictures,
    "slides.odp": slides,
}
