"""Word: its text."""

from collections.abc import Callable, Mapping

from tests.artifacts.reading.cases.word_xml import (
    DOWN,
    UP,
    WHITE,
    box,
    cell,
    document,
    drawing,
    on,
    p,
    part,
    r,
    row,
    style,
    styles,
    table,
    val,
)


def power() -> bytes:
    return document(p(r("The speed is 3×10"), r("8", UP), r(" m/s")))


def scripts_by_style() -> bytes:
    looks = (
        style("Power", f"<w:rPr>{UP}</w:rPr>", "character")
        + style("Low", f"<w:rPr>{DOWN}</w:rPr>", "character")
        + style("Lower", '<w:basedOn w:val="Low"/>', "character")
    )
    body = p(r("Area 12 m"), r("2", val("rStyle", "Power")), r(", H"), r("2", val("rStyle", "Lower")), r("O"))
    body += p(r("10"), r("n", UP), r("+1", UP), r(" and x"), r("3", val("position", "6")), r(" and 4"), r("th", UP))
    return document(body, styles(looks), styles="word/styles.xml")


def struck() -> bytes:
    return document(
        p(r("Price "), r("120", on("strike")), r(" 99 euro, "), r("code A1", on("dstrike")), r(", "))
        + p(r("not struck", '<w:strike w:val="0"/>'))
    )


def tracked() -> bytes:
    change = 'w:id="1" w:author="Ann" w:date="2026-01-01T00:00:00Z"'
    old = '<w:r><w:delText xml:space="preserve">800 </w:delText></w:r>'
    inside = p(
        r("The rent is "),
        f"<w:del {change}>{old}</w:del><w:ins {change}>{r('950 ')}</w:ins>",
        r("euro"),
        '<w:r><w:rPr><w:rPrChange w:id="9" w:author="Ann"><w:rPr><w:vanish/></w:rPr></w:rPrChange></w:rPr>'
        "<w:t> a month.</w:t></w:r>",
    )
    moved = p(f"<w:moveFrom {change}>{r('The deposit is due in May.')}</w:moveFrom>", r("First."))
    moved += p(f"<w:moveTo {change}>{r('The deposit is due in May.')}</w:moveTo>")
    return document(inside + moved)


def comments() -> bytes:
    said = '<w:comment w:id="5" w:author="Eva"><w:p><w:r><w:annotationRef/></w:r>{}</w:p></w:comment>'
    place = '<w:commentRangeStart w:id="5"/>{}<w:commentRangeEnd w:id="5"/><w:r><w:commentReference w:id="5"/></w:r>'
    heading = p(place.format(r("Costs")), style="Heading1")
    return document(
        heading + p(r("Twelve euro.")),
        {
            **styles(style("Heading1", f"<w:pPr>{val('outlineLvl', '0')}</w:pPr>")),
            "word/comments.xml": part("comments", said.format(r("Ask the mayor."))),
        },
        styles="word/styles.xml",
        comments="word/comments.xml",
    )


def notes() -> bytes:
    def note(kind: str, id: int, text: str, type: str = "") -> str:
        return f'<w:{kind} w:id="{id}" {type}>{p(f"<w:r><w:{kind}Ref/></w:r>", r(text))}</w:{kind}>'

    foot = (
        note("footnote", 0, "", 'w:type="separator"')
        + note("footnote", 7, "Second one.")
        + note("footnote", 4, "First one.")
    )
    foot += note("footnote", 9, "Nobody refers to this.")
    end = note("endnote", 2, "From the archive.")
    body = p(
        r("Rent"),
        '<w:r><w:footnoteReference w:id="4"/></w:r>',
        r(" and wages"),
        '<w:r><w:footnoteReference w:id="7"/></w:r>',
    )
    body += p(r("Sources"), '<w:r><w:endnoteReference w:id="2"/></w:r>')
    members = {"word/footnotes.xml": part("footnotes", foot), "word/endnotes.xml": part("endnotes", end)}
    return document(body, members, footnotes="word/footnotes.xml", endnotes="word/endnotes.xml")


def hidden() -> bytes:
    looks = style("Secret", f"<w:rPr>{on('vanish')}</w:rPr>", "character") + style(
        "Gone", f"<w:rPr>{on('vanish')}</w:rPr>"
    )
    looks += style("Child", '<w:basedOn w:val="Gone"/>')
    body = (
        p(r("Seen. "), r("hiddenrun", on("vanish")))
        + p(r("Also seen. "), r("hiddenstyle", val("rStyle", "Secret")))
        + p(r("hiddenparagraph"), style="Child")
        + p(r("hiddenwhite", WHITE), r(" Third."))
        + p(r("hiddentiny", val("sz", "2")), r(" Fourth."))
        + p(r("hiddenred", val("color", "FF0000") + '<w:shd w:val="clear" w:fill="FF0000"/>'), r(" Fifth."))
        + p(r("hiddenblack", val("color", "000000") + val("highlight", "black")), r(" Sixth."))
        + p(r("shown again", '<w:vanish w:val="0"/>'), style="Gone")
        + p(r("mark only"), properties=f"<w:rPr>{on('vanish')}</w:rPr>")
    )
    return document(body, styles(looks), styles="word/styles.xml")


def white_on_dark() -> bytes:
    dark = '<w:shd w:val="clear" w:fill="1F3864"/>'
    theme = '<w:shd w:val="clear" w:color="auto" w:themeFill="accent1"/>'
    striped = '<w:tblStylePr w:type="firstRow"><w:tcPr><w:shd w:val="clear" w:fill="000000"/></w:tcPr></w:tblStylePr>'
    grid = style("Grid", striped, "table")
    fill = '<a:solidFill><a:srgbClr val="002060"/></a:solidFill>'
    body = (
        p(r("run shaded", WHITE + dark))
        + p(r("paragraph shaded", WHITE), properties=dark)
        + table(row(cell(p(r("cell shaded", WHITE)), properties=theme), cell(p(r("plain cell")))))
        + f'<w:tbl><w:tblPr><w:tblStyle w:val="Grid"/></w:tblPr>{row(cell(p(r("by style", WHITE))), cell(p(r("b"))))}</w:tbl>'
        + p(drawing(box(p(r("box filled", WHITE)), fill)))
        + p(r("automatic", val("color", "auto")))
    )
    return document(body, styles(grid), styles="word/styles.xml")


def text_boxes() -> bytes:
    choice = f"<mc:Choice Requires='wps'>{drawing(box(p(r('Only until May.'))))[5:-6]}</mc:Choice>"
    old = f"<w:pict><v:shape><v:textbox><w:txbxContent>{p(r('Only until May.'))}</w:txbxContent></v:textbox></v:shape></w:pict>"
    both = f"<w:r><mc:AlternateContent>{choice}<mc:Fallback>{old}</mc:Fallback></mc:AlternateContent></w:r>"
    lonely = old.replace("Only until May.", "By old Word.")
    body = p(r("Before."), both) + table(row(cell(p(r("Pump"), both)), cell(p(r("100"))))) + p(f"<w:r>{lonely}</w:r>")
    header = part("hdr", p(r("Letterhead"), both))
    section = '<w:sectPr><w:headerReference w:type="default" r:id="top"/></w:sectPr>'
    return document(body + section, {"word/header1.xml": header}, top="header=word/header1.xml")


def form() -> bytes:
    def field(data: str, instruction: str, result: str = "") -> str:
        return (
            f'<w:r><w:fldChar w:fldCharType="begin"><w:ffData>{data}</w:ffData></w:fldChar></w:r>'
            f"<w:r><w:instrText> {instruction} </w:instrText></w:r>"
            f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{result}'
            '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
        )

    def control(properties: str, content: str) -> str:
        return f"<w:sdt><w:sdtPr>{properties}</w:sdtPr><w:sdtContent>{content}</w:sdtContent></w:sdt>"

    body = (
        p(field('<w:checkBox><w:default w:val="1"/></w:checkBox>', "FORMCHECKBOX"), r(" Member"))
        + p(field('<w:checkBox><w:default w:val="1"/><w:checked w:val="0"/></w:checkBox>', "FORMCHECKBOX"), r(" Guest"))
        + p(r("Name: "), field("<w:textInput/>", "FORMTEXT", r("Ann Miller")))
        + p(r("Size: "), field('<w:ddList><w:listEntry w:val="S"/><w:listEntry w:val="M"/></w:ddList>', "FORMDROPDOWN"))
        + p(control('<w14:checkbox><w14:checked w14:val="1"/></w14:checkbox>', r("☒")), r(" Vegan"))
        + p(control('<w14:checkbox><w14:checked w14:val="0"/></w14:checkbox>', r("☐")), r(" Halal"))
        + p(r("Colour: "), control("<w:dropDownList/>", r("Blue")))
        + p(r("City: "), control("<w:showingPlcHdr/><w:text/>", r("Click here.")))
    )
    return document(body)


def fields() -> bytes:
    def mark(kind: str) -> str:
        return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'

    def told(text: str) -> str:
        return f'<w:r><w:instrText xml:space="preserve"> {text} </w:instrText></w:r>'

    link = mark("begin") + told('HYPERLINK "http://example.com"') + mark("separate") + r("the tariff") + mark("end")
    inner = mark("begin") + told("MERGEFIELD n") + mark("separate") + r("secret inner") + mark("end")
    nested = (
        mark("begin") + told("IF ") + inner + told('= "1" "a" "b"') + mark("separate") + r("outcome b") + mark("end")
    )
    symbol = mark("begin") + told('SYMBOL 254 \\f "Wingdings"') + mark("end")
    equation = mark("begin") + told("EQ \\f(1,2)") + mark("end")
    body = p(r("See "), link, r(".")) + p(nested) + p(symbol, r(" ticked ")) + p(r("Half is "), equation)
    body += p(mark("begin"), told("never ended")) + p(r("Still here."))
    body += p('<w:fldSimple w:instr=" PAGE "><w:r><w:t>page four</w:t></w:r></w:fldSimple>')
    return document(body)


def symbols() -> bytes:
    def sym(font: str, code: str) -> str:
        return f'<w:r><w:sym w:font="{font}" w:char="{code}"/></w:r>'

    def font(name: str) -> str:
        return f'<w:rFonts w:ascii="{name}" w:hAnsi="{name}"/>'

    return document(
        p(r("Tolerance "), sym("Symbol", "F0B1"), r("5, temperature "), sym("Symbol", "F0A3"), r(" 40"))
        + p(
            sym("Wingdings", "F0FE"),
            r(" yes "),
            sym("Wingdings", "F0A8"),
            r(" no "),
            sym("Wingdings 2", "F053"),
            r(" maybe"),
        )
        + p(r("Angle "), r("a", font("Symbol")), r(" is "), r("&#xF0B3;", font("Symbol")), r(" 3"))
        + p(r("&#xF0FC;", font("Wingdings")), r(" done "), sym("Marlett", "F061"))
    )


def letters_and_hyphens() -> bytes:
    hyphens = "<w:r><w:t>Donau</w:t><w:softHyphen/><w:t>dampf&#xAD;schiff</w:t><w:noBreakHyphen/><w:t>fahrt</w:t></w:r>"
    breaks = "<w:r><w:t>one</w:t><w:br/><w:t>two</w:t><w:tab/><w:t>three</w:t><w:ptab/><w:t>four</w:t></w:r>"
    ruby = "<w:r><w:ruby><w:rt>{}</w:rt><w:rubyBase>{}</w:rubyBase></w:ruby></w:r>".format(r("かんじ"), r("漢字"))
    return document(p(hyphens) + p(breaks) + p(ruby))


def equations() -> bytes:
    def t(text: str) -> str:
        return f"<m:r><m:t>{text}</m:t></m:r>"

    fraction = f"<m:f><m:num>{t('a+b')}</m:num><m:den>{t('2')}</m:den></m:f>"
    root = f'<m:rad><m:radPr><m:degHide m:val="1"/></m:radPr><m:deg/><m:e>{t("x")}</m:e></m:rad>'
    power = f"<m:sSup><m:e>{t('r')}</m:e><m:sup>{t('2')}</m:sup></m:sSup>"
    limits = f"<m:sub>{t('i=1')}</m:sub><m:sup>{t('n')}</m:sup>"
    total = f'<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr>{limits}<m:e>{t("i")}</m:e></m:nary>'
    matrix = "<m:d><m:e><m:m>{}{}</m:m></m:e></m:d>".format(
        *(f"<m:mr><m:e>{t(a)}</m:e><m:e>{t(b)}</m:e></m:mr>" for a, b in ("12", "34"))
    )
    sine = f"<m:func><m:fName>{t('sin')}</m:fName><m:e>{t('x')}</m:e></m:func>"
    inline = "".join(
        p(r("Here "), f"<m:oMath>{each}</m:oMath>") for each in (fraction, root, power, total, matrix, sine)
    )
    return document(inline + p(f"<m:oMathPara><m:oMath>{t('E=m')}{power}</m:oMath></m:oMathPara>"))


def numbered() -> bytes:
    def lvl(depth: int, format: str, text: str, more: str = "") -> str:
        inside = f"{val('start', '1')}{val('numFmt', format)}{more}{val('lvlText', text)}"
        return f'<w:lvl w:ilvl="{depth}">{inside}</w:lvl>'

    headings = lvl(0, "decimal", "%1", val("pStyle", "Heading1")) + lvl(
        1, "decimal", "%1.%2", val("pStyle", "Heading2")
    )
    letters = lvl(0, "lowerLetter", "%1)") + lvl(1, "lowerRoman", "(%2)")
    font = '<w:rPr><w:rFonts w:ascii="Wingdings"/></w:rPr>'
    boxes = f'<w:lvl w:ilvl="0">{val("numFmt", "bullet")}{val("lvlText", "&#xF0A8;")}{font}</w:lvl>'
    kinds = "".join(
        f'<w:abstractNum w:abstractNumId="{at}">{levels}</w:abstractNum>'
        for at, levels in enumerate((headings, letters, boxes))
    )
    lists = "".join(f'<w:num w:numId="{at + 1}"><w:abstractNumId w:val="{at}"/></w:num>' for at in range(3))
    start = f'<w:lvlOverride w:ilvl="0">{val("startOverride", "1")}</w:lvlOverride>'
    again = f'<w:num w:numId="4">{val("abstractNumId", "1")}{start}</w:num>'
    looks = "".join(
        style(f"Heading{at}", f'<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr><w:outlineLvl w:val="{at - 1}"/></w:pPr>')
        for at in (1, 2)
    )

    def item(text: str, list: int, depth: int = 0) -> str:
        return p(r(text), properties=f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{list}"/></w:numPr>')

    body = (
        p(r("Scope"), style="Heading1") + p(r("Money"), style="Heading1") + p(r("Rent"), style="Heading2")
        + p(r("Costs"), style="Heading2") + item("first", 2) + item("inner", 2, 1) + item("inner too", 2, 1) + item("second", 2)
        + item("anew", 4) + item("on", 4) + item("open", 3)
        + p(r("no number"), style="Heading1", properties='<w:numPr><w:numId w:val="0"/></w:numPr>')
    )  # fmt: skip
    members = {**styles(looks), "word/numbering.xml": part("numbering", kinds + lists + again)}
    return document(body, members, styles="word/styles.xml", numbering="word/numbering.xml")


def merged() -> bytes:
    wide, down, on_down = val("gridSpan", "2"), val("vMerge", "restart"), on("vMerge")
    body = table(
        row(cell(p(r("Shifts")), properties=val("gridSpan", "3"))),
        row(*(cell(p(r(text))) for text in ("Name", "Monday", "Tuesday"))),
        row(cell(p(r("Ann")), properties=down), cell(p(r("on leave")), properties=wide)),
        row(cell(p(), properties=on_down), cell(p(r("8"))), cell(p(r("7")))),
        row(cell(p(r("late")), properties=wide), cell(p(r("5"))), properties=val("gridBefore", "0")),
        row(cell(p(r("shifted"))), properties=val("gridBefore", "2")),
    )
    two = table(
        row(cell(p(r("Year"))), cell(p(r("2025")), properties=wide), properties=on("tblHeader")),
        row(*(cell(p(r(text))) for text in ("", "plan", "fact")), properties=on("tblHeader")),
        row(*(cell(p(r(text))) for text in ("rent", "10", "11"))),
    )
    inner = table(row(cell(p(r("inner a"))), cell(p(r("inner b")))), row(cell(p(r("inner c"))), cell(p(r("inner d")))))
    return document(
        body + p(r("Then.")) + two + p(r("Then.")) + table(row(cell(p(r("Nest:")), inner, p()), cell(p(r("z")))))
    )


FILES: Mapping[str, Callable[[], bytes]] = {
    "power.docx": power,
    "scripts-by-style.docx": scripts_by_style,
    "struck.docx": struck,
    "tracked.docx": tracked,
    "comments.docx": comments,
    "notes.docx": notes,
    "hidden.docx": hidden,
    "white-on-dark.docx": white_on_dark,
    "text-boxes.docx": text_boxes,
    "form.docx": form,
    "fields.docx": fields,
    "symbols.docx": symbols,
    "letters-and-hyphens.docx": letters_and_hyphens,
    "equations.docx": equations,
    "numbered.docx": numbered,
    "merged.docx": merged,
}
