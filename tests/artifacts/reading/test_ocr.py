"""Pages and pictures without text are read by a machine, where that is switched on, as confined as all else."""

from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from artifacts.reading.process import Limits
from config.doctor.findings import Status
from config.doctor.machine import ocr
from tests.artifacts.reading.cases.pdf import document, lines, shifted_font
from tests.artifacts.reading.helpers import SAMPLES, read_file

pytestmark = pytest.mark.process

LANGUAGES = "eng+deu"


@pytest.mark.wide
def test_a_scan_is_read_and_stays_a_picture(tmp_path: Path) -> None:
    outcome = read_file(SAMPLES / "scan.pdf", tmp_path, languages=LANGUAGES)
    first, second = outcome.parts
    assert first.text.startswith("(Read by machine from the picture.)\n\nWords before any heading.")
    assert "Mooring in Zürich costs 12 €" in first.text
    assert first.picture
    assert second.picture
    assert second.text == ""  # the lower edge of a line
    assert (outcome.problem, outcome.left_out) == ("", ["not_read: page without text × 1"])


@pytest.mark.wide
def test_a_page_whose_letters_say_nothing_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(shifted_font())
    outcome = read_file(tmp_path / "a.pdf", tmp_path, languages=LANGUAGES)
    assert outcome.parts[0].picture
    assert "FRQWUDFW" not in outcome.text


@pytest.mark.wide
def test_words_of_a_picture_are_read_and_a_photograph_has_none(tmp_path: Path) -> None:
    image = Image.new("RGB", (900, 200), "white")
    ImageDraw.Draw(image).text((40, 60), "Platform 12 is closed today", "black", ImageFont.load_default(48))
    image.save(tmp_path / "sign.png")
    outcome = read_file(tmp_path / "sign.png", tmp_path, languages=LANGUAGES)
    assert outcome.text == "(Read by machine from the picture.)\n\nPlatform 12 is closed today"
    assert read_file(SAMPLES / "photo.jpg", tmp_path, languages=LANGUAGES).text == ""


@pytest.mark.wide
def test_a_scan_that_lies_on_its_side_is_read(tmp_path: Path) -> None:
    image = Image.new("RGB", (1_700, 1_200), "white")
    for row in range(12):
        words = f"Line {row + 1}: the harbour is open from six to ten in the summer"
        ImageDraw.Draw(image).text((60, 60 + 80 * row), words, "black", ImageFont.load_default(40))
    image.rotate(90, expand=True).save(tmp_path / "sideways.png")
    outcome = read_file(tmp_path / "sideways.png", tmp_path, languages=LANGUAGES)
    assert "Line 7: the harbour is open from six to ten in the summer" in outcome.text


def test_pages_with_text_are_as_they_were(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(document([lines("The quay was built in the spring.")]))
    [part] = read_file(tmp_path / "a.pdf", tmp_path, languages=LANGUAGES).parts
    assert (part.text, part.picture) == ("The quay was built in the spring.", None)


@pytest.mark.wide
@pytest.mark.parametrize(
    ("languages", "limits"),
    [("nowhere", Limits()), (LANGUAGES, Limits(ocr_seconds=0.001))],
    ids=["without-its-data", "without-time"],
)
def test_what_is_not_read_stays_a_picture_and_is_said(languages: str, limits: Limits, tmp_path: Path) -> None:
    outcome = read_file(SAMPLES / "scan.pdf", tmp_path, limits, languages=languages)
    assert [(part.text, bool(part.picture)) for part in outcome.parts] == [("", True)] * 2
    assert (outcome.problem, outcome.left_out) == ("", ["not_read: page without text × 2"])


def test_the_doctor_says_whether_a_language_is_there() -> None:
    [found] = ocr(LANGUAGES)
    assert (found.status, found.advice) == (Status.OK, "")
    [missing] = ocr("eng+tlh")
    assert (missing.status, missing.words) == (Status.WRONG, "Tesseract has no data of the language tlh.")
    assert "apt-get install tesseract-ocr tesseract-ocr-eng tesseract-ocr-tlh" in missing.advice
