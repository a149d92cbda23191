"""Tables as workbooks and CSV: numbers and days are such, and no cell can act."""

import csv
import io
import zipfile
from datetime import date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from python_calamine import CalamineWorkbook

from artifacts.exporting.cells import Column, Value, read, read_columns
from artifacts.exporting.comma_separated import guarded
from artifacts.exporting.convert import export
from artifacts.exporting.workbook import LONGEST_NAME, sheet_names
from artifacts.services import ArtifactError

COSTS = """\
# Costs

What was spent, by **item**.

| Item | Sum | Share | Day |
|:-----|----:|------:|-----|
| Rent | €1,234.50 | 12.5% | 2026-12-31 |
| Power | -€99 | (3) | 31.12.2026 |
| 漢字 😀 | 1234567 | +4.0 % | soon |
| Short |

> ## Who / what?
>
> | الاسم | العدد |
> |---|---|
> | مريم | 7 |

- In a list:

  | a | b |
  |---|---|
  | =1+2 | [Plan](https://example.com/plan) |
"""


def exported(content: str, as_: str, kind: str = "table", title: str = "Costs 2026") -> bytes:
    return export(title=title, kind=kind, language="", content=content, as_=as_).body


def sheets(content: str, **options: Any) -> dict[str, list[list[Any]]]:
    book = CalamineWorkbook.from_filelike(io.BytesIO(exported(content, "xlsx", **options)))
    return {name: book.get_sheet_by_name(name).to_python() for name in book.sheet_names}


def csv_rows(content: str, **options: Any) -> list[list[str]]:
    text = exported(content, "csv", **options).decode("utf-8-sig")
    return list(csv.reader(io.StringIO(text, newline="")))


def package_file(made: bytes, name: str) -> str:
    with zipfile.ZipFile(io.BytesIO(made)) as package:
        return package.read(name).decode()


@pytest.mark.parametrize("kind", ["table", "document"])
def test_each_table_is_a_sheet_with_numbers_and_days_as_such(kind: str) -> None:
    assert sheets(COSTS, kind=kind) == {
        "Costs": [
            ["Item", "Sum", "Share", "Day"],
            ["Rent", 1234.5, 0.125, date(2026, 12, 31)],
            ["Power", -99.0, -3.0, date(2026, 12, 31)],
            ["漢字 😀", 1234567.0, 0.04, "soon"],
            ["Short", "", "", ""],
        ],
        "Who what": [["الاسم", "العدد"], ["مريم", 7.0]],
        "Costs (2)": [["a", "b"], ["=1+2", "Plan"]],
    }


def test_the_only_table_has_the_title_of_the_artifact() -> None:
    assert sheets("# Sums\n\n|a|\n|-|\n|1|\n") == {"Costs 2026": [["a"], [1.0]]}
    assert sheets("a;b\n1;x\n", title="История: [1]") == {"История 1": [["a", "b"], [1.0, "x"]]}


def test_a_sheet_looks_like_a_table() -> None:
    made = exported(COSTS, "xlsx")
    first, second = (package_file(made, f"xl/worksheets/sheet{number}.xml") for number in (1, 2))
    assert '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>' in first
    assert ('rightToLeft="1"' in first, 'rightToLeft="1"' in second) == (False, True)
    assert '<col min="1" max="1" width="9.7109375" customWidth="1"/>' in first
    styles = package_file(made, "xl/styles.xml")
    formats = ("&quot;€&quot;#,##0.00", "&quot;€&quot;0", "0.0%", "+0.0%;-0.0%;0.0%", "yyyy-mm-dd", "dd.mm.yyyy")
    assert [wanted for wanted in formats if f'formatCode="{wanted}"' not in styles] == []
    assert 'quotePrefix="1"' in styles


def test_no_cell_of_a_workbook_is_a_formula() -> None:
    texts = ["=1+2", "+A1", "-2+3+cmd|' /C calc'!A0", "@SUM(A1)", "{=1}", '=HYPERLINK("https://x.example")']
    made = exported("a\n" + "\n".join(f'"{text.replace('"', '""')}"' for text in texts), "xlsx")
    assert "<f>" not in package_file(made, "xl/worksheets/sheet1.xml")
    rows = CalamineWorkbook.from_filelike(io.BytesIO(made)).get_sheet_by_index(0).to_python()
    assert rows == [["a"], *([text] for text in texts)]


def test_csv_opens_in_excel_as_it_is_meant() -> None:
    made = exported("name;sum\nWeber, Sons;-5\n東京;1,5\n", "csv")
    assert made == '\ufeffname,sum\r\n"Weber, Sons",-5\r\n東京,"1,5"\r\n'.encode()
    assert csv_rows(COSTS)[4:] == [
        ["Short", "", "", ""],
        [],
        ["الاسم", "العدد"],
        ["مريم", "7"],
        [],
        ["a", "b"],
        ["'=1+2", "Plan (https://example.com/plan)"],
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("=1+2", "'=1+2"),
        ("+A1", "'+A1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("-2+3+cmd|' /C calc'!A0", "'-2+3+cmd|' /C calc'!A0"),
        ("＝1+2", "'＝1+2"),
        ("\t=1", "\t'=1"),
        ("a;=1+2", "a;'=1+2"),
        ('a;"=1+2', "a;'\"=1+2"),
        ("two\n=1", "two\n'=1"),
        ("-5", "-5"),
        ("−5,2 %", "-5,2 %"),
        ("-€1,234.50", "-€1,234.50"),
        ("+3.5", "+3.5"),
        ("-", "-"),
        ("--", "--"),
        ("a = b", "a = b"),
        ("e-mail", "e-mail"),
    ],
)
def test_what_a_spreadsheet_would_take_for_a_formula_is_text_in_csv(text: str, expected: str) -> None:
    assert guarded(text) == expected


@given(st.text(alphabet="=+-@;\t\n\"' 1a,", max_size=12))
def test_no_piece_of_a_csv_cell_begins_as_a_formula(text: str) -> None:
    pieces = guarded(text).replace("\t", ";").replace("\n", ";").split(";")
    begins = [piece.lstrip(' "') for piece in pieces]
    acting = [piece for piece in begins if piece[:1] and piece[0] in "=@"]
    assert acting == []


COLUMN = Column()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12", Value(12.0)),
        ("0", Value(0.0)),
        ("٣٤", Value(34.0)),
        ("1,234,567", Value(1234567.0, "#,##0")),
        ("1 234,5", Value(1234.5, "#,##0.0")),
        ("1’234.50", Value(1234.5, "#,##0.00")),
        ("1,00,000", Value(100000.0, "#,##0")),
        ("0.125", Value(0.125, "0.000")),
        ("1.234 €", Value(1234.0, '#,##0 "€"')),
        ("US$ 5", Value(5.0, '"US$"0')),
        ("CHF 1.50", Value(1.5, '"CHF"0.00')),
        ("$-5", Value(-5.0, '"$"0')),
        ("(7)", Value(-7.0)),
        ("−3", Value(-3.0)),
        ("+3", Value(3.0, "+0;-0;0")),
        ("28.6%", Value(0.286, "0.0%")),
        ("2026-03-04 05:06", Value(datetime(2026, 3, 4, 5, 6), "yyyy-mm-dd hh:mm")),
        ("4.3.2026", Value(datetime(2026, 3, 4), "dd.mm.yyyy")),
    ],
)
def test_what_can_be_read_in_one_way_is_a_number_or_a_day(text: str, expected: Value) -> None:
    assert read(text, COLUMN) == expected


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "a",
            "007",
            "1234567890123456",
            "+49170123",
            "+49 170 123",
            "1-2",
            "1/2",
            "12 kg",
            "1.2.3",
            "1,2,3",
            "--5",
        ),
        *("-(5)", "€5€", "1.234", "3/4/2026", "2026-02-30", "1850-01-01", "2026-01-01T10:00:00Z", "1e5", "NaN"),
    ],
)
def test_whatever_could_be_something_else_stays_text(text: str) -> None:
    assert read(text, COLUMN) == Value(text)


def test_a_column_tells_how_its_numbers_and_days_are_written() -> None:
    rows = [
        ["1.234", "3/4/2026", "0042", "1.234"],
        ["0,5", "31/4/2026", "17", "0.5"],
        ["2,500", "12/31/2026", "", "2,500"],
    ]
    columns = read_columns(rows)
    assert columns == [
        Column(mark=",", day_first=None, is_code=False),
        Column(mark=None, day_first=None, is_code=False),
        Column(mark=None, day_first=None, is_code=True),
        Column(mark=".", day_first=None, is_code=False),
    ]
    values = [[read(text, column).value for text, column in zip(row, columns, strict=True)] for row in rows]
    assert values == [
        [1234.0, "3/4/2026", "0042", 1.234],
        [0.5, "31/4/2026", "17", 0.5],
        [2.5, "12/31/2026", "", 2500.0],
    ]
    assert read("3/4/2026", Column(day_first=True)).value == datetime(2026, 4, 3)
    assert read("3/4/2026", Column(day_first=False)).value == datetime(2026, 3, 4)


@given(st.lists(st.text(max_size=50), max_size=8))
def test_sheets_have_names_that_excel_takes(wanted: list[str]) -> None:
    names = sheet_names(wanted)
    assert len({name.casefold() for name in names} - {"history"}) == len(wanted)
    assert [name for name in names if len(name.encode("utf-16-le")) > 2 * LONGEST_NAME or not name] == []
    assert [name for name in names if set(name) & set("[]:*?/\\") or name[0] == "'" or name[-1] == "'"] == []


@pytest.mark.wide
def test_ten_thousand_rows_are_exported_within_the_limits() -> None:
    rows = [[f"Customer {number}", f"{number}.5"] for number in range(10_000)]
    content = "name,sum\n" + "".join(",".join(row) + "\n" for row in rows)
    (sheet,) = sheets(content).values()
    assert (len(sheet), sheet[0], sheet[-1]) == (10_001, ["name", "sum"], ["Customer 9999", 9999.5])
    assert csv_rows(content) == [["name", "sum"], *rows]


@pytest.mark.once("document*csv")
@pytest.mark.parametrize("as_", ["xlsx", "csv"])
@pytest.mark.parametrize(("kind", "content"), [("document", "# A"), ("code", "a,b"), ("table", ",")])
def test_an_artifact_without_a_table_says_so(as_: str, kind: str, content: str) -> None:
    with pytest.raises(ArtifactError, match="There is no table") as refused:
        exported(content, as_, kind=kind)
    assert (refused.value.code, refused.value.status) == ("export_no_table", 422)


@pytest.mark.once("content0")
@pytest.mark.parametrize("content", ["a\n" + "x" * 32_768, "a," * 16_384 + "a"])
def test_what_excel_can_not_hold_is_refused_for_excel_alone(content: str) -> None:
    with pytest.raises(ArtifactError, match="Export it as CSV") as refused:
        exported(content, "xlsx")
    assert (refused.value.code, refused.value.status) == ("export_too_large", 413)
    assert csv_rows(content) == list(csv.reader(io.StringIO(content)))
