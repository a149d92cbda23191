"""A text is what its writer wrote, in whichever encoding, whatever its length, and with a few bytes damaged."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from artifacts.reading.text.encodings import TextEncoding, declared_encoding, decode, detect_encoding, known_encoding

LANGUAGES = json.loads(Path(__file__).with_name("languages.json").read_text())
NOT_TOLD_APART = {"fr-cp850-words", "ru-mac_cyrillic-long table"}
"""Of the first, each of three encodings of DOS and Macintosh makes French; the second is Windows' but for one letter."""


@dataclass(frozen=True)
class Sample:
    id: str
    encoding: str
    text: str

    @property
    def content(self) -> bytes:
        return self.text.encode(self.encoding)


def samples() -> Iterator[Sample]:
    for language in LANGUAGES:
        for encoding in language["encodings"]:
            for shape, text in shapes(language):
                id = f"{language['language']}-{encoding}-{shape}"
                if id not in NOT_TOLD_APART:
                    yield Sample(id, encoding, text.encode(encoding, "ignore").decode(encoding))


def shapes(language: dict[str, Any]) -> Iterator[tuple[str, str]]:
    table, prose = language["table"], language["prose"]
    yield "row", "\n".join(table[:2]) + "\n"
    yield "table", "\n".join(table) + "\n"
    yield "long table", table[0] + "\n" + ("\n".join(table[1:]) + "\n") * 30
    yield "words", prose[:60].rpartition(" ")[0] or prose[:15]
    yield "prose", prose
    yield "long prose", (prose + "\n") * 9


def same(read: str, written: str) -> bool:
    """A dash of Japanese has two numbers in Unicode."""
    return read.replace("―", "—") == written.replace("―", "—")


@pytest.mark.wide
@pytest.mark.long
def test_texts_of_34_languages_are_read_as_they_were_written() -> None:
    checked = list(samples())
    wrong = [(sample.id, decode(sample.content)[0][:60]) for sample in checked]
    assert [found for found, sample in zip(wrong, checked, strict=True) if not same(found[1], sample.text[:60])] == []
    assert len(checked) > 500


def test_what_a_text_says_of_itself_is_taken() -> None:
    for sample in samples():
        assert same(decode(sample.content, sample.encoding.replace("_", "-"))[0], sample.text), sample.id


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("Grüße aus Köln. ".encode() * 9 + b"Gr\xc3", "Grüße aus Köln. " * 9 + "Gr�"),
        ("Grüße aus Köln\n".encode() * 9 + b"Gr\xc3e aus Bonn\n", "Grüße aus Köln\n" * 9 + "Gr�e aus Bonn\n"),
        ("“Ja”\n".encode() * 9 + b"a \x80\x9cb\n", "“Ja”\n" * 9 + "a ��b\n"),
        ("Всем привет\n".encode() * 9 + "Мир".encode()[:-1], "Всем привет\n" * 9 + "Ми�"),
        ("東京都\n".encode() * 9 + b"\xe6\x9d", "東京都\n" * 9 + "�"),
    ],
)
def test_damaged_utf8_stays_utf8(content: bytes, expected: str) -> None:
    assert decode(content) == (expected, expected.count("�"))


@pytest.mark.parametrize(
    ("one", "other", "encoding"),
    [
        ("Grüße aus Köln", "Größe, Café – “gut”", "cp1252"),
        ("Прошло десять дней", "Пришли новости", "cp1251"),
    ],
)
def test_lines_of_another_encoding_within_utf8_are_read_as_such(one: str, other: str, encoding: str) -> None:
    for times in (1, 4):
        content = (f"{one}\n".encode() * times + f"{other}\n".encode(encoding)) * 3
        assert decode(content) == ((f"{one}\n" * times + f"{other}\n") * 3, 0)


@pytest.mark.parametrize(
    ("language", "encoding"),
    [("fr", "cp1252"), ("ja", "cp932"), ("ja", "euc_jp"), ("zh-cn", "gb18030"), ("zh-tw", "big5"), ("ko", "cp949")],
)
def test_a_damaged_byte_makes_no_other_alphabet(language: str, encoding: str) -> None:
    [prose] = (entry["prose"] for entry in LANGUAGES if entry["language"] == language)
    content = bytearray(f"{prose}\n".encode(encoding) * 4)
    content[len(content) // 2 + 1] = 0xFF if encoding != "cp1252" else 0x81
    read, damaged = decode(bytes(content))
    assert prose in read
    assert damaged in {0, 1, 2}


@pytest.mark.parametrize(
    ("label", "encoding"),
    [
        ("latin-1", "cp1252"),
        ("ISO-8859-1", "cp1252"),
        ("us-ascii", "cp1252"),
        ("gb2312", "gb18030"),
        ("GBK", "gb18030"),
        ("x-gbk", "gb18030"),
        ("shift_jis", "cp932"),
        ("x-sjis", "cp932"),
        ("Windows-31J", "cp932"),
        ("ks_c_5601-1987", "cp949"),
        ("euc-kr", "cp949"),
        ("iso-8859-9", "cp1254"),
        ("tis-620", "cp874"),
        ("windows-874", "cp874"),
        ("iso-8859-8-i", "iso8859-8"),
        ("big5", "big5hkscs"),
        ("x-x-big5", "big5hkscs"),
        ("x-mac-cyrillic", "mac-cyrillic"),
        ("macintosh", "mac-roman"),
        ("utf8", "utf-8"),
        ("'utf-8'", "utf-8"),
        ("x-cp1251", "cp1251"),
        ("iso-2022-jp", "iso2022_jp_2"),
        ("cp850", "cp850"),
        ("punycode", ""),
        ("idna", ""),
        ("rot13", ""),
        ("base64", ""),
        ("unicode_escape", ""),
        ("nonsense", ""),
        ("", ""),
        ("utf-8\0", ""),
    ],
)
def test_labels_mean_what_browsers_take_them_for(label: str, encoding: str) -> None:
    assert known_encoding(label) == encoding


@pytest.mark.parametrize(
    ("start", "label"),
    [
        (b'<?xml version="1.0" encoding="ISO-8859-1"?><a/>', "ISO-8859-1"),
        (b"<html><head><meta charset=gb2312>", "gb2312"),
        (b"<META http-equiv='Content-Type' content='text/html; charset=big5'>", "big5"),
        (b"<!-- <meta charset=koi8-r> --><meta charset='cp1251'/>", "cp1251"),
        (b"<meta charset='utf-16'>", "utf-8"),
        (b"<p>charset=gb2312</p>", ""),
        (b"<meta name='x' content='y'>", ""),
    ],
)
def test_pages_and_xml_say_their_encoding(start: bytes, label: str) -> None:
    assert declared_encoding(start) == label


def test_what_is_declared_wrongly_is_not_taken() -> None:
    text = "Москва является столицей. Уважаемая Ольга, сообщаем вам"
    assert decode(text.encode("cp1251"), "shift_jis")[0] == text
    assert decode(text.encode(), "latin-1")[0] == text


def test_signs_that_windows_added_to_japanese_are_read() -> None:
    content = b"\x1b$B-!-j\x1b(B and \x1b$BF|K\\\x1b(B"
    assert decode(content) == ("①㈱ and 日本", 0)


def test_a_file_is_judged_by_all_of_it(tmp_path: Path) -> None:
    file = tmp_path / "long.csv"
    file.write_bytes(b"Name;Sum\n" + b"Anna;1\n" * 300_000 + "Jürgen Größ;2\n".encode("cp1252") * 3)
    assert detect_encoding(file) == TextEncoding(name="cp1252")
