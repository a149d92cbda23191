"""Real files, made by other programs: each part by its page, sheet, slide or section."""

import shutil
from pathlib import Path

import pytest
from PIL import Image

from artifacts.reading.kinds import detect
from artifacts.reading.problems import FileProblem
from artifacts.reading.process import Limits, Outline, page_pictures, read, thumbnail
from tests.artifacts.reading.helpers import SAMPLES, read_file
from tests.artifacts.reading.hostile import pdf

pytestmark = pytest.mark.process

COSTS = """# Costs

Mooring in Zürich costs 12 €{note} a day; see the tariff.

- Rent
- Wages
  - North quay

| Month | Ships | Sum |
| --- | --- | --- |
| January | 7 | 84 € |
| Both \\| together |  | 168 € |"""

OUTLOOK = "# Outlook\n\nПривет, 你好: next year a new pier opens.{comment}\n\n## Risks\n\nIce."

REPORTS = {
    "report.odt": {
        "part 1": "Words before any heading.",
        'section "Costs"': COSTS.format(note=" [note 1: Without tax, as of spring.]"),
        'section "Outlook"': OUTLOOK.format(comment=" [comment by Eva: Ask the mayor.]"),
    },
    "report.docx": {
        "part 1": "Words before any heading.",
        'section "Costs"': COSTS.format(note="[^1]"),
        'section "Outlook"': OUTLOOK.format(comment=" [comment by Eva: Ask the mayor.]"),
        'section "Footnotes"': "# Footnotes\n\n[^1]: Without tax, as of spring.",
    },
    "report.epub": {
        'section "Section 1"': "# Section 1\n\nWords before any heading.",
        'section "Costs"': (
            "# Costs\n\nMooring in Zürich costs 12 €^1 a day; see the tariff.\n\nRent\n\nWages\n\nNorth quay\n\n"
            "| Month | Ships | Sum |\n| --- | --- | --- |\n| January | 7 | 84 € |\n| Both \\| together |  | 168 € |\n\n"
            "^1Without tax, as of spring."
        ),
        'section "Outlook"': "# Outlook\n\nПривет, 你好: next year a new pier opens.\n\nRisks\n\nIce.",
    },
    "report.pdf": {
        "page 1": (
            "Words before any heading.\n\n## Costs\n\nMooring in Zürich costs 12 €^1 a day; see the tariff.\n"
            "• Rent\n• Wages\n• North quay\nMonth Ships Sum\nJanuary 7 84 €\nBoth | together 168 €\n"
            "1 Without tax, as of spring."
        ),
        "page 2": "## Outlook\n\nПривет, 你好: next year a new pier opens.\n\n## Risks\n\nIce.",
    },
    "page.pdf": {"page 1": "## Hafen\n\nEin Platz kostet zwölf Euro.\n\n## Preise\n\nMonat Summe\nMai 84"},
    "page.html": {
        'section "Hafen"': (
            "# Hafen\n\nEin Platz kostet zwölf Euro.\n\n## Preise\n\n| Monat | Summe |\n| --- | --- |\n| Mai | 84 |"
        )
    },
    **{
        name: {
            'sheet "Q2"': "| Name | Sum | Paid on |\n| --- | --- | --- |\n| Anna \\| Co | 1.5 | 2026-02-03 |\n| Total | 3 |",
            'sheet "Empty"': "(This sheet is empty.)",
            'sheet "Notes" (hidden)': "| Kept aside |\n| --- |",
        }
        for name in ("budget.ods", "budget.xlsx", "budget.xls")
    },
    "talk.odp": {
        "slide 1": "## The pier\n\n- Opens in May\n- Costs little\n\nNotes: Thank the builders.",
        "slide 2": "## Figures\n\n| Year | Ships |\n| --- | --- |\n| 2025 | 81 |",
    },
    "talk.pptx": {
        "slide 1": "## The pier\n\nOpens in May\nCosts little\n\nNotes: Thank the builders.",
        "slide 2": "## Figures\n\n| Year | Ships |\n| --- | --- |\n| 2025 | 81 |",
    },
}

SHOWN = """Report 2025

| What | Value | Note (hidden) |  |
| --- | --- | --- | --- |
| 0.0% | 15.5% |
| 00000 | 01067 [comment: Check this] |
| [h]:mm | 30:15 |
| #,##0.00 [$€-407] | 1,234.50 € |
| d. mmm yyyy | 15. Mar 2023 |
| 0.00_);[Red](0.00) | (5.00) |
| # ?/? | 1/2 |
| 0.00E+00 | 1.23E+05 |
| ;;; |
| 3×10^8 m/s |
| old ~~900~~ new 800 |
| white on black |
| TRUE | #DIV/0! | 0 |
| (hidden) hidden row |
| ~~Struck cell~~ |
| merged all |
| our site |
|  |  |  | [comment: Alone] |

(1 of these rows is hidden in the sheet.)

Prices are net.
Second line

(chart: Month; Sales by month)"""

MAIL = """From: =?utf-8?q?J=C3=BCrgen?= <j@example.com>
To: eva@example.com
Subject: =?utf-8?b?R3LDvMOfZQ==?=
Date: Mon, 2 Mar 2026 10:00:00 +0100
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="out"

--out
Content-Type: multipart/alternative; boundary="in"

--in
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

Gr=FC=DFe aus dem Hafen.
--in
Content-Type: text/html; charset=utf-8

<p>Not this form.</p>
--in--
--out
Content-Type: application/pdf
Content-Disposition: attachment; filename="tariff.pdf"
Content-Transfer-Encoding: base64

JVBERi0=
--out--
"""


@pytest.mark.parametrize("name", REPORTS)
def test_a_file_is_read_part_by_part(name: str, tmp_path: Path) -> None:
    outcome = read_file(SAMPLES / name, tmp_path)
    assert {part.label: part.text for part in outcome.parts} == REPORTS[name]
    assert [part.number for part in outcome.parts] == list(range(1, len(REPORTS[name]) + 1))
    assert outcome.problem == ""


def test_an_old_workbook_says_what_its_cells_show(tmp_path: Path) -> None:
    outcome = read_file(SAMPLES / "shown.xls", tmp_path)
    assert outcome.parts[0].text == SHOWN
    assert {part.label: part.text for part in outcome.parts[1:]} == {
        'sheet "Hid" (hidden)': "| x |\n| --- |\n\n(picture)",
        'sheet "VH" (hidden)': "| y |\n| --- |",
        'sheet "Chart"': "(chart: Share)",
    }
    assert outcome.left_out == ["hidden: hidden cell × 3", "not_read: chart × 2"]


def test_pages_stand_under_the_headings_of_the_table_of_contents(tmp_path: Path) -> None:
    outcome = read_file(SAMPLES / "report.pdf", tmp_path)
    assert (outcome.title, outcome.total) == ("Harbour report", 2)
    assert [(part.page, part.heading) for part in outcome.parts] == [(1, "Costs"), (2, "Outlook")]


def test_a_page_without_text_is_a_picture(tmp_path: Path) -> None:
    outcome = read_file(SAMPLES / "scan.pdf", tmp_path)
    picture = outcome.parts[0].picture
    assert picture
    assert picture.parent == tmp_path
    with Image.open(picture) as image:
        assert image.size == (outcome.parts[0].width, outcome.parts[0].height)
        assert max(image.size) == 1_568


def test_broken_words_are_put_together_and_fields_are_read(tmp_path: Path) -> None:
    content = "BT /F1 12 Tf 20 180 Td (An exam-) Tj 0 -15 Td (ple of words.) Tj ET"
    objects = [
        "<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[6 0 R]>>>>",
        "<</Type/Pages/Count 1/Kids[3 0 R]>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>/Annots[6 0 R]>>",
        f"<</Length {len(content)}>>stream\n{content}\nendstream",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        "<</Type/Annot/Subtype/Widget/FT/Tx/T(Name)/V(Eva Example)/Rect[20 20 200 40]/P 3 0 R>>",
    ]
    [part] = read_file(pdf(objects, tmp_path / "form.pdf"), tmp_path).parts
    assert part.text == "An example of words.\n\n- Name: Eva Example"


def test_any_page_can_be_drawn(tmp_path: Path) -> None:
    file = SAMPLES / "report.pdf"
    drawn = dict(page_pictures(file, detect(file, file.name), [2, 1], folder=tmp_path, limits=Limits()))
    assert list(drawn) == [2, 1]
    for page in drawn.values():
        with Image.open(page) as image:
            assert max(image.size) == 1_568
            assert image.getcolors(1) is None


@pytest.mark.parametrize("name", ["report.pdf", "photo.jpg", "photo.png"])
def test_a_thumbnail_is_small_and_tells_nothing(name: str, tmp_path: Path) -> None:
    file = SAMPLES / name
    with Image.open(thumbnail(file, detect(file, name), folder=tmp_path, limits=Limits())) as image:
        assert (image.format, max(image.size)) == ("WEBP", 400)
        assert not image.getexif()
        assert not set(image.info) & {"exif", "icc_profile", "xmp"}


def test_a_page_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    file = SAMPLES / "report.pdf"
    with pytest.raises(FileProblem, match="has 2 pages") as refused:
        list(page_pictures(file, detect(file, file.name), [3], folder=tmp_path, limits=Limits()))
    assert refused.value.code == "no_such_page"


@pytest.mark.parametrize("name", ["photo.jpg", "photo.heic", "photo.png", "photo.webp"])
def test_a_picture_is_upright_and_tells_nothing_of_where_it_was_made(name: str, tmp_path: Path) -> None:
    [part] = read_file(SAMPLES / name, tmp_path).parts
    assert part.picture
    assert (part.label, part.text, part.width, part.height) == ("picture", "", 400, 300)
    with Image.open(part.picture) as image:
        assert image.format in {"JPEG", "PNG"}
        assert not image.getexif()
        assert not set(image.info) & {"exif", "icc_profile", "xmp", "comment", "Comment"}
        red, _, blue = image.convert("RGB").getpixel((200, 5))  # type: ignore[misc]
        assert red > blue  # the gradient begins with red, above
    content = part.picture.read_bytes()
    assert b"Canary" not in content
    assert b"Harbourcam" not in content


def test_of_an_animation_the_first_picture_is_read_and_that_is_said(tmp_path: Path) -> None:
    [part] = read_file(SAMPLES / "photo.gif", tmp_path).parts
    assert part.text == "(The file is an animation; this is its first picture.)"
    assert (part.width, part.height) == (60, 40)


@pytest.mark.wide
def test_a_large_picture_is_made_smaller(tmp_path: Path) -> None:
    Image.effect_noise((5_000, 3_000), 80).save(tmp_path / "large.jpg")
    [part] = read_file(tmp_path / "large.jpg", tmp_path).parts
    assert (part.width, part.height) == (2_000, 1_200)


def test_a_mail_has_its_headers_its_text_and_the_names_of_what_is_attached(tmp_path: Path) -> None:
    (tmp_path / "a.eml").write_text(MAIL)
    [part] = read_file(tmp_path / "a.eml", tmp_path).parts
    assert (part.label, part.heading) == ("message", "Grüße")
    assert part.text == (
        "From: Jürgen <j@example.com>\nTo: eva@example.com\nDate: Mon, 2 Mar 2026 10:00:00 +0100\nSubject: Grüße\n\n"
        "Grüße aus dem Hafen.\n\nAttached, and not read here:\n\n- tariff.pdf (application/pdf, 1 kB)"
    )


@pytest.mark.wide
@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        ("cp1251", "Причал стоит двенадцать евро, а новый откроется в мае. "),
        ("cp1252", "Ein Platz kostet zwölf Euro – für größere Schiffe mehr, während der Ferien täglich. "),
        ("shift-jis", "桟橋は一日十二ユーロです。新しい桟橋は五月に開きます。"),
        ("gb18030", "码头每天十二欧元,新码头将于五月开放。"),
        ("utf-16", "Grüße aus dem Hafen. "),
        ("utf-8-sig", "Grüße aus dem Hafen. "),
    ],
)
def test_a_text_is_read_in_the_encoding_it_was_written_in(encoding: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes((words * 20).encode(encoding))
    assert read_file(tmp_path / "a.txt", tmp_path).text.strip() == (words * 20).strip()


def test_a_stray_zero_does_not_make_a_text_unreadable(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"before\0after, and some more words")
    assert read_file(tmp_path / "a.txt", tmp_path).text == "before\N{REPLACEMENT CHARACTER}after, and some more words"


def test_a_wrong_name_does_not_mislead(tmp_path: Path) -> None:
    shutil.copy(SAMPLES / "budget.xlsx", tmp_path / "budget.csv")
    assert read_file(tmp_path / "budget.csv", tmp_path).labels[0] == 'sheet "Q2"'


def test_reading_can_be_given_up_between_parts(tmp_path: Path) -> None:
    (tmp_path / "long.csv").write_text("a,b\n" + "1,2\n" * 500_000)
    parts = read(tmp_path / "long.csv", detect(tmp_path / "long.csv", "long.csv"), folder=tmp_path, limits=Limits())
    assert isinstance(next(parts), Outline)
    next(parts)
    parts.close()
    assert list(parts) == []
