"""Texts in encodings that say nothing of themselves, or something else than they are."""

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from tests.artifacts.reading.cases.zipped import archive

LANGUAGES = {
    entry["language"]: entry for entry in json.loads((Path(__file__).parents[1] / "languages.json").read_text())
}
ENCODED = {
    "fr": "cp1252",
    "es": "cp1252",
    "pt": "cp1252",
    "it": "cp1252",
    "sv": "cp1252",
    "da": "cp1252",
    "fi": "iso-8859-15",
    "de": "mac_roman",
    "tr": "cp1254",
    "pl": "cp1250",
    "cs": "iso-8859-2",
    "hu": "cp1250",
    "lt": "cp1257",
    "ru": "cp1251",
    "uk": "koi8-u",
    "bg": "cp1251",
    "el": "cp1253",
    "he": "cp1255",
    "ar": "cp1256",
    "th": "cp874",
    "ja": "euc_jp",
    "zh-cn": "gb18030",
    "zh-tw": "big5",
    "ko": "cp949",
}
"""One of each; test_encodings.py has all."""


def table(language: str, encoding: str) -> bytes:
    return ("\n".join(LANGUAGES[language]["table"]) + "\n").encode(encoding)


def book(chapter: bytes) -> bytes:
    return archive(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="a.opf"/></rootfiles></container>',
            "a.opf": '<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="c" href="c.xhtml" '
            'media-type="application/xhtml+xml"/></manifest><spine><itemref idref="c"/></spine></package>',
            "c.xhtml": chapter,
        }
    )


FILES: Mapping[str, Callable[[], bytes]] = {
    **{f"{language}.csv": partial(table, language, encoding) for language, encoding in ENCODED.items()},
    "koi8-r.txt": lambda: LANGUAGES["ru"]["prose"].encode("koi8-r"),
    "cp866.txt": lambda: LANGUAGES["ru"]["prose"].encode("cp866"),
    "iso-2022-jp.txt": lambda: LANGUAGES["ja"]["prose"].encode("iso2022_jp"),
    "utf-16-unmarked.txt": lambda: LANGUAGES["ru"]["prose"].encode("utf-16-le"),
    "utf-16-chinese.txt": lambda: (LANGUAGES["zh-cn"]["prose"] + "\n").encode("utf-16-be") * 2,
    "utf-32.txt": lambda: LANGUAGES["el"]["prose"].encode("utf-32"),
    "cut.txt": lambda: "Grüße aus Köln\n".encode() * 9 + "Grü".encode()[:-1],
    "damaged.txt": lambda: "Grüße aus Köln\n".encode() * 9 + b"Gr\xc3\xe2e\n" + "Straße\n".encode() * 9,
    "two-encodings.log": lambda: ("Grüße aus Köln\n".encode() + "Größe: 5 €\n".encode("cp1252")) * 5,
    "zeros-within.txt": lambda: b"first line\nsecond\0line\nthird line\n" * 5,
    "zeros-at-end.log": lambda: b"12:00 started\n" * 50 + bytes(4_096),
    "late-letter.csv": lambda: b"name;sum\n" + b"Anna;1\n" * 30_000 + "Jürgen Größ;2\n".encode("cp1252"),
    "damaged-japanese.txt": lambda: LANGUAGES["ja"]["prose"].encode("cp932") * 3 + b"\xff\n",
    "declared.html": lambda: "<!doctype html><meta charset=iso-8859-1><p>“5 €”</p>".encode("cp1252"),
    "equiv.html": lambda: (
        "<html><meta http-equiv=Content-Type content='text/html; charset=gb2312'><p>朱镕基 陳先生</p>".encode("gb18030")
    ),
    "declared-wrongly.html": lambda: "<!doctype html><meta charset=iso-8859-1><p>Größe</p>".encode(),
    "undeclared.html": lambda: f"<!doctype html><p>{LANGUAGES['ru']['prose']}</p>".encode("cp1251"),
    "prologue.xhtml": lambda: (
        '<?xml version="1.0" encoding="windows-1251"?><html xmlns="http://www.w3.org/1999/xhtml">'
        "<p>Отопление</p></html>"
    ).encode("cp1251"),
    "data.xml": lambda: '<?xml version="1.0" encoding="iso-8859-2"?><a>Łódź</a>'.encode("iso-8859-2"),
    "chapter.epub": lambda: book(
        '<?xml version="1.0" encoding="iso-8859-1"?><html><p>“5 €”</p></html>'.encode("cp1252")
    ),
    "chapter-utf-16.epub": lambda: book(
        '<?xml version="1.0" encoding="utf-16"?><html><p>Größe</p></html>'.encode("utf-16")
    ),
}
