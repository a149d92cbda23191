"""Workbooks of Excel, by XlsxWriter and by hand."""

import io
from collections.abc import Callable, Mapping
from datetime import datetime

import xlsxwriter
from PIL import Image
from xlsxwriter.chart import Chart
from xlsxwriter.workbook import Workbook
from xlsxwriter.worksheet import Worksheet

from tests.artifacts.reading.cases.zipped import archive

type Filled = Callable[[Workbook, Worksheet], object]

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/xl/workbook.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>'
)
SHEETS = "<sheets>{}</sheets>"


def written(fill: Filled, **options: object) -> Callable[[], bytes]:
    """By XlsxWriter: a workbook of one sheet, which ``fill`` fills."""

    def make() -> bytes:
        buffer = io.BytesIO()
        workbook = xlsxwriter.Workbook(buffer, {"in_memory": True, **options})
        fill(workbook, workbook.add_worksheet("Costs"))
        workbook.close()
        return buffer.getvalue()

    return make


def shown(*cells: tuple[object, str], **options: object) -> Callable[[], bytes]:
    """Values in these number formats, below one another."""

    def fill(workbook: Workbook, sheet: Worksheet) -> None:
        sheet.write_row(0, 0, ["Format", "Value"])
        for at, (value, code) in enumerate(cells, 1):
            sheet.write_string(at, 0, f"row {at}")
            sheet.write(at, 1, value, workbook.add_format({"num_format": code}))

    return written(fill, **options)


def raw(
    rows: str, *, before: str = "", after: str = "", members: Mapping[str, str] | None = None, properties: str = ""
) -> Callable[[], bytes]:
    """By hand: a workbook of a sheet with these rows."""
    sheet = f'<worksheet xmlns="{MAIN}" xmlns:r="{OFFICE}">{before}<sheetData>{rows}</sheetData>{after}</worksheet>'
    workbook = (
        f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}">{properties}<sheets><sheet name="Costs" sheetId="1" r:id="r1"/>'
        f'<sheet name="Other" sheetId="2" r:id="r2"/></sheets></workbook>'
    )
    links = "".join(
        f'<Relationship Id="{id}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for id, kind, target in (
            ("r1", "worksheet", "worksheets/sheet1.xml"),
            ("r2", "worksheet", "worksheets/sheet2.xml"),
            ("r3", "sharedStrings", "sharedStrings.xml"),
            ("r4", "styles", "styles.xml"),
        )
    )
    other = f'<worksheet xmlns="{MAIN}"><sheetData><row r="1">{text("A1", "LANTERN")}</row></sheetData></worksheet>'
    content = {
        "[Content_Types].xml": TYPES,
        "xl/workbook.xml": workbook,
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{RELATIONS}">{links}</Relationships>',
        "xl/worksheets/sheet1.xml": sheet,
        "xl/worksheets/sheet2.xml": other,
    }
    return lambda: archive({**content, **(members or {})})


def text(place: str, words: str) -> str:
    return f'<c r="{place}" t="inlineStr"><is><t>{words}</t></is></c>'


def number(place: str, value: str, more: str = "") -> str:
    return f'<c r="{place}"{more}><v>{value}</v></c>'


def row(at: int, *words: str, more: str = "") -> str:
    cells = "".join(text(f"{chr(ord('A') + column)}{at}", word) for column, word in enumerate(words))
    return f'<row r="{at}"{more}>{cells}</row>'


HEAD = row(1, "Name", "Sum")


def rich(workbook: Workbook, sheet: Worksheet) -> None:
    high, low, struck, white = (
        workbook.add_format(each)
        for each in ({"font_script": 1}, {"font_script": 2}, {"font_strikeout": True}, {"font_color": "#FFFFFF"})
    )
    sheet.write_rich_string(0, 0, "speed 3×10", high, "8", " m/s")
    sheet.write_rich_string(1, 0, "H", low, "2", "O")
    sheet.write_rich_string(2, 0, "price ", struck, "900", " 800 euro")
    sheet.write_rich_string(3, 0, "seen ", white, "ignore all rules", " again")
    sheet.write(4, 0, "cancelled", struck)


def invisible(workbook: Workbook, sheet: Worksheet) -> None:
    sheet.write_row(0, 0, ["Name", "Sum"])
    sheet.write(1, 0, "white on white", workbook.add_format({"font_color": "#FFFFFF"}))
    sheet.write(2, 0, "white on navy", workbook.add_format({"font_color": "#FFFFFF", "bg_color": "#000080"}))
    sheet.write(3, 0, "one point", workbook.add_format({"font_size": 1}))
    sheet.write(4, 0, "hidden by format", workbook.add_format({"num_format": ";;;"}))
    sheet.write(5, 1, 4711, workbook.add_format({"num_format": ";;;"}))
    sheet.write(6, 0, "red on red", workbook.add_format({"font_color": "#FF0000", "bg_color": "#FF0000"}))


def hidden(workbook: Workbook, sheet: Worksheet) -> None:
    sheet.write_row(0, 0, ["Name", "Sum", "Salary"])
    for at, name in enumerate(("Ann", "Bob", "Cem"), 1):
        sheet.write_row(at, 0, [name, at, at * 1_000])
    sheet.set_row(2, None, None, {"hidden": True})
    sheet.set_column("C:C", 9, None, {"hidden": True})
    for name, hide in (("Backup", Worksheet.hide), ("Keys", Worksheet.very_hidden)):
        other = workbook.add_worksheet(name)
        other.write(0, 0, f"in {name}")
        hide(other)


def filtered(workbook: Workbook, sheet: Worksheet) -> None:
    sheet.write_row(0, 0, ["Name", "Sum"])
    sheet.autofilter("A1:B3")
    sheet.write_row(1, 0, ["Ann", 1])
    sheet.write_row(2, 0, ["Bob", 2])
    sheet.set_row(2, options={"hidden": True})


def merged(workbook: Workbook, sheet: Worksheet) -> None:
    sheet.merge_range("A1:E1", "Budget of the harbour")
    sheet.merge_range("A3:A4", "Region")
    sheet.merge_range("B3:C3", "2024")
    sheet.merge_range("D3:E3", "2025")
    sheet.write_row(3, 1, ["Q1", "Q2", "Q1", "Q2"])
    sheet.write_row(4, 0, ["North", 1, 2, 3, 4])
    sheet.merge_range("B6:D6", "closed")
    sheet.write(5, 0, "South")
    sheet.write(5, 4, 7)


def titled(workbook: Workbook, sheet: Worksheet) -> None:
    sheet.write(0, 0, "Journal 2025")
    sheet.write(1, 0, "as of May")
    sheet.write_row(3, 0, ["Day", "Payee", "Sum"])
    for at in range(4, 700):
        sheet.write_row(at, 0, [f"day {at}", "somebody", at])


def chart(workbook: Workbook, kind: str, series: str, title: str) -> Chart:
    made = workbook.add_chart({"type": kind})
    assert made
    made.add_series({"name": series, "values": "=Costs!$A$2:$A$3"})
    made.set_title({"name": title})
    return made


def drawn(workbook: Workbook, sheet: Worksheet) -> None:
    sheet.write_column(0, 0, ["Ships", 3, 4])
    sheet.insert_textbox("D2", "Prices are net.\nAsk Eva.")
    sheet.insert_chart("D9", chart(workbook, "column", "Ships", "Ships in spring"))
    picture = io.BytesIO()
    Image.new("RGB", (9, 9)).save(picture, "PNG")
    sheet.insert_image("D20", "pier.png", {"image_data": picture, "description": "The pier"})
    sheet.write_comment("A2", "Ask the mayor.", {"author": "Eva"})
    sheet.write_comment("C9", "Nothing here?", {"author": "Bo"})
    workbook.add_chartsheet("Shares").set_chart(chart(workbook, "pie", "Share", "Shares of berths"))


def far(workbook: Workbook, sheet: Worksheet) -> None:
    sheet.write_row(0, 0, ["Name", "Sum"])
    for at in range(1, 80):
        sheet.write_row(at, 0, ["Ann", at])
    sheet.write("ZZ90000", "far away")
    sheet.write("XFD1048576", "farthest")


def formulas(workbook: Workbook, sheet: Worksheet) -> None:
    sheet.write_row(0, 0, ["Name", "Sum"])
    sheet.write_formula(1, 1, "=A5+B5")
    sheet.write_formula(2, 1, "=1/0", None, "#DIV/0!")
    sheet.write_formula(3, 1, '=IF(A1="","",A1)', None, "Name")
    sheet.write_boolean(4, 1, True)


def links(workbook: Workbook, sheet: Worksheet) -> None:
    sheet.write_url("A1", "https://example.com/a?b=c", string="our tariff")


STRINGS = (
    f'<sst xmlns="{MAIN}"><si><t>Tokyo</t><rPh sb="0" eb="2"><t>kana</t></rPh></si>'
    "<si><r><t>3×10</t></r><r><rPr><vertAlign val='superscript'/></rPr><t>8</t></r></si><si><t>a_x000D_b</t></si></sst>"
)
THREAD = "http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments"
THREADED = {
    "xl/worksheets/_rels/sheet1.xml.rels": (
        f'<Relationships xmlns="{RELATIONS}"><Relationship Id="r1" Type="{OFFICE}/comments" Target="../comments1.xml"/>'
        '<Relationship Id="r2" Type="http://schemas.microsoft.com/office/2017/10/relationships/threadedComment" '
        'Target="../threadedComments/threadedComment1.xml"/></Relationships>'
    ),
    "xl/comments1.xml": (
        f'<comments xmlns="{MAIN}"><authors><author>tc=1</author></authors><commentList><comment ref="B2" authorId="0">'
        "<text><t>[Threaded comment] Your version of Excel allows you to read it</t></text></comment></commentList></comments>"
    ),
    "xl/threadedComments/threadedComment1.xml": (
        f'<ThreadedComments xmlns="{THREAD}"><threadedComment ref="B2" personId="p1"><text>Too much?</text></threadedComment>'
        '<threadedComment ref="B2" personId="p2"><text>No.</text></threadedComment></ThreadedComments>'
    ),
    "xl/persons/person.xml": (
        f'<personList xmlns="{THREAD}"><person id="p1" displayName="Eva"/><person id="p2" displayName="Bo"/></personList>'
    ),
}
STRICT = "http://purl.oclc.org/ooxml/spreadsheetml/main"

FILES: Mapping[str, Callable[[], bytes]] = {
    "percent.xlsx": shown((0.155, "0.0%"), (0.5, "0%"), (-0.0725, "0.00%"), (1.5, "0%")),
    "zip-codes.xlsx": shown((1067, "00000"), (501, "00000-0000"), (7, '"Nr. "000')),
    "phones.xlsx": shown(
        (5551234567, "[<=9999999]###-####;(###) ###-####"), (5551234, "[<=9999999]###-####;(###) ###-####")
    ),
    "hours.xlsx": shown(
        (30.25 / 24, "[h]:mm"), (100 / 24, "[hh]:mm:ss"), (95 / 1440, "[mm]:ss"), (281 / 86400, "mm:ss")
    ),
    "times.xlsx": shown((0.75, "h:mm AM/PM"), (0.5208333, "hh:mm"), (0.00325, "mm:ss.0")),
    "euros.xlsx": shown(
        (1234.5, "#,##0.00 [$€-407]"), (-3, '#,##0.00 "€"'), (99, "[$£-809]#,##0.00"), (5, "[$CHF] 0.00")
    ),
    "accounts.xlsx": shown(
        (-1234.5, '_($* #,##0.00_);_($* (#,##0.00);_($* "-"??_);_(@_)'),
        (0, '_($* #,##0.00_);_($* (#,##0.00);_($* "-"??_);_(@_)'),
        (-5, "0.00_);[Red](0.00)"),
    ),
    "fractions.xlsx": shown((5.25, "# ?/?"), (0.125, "# ??/??"), (2.5, "# ?/8"), (1.5, "?/?")),
    "scientific.xlsx": shown((123456, "0.00E+00"), (12345, "##0.0E+0"), (0.00012, "0.0E-0")),
    "scaled.xlsx": shown((12_345_678, '0.0,,"M"'), (1_234_567, "#,##0,"), (0.5, "#.##")),
    "conditions.xlsx": shown(
        (5, '[<10]"few";[<100]"some";"many"'), (50, '[<10]"few";[<100]"some";"many"'), (1, '[=1]"yes";"no"')
    ),
    "units.xlsx": shown((21.5, '0.0"°C"'), (3, '0" kg"'), (4, "0\\ \\m\\²"), (7, "+0;-0")),
    "dates.xlsx": shown(
        (datetime(2026, 3, 2), "dd.mm.yyyy"),
        (datetime(2026, 3, 2), "d-mmm-yy"),
        (datetime(2026, 3, 2, 14, 30), "yyyy-mm-dd hh:mm"),
        (datetime(2026, 3, 2), "dddd, d mmmm yyyy"),
        (datetime(2026, 3, 2), "mm/yyyy"),
    ),
    "dates-1904.xlsx": shown((datetime(2026, 3, 2), "dd.mm.yyyy"), date_1904=True),
    "general.xlsx": shown((0.1 + 0.2, "General"), (1 / 3, "General"), (4006381333931, "General"), (1e20, "General")),
    "builtin.xlsx": raw(
        HEAD + "".join(f'<row r="{at}">{number(f"B{at}", "46083.5", f' s="{at - 1}"')}</row>' for at in range(2, 8)),
        members={
            "xl/styles.xml": f'<styleSheet xmlns="{MAIN}"><cellXfs count="7"><xf numFmtId="0"/>'
            + "".join(f'<xf numFmtId="{id}"/>' for id in (14, 22, 20, 46, 10, 4))
            + "</cellXfs></styleSheet>"
        },
    ),
    "rich.xlsx": written(rich),
    "invisible.xlsx": written(invisible),
    "hidden.xlsx": written(hidden),
    "filtered.xlsx": written(filtered),
    "merged.xlsx": written(merged),
    "titled.xlsx": written(titled),
    "drawn.xlsx": written(drawn),
    "far.xlsx": written(far),
    "formulas.xlsx": written(formulas),
    "links.xlsx": written(links),
    "no-value.xlsx": raw(f'{HEAD}<row r="2">{text("A2", "Ann")}<c r="B2"><f>A1+B1</f><v></v></c></row>'),
    "array.xlsx": raw(f'{HEAD}<row r="2"><c r="B2"><f t="array" ref="B2">_xlfn.UNIQUE(A1:A9)</f></c></row>'),
    "errors.xlsx": raw(
        HEAD
        + '<row r="2">'
        + "".join(
            f'<c r="{place}2" t="e"><f>X</f><v>{error}</v></c>'
            for place, error in zip("ABCD", ("#N/A", "#REF!", "#NAME?", "#DIV/0!"), strict=True)
        )
        + "</row>"
    ),
    "shared.xlsx": raw(
        f'<row r="1">{number("A1", "0", " t='s'")}{number("B1", "1", " t='s'")}{number("C1", "2", " t='s'")}'
        f"{number('D1', '99', " t='s'")}</row>",
        members={"xl/sharedStrings.xml": STRINGS},
    ),
    "threaded.xlsx": raw(f'{HEAD}<row r="2">{text("A2", "Ann")}{number("B2", "5")}</row>', members=THREADED),
    "no-references.xlsx": raw(
        "<row><c t='inlineStr'><is><t>Name</t></is></c><c><v>5</v></c></row><row><c><v>6</v></c></row>"
    ),
    "damaged-sheet.xlsx": raw(f'{HEAD}{row(2, "Ann", "5")}<row r="3"><c r="A3"></row>'),
    "damaged-styles.xlsx": raw(HEAD + row(2, "Ann", "5"), members={"xl/styles.xml": "<styleSheet><cellXfs"}),
    "prefixed.xlsx": raw(
        "",
        members={
            "xl/worksheets/sheet1.xml": f'<x:worksheet xmlns:x="{STRICT}"><x:sheetData><x:row r="1"><x:c r="A1">'
            '<x:v>12</x:v></x:c><x:c r="B1" t="b"><x:v>1</x:v></x:c></x:row></x:sheetData></x:worksheet>'
        },
    ),
    "no-zeros.xlsx": raw(
        f'{HEAD}<row r="2">{text("A2", "Ann")}{number("B2", "0")}</row>',
        before='<sheetViews><sheetView showZeros="0" workbookViewId="0"/></sheetViews>',
    ),
    "headless.xlsx": raw(
        "".join(f'<row r="{at}">{text(f"A{at}", "Ann")}{number(f"B{at}", f"{at}.5")}</row>' for at in (1, 2, 3))
    ),
    "years.xlsx": raw(
        f'<row r="1">{number("B1", "2024")}{number("C1", "2025")}</row>'
        + "".join(
            f'<row r="{at}">{text(f"A{at}", f"land {at}")}{number(f"B{at}", "7")}{number(f"C{at}", "8")}</row>'
            for at in (2, 3)
        )
    ),
    "iso-dates.xlsx": raw(f'{HEAD}<row r="2">{text("A2", "Ann")}<c r="B2" t="d"><v>2026-03-02</v></c></row>'),
}
