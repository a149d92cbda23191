"""Files whose first bytes or whose name say something else than what they are."""

import io
import re
import struct
import zipfile
from collections.abc import Callable, Mapping
from functools import partial

from tests.artifacts.reading.cases import powerpoint, word_xml
from tests.artifacts.reading.cases.zipped import archive

BEGINNINGS = {
    "pk.csv": "PK;Name\n1;LANTERN\n",
    "mz.txt": "MZ LANTERN",
    "id3.md": "ID3 tags\n\nLANTERN",
    "rar.txt": "Rar! says LANTERN",
    "bm.txt": "BM is LANTERN",
    "gif.txt": "GIF89a is LANTERN",
    "tiff.txt": "II*, said LANTERN",
    "ps.txt": "%!PS-Adobe-3.0 begins LANTERN",
    "ogg.txt": "OggS LANTERN",
    "seven-zip.txt": "7z LANTERN",
    "bzip.txt": "BZh91 LANTERN",
    "sqlite.txt": "SQLite format 3 LANTERN",
    "riff.txt": "RIFF1234WAVE LANTERN",
    "ftyp.txt": "The ftypheic LANTERN",
    "rtf.txt": "{\\rtf1 begins LANTERN",
    "flac": "fLaC LANTERN",
    "from.txt": "From here on it is LANTERN.\nTo: whom\nSubject: none\n",
    "pdf.py": "header = b'%PDF-1.4'  # 1 0 obj\nLANTERN = 1\n",
    "pdf-said.txt": "%PDF-1.7 is the header of LANTERN",
    "pdf-maker.ts": "export const a = `%PDF-1.4\n1 0 obj\nendobj\nstartxref`; // LANTERN\n",
    "page.txt": "<!DOCTYPE html><script>LANTERN</script>",
    "page.md": "<html><script>LANTERN</script>",
    "page.php": "<!DOCTYPE html><?php LANTERN ?>",
    "page.vue": "<template><p v-if='LANTERN'></p></template><script>LANTERN</script>",
    "page.jsx": "<html onClick={LANTERN}></html>",
    "page.html.erb": "<html><% LANTERN %></html>",
    "page.j2": "<!doctype html>{% if LANTERN %}",
    "template.html": "<html><body>{% if LANTERN %}<p>x</p>{% endif %}</body></html>",
    "server.html": "<html><body><?php LANTERN ?></body></html>",
    "PAGE.TXT": "<!DOCTYPE html><script>LANTERN</script>",
    "data.txt": '{"LANTERN": 1}',
    "notes": "LANTERN without an ending",
    "report.docx.txt": "LANTERN",
    "comma.xls": "name,word\na,LANTERN\n",
    "letter.txt": "From: a@a.example\nTo: b@b.example\nSubject: LANTERN\n\nx\n",
}
OPEN_XML = "application/vnd.openxmlformats-officedocument."
DRAWING = (
    '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:drawing><draw:page draw:name="p">'
    "<draw:frame><draw:text-box><text:p>LANTERN</text:p></draw:text-box></draw:frame></draw:page></office:drawing>"
    "</office:body></office:document-content>"
)


def retyped(content: bytes, main: str) -> bytes:
    """The same file of Office with another type of its main part."""
    with zipfile.ZipFile(io.BytesIO(content)) as source:
        members = {name: source.read(name) for name in source.namelist()}
    types = members["[Content_Types].xml"]
    members["[Content_Types].xml"] = re.sub(rb'[^"]*\.main\+xml', main.encode(), types)
    return archive(members)


def document(main: str) -> bytes:
    return retyped(word_xml.document("<w:p><w:r><w:t>LANTERN</w:t></w:r></w:p>"), main)


def slides(main: str) -> bytes:
    return retyped(powerpoint.deck(powerpoint.slide(powerpoint.shape(powerpoint.p(powerpoint.r("LANTERN"))))), main)


def compound(streams: Mapping[str, bytes], within: Mapping[str, bytes] | None = None) -> bytes:
    """A compound file of these streams at its top, and of others in a folder; each is filled up to a sector."""
    names = ["Root Entry", *streams, *(["ObjectPool", *within] if within else [])]
    contents = [content.ljust(4_096, b"\0") for content in (*streams.values(), *(within or {}).values())]
    directory_sectors = -(-len(names) // 4)
    table = [0xFFFFFFFD, *range(2, 1 + directory_sectors), 0xFFFFFFFE]
    entries, at = b"", 1 + directory_sectors
    starts: list[int] = []
    for content in contents:
        starts.append(at)
        count = len(content) // 512
        table += [*range(at + 1, at + count), 0xFFFFFFFE]
        at += count
    top = len(streams)
    for number, name in enumerate(names):
        is_stream = 0 < number <= top or number > top + 1
        start = starts[number - 1 - (number > top)] if is_stream else 0xFFFFFFFE
        is_last = number in {0, top + bool(within), len(names) - 1}
        child = (1 if number == 0 else top + 2) if not is_stream else 0xFFFFFFFF
        encoded = name.encode("utf-16-le") + b"\0\0"
        entries += encoded.ljust(64, b"\0") + struct.pack(
            "<HBB3I36xIQ",
            len(encoded),
            2 if is_stream else 5 if number == 0 else 1,
            1,
            0xFFFFFFFF,
            0xFFFFFFFF if is_last else number + 1,
            child,
            start,
            4_096 if is_stream else 0,
        )
    header = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(16) + struct.pack("<5H6x", 0x3E, 3, 0xFFFE, 9, 6)
    header += struct.pack("<9I", 0, 1, 1, 0, 4_096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0) + struct.pack("<I", 0)
    header += b"\xff" * (512 - len(header))
    table += [0xFFFFFFFF] * (128 - len(table))
    directory = entries.ljust(directory_sectors * 512, b"\0")
    return header + struct.pack("<128I", *table) + directory + b"".join(contents)


MAIN_PARTS = {
    "a.dotx": (document, f"{OPEN_XML}wordprocessingml.template.main+xml"),
    "a.dotm": (document, "application/vnd.ms-word.template.macroEnabledTemplate.main+xml"),
    "a.docm": (document, "application/vnd.ms-word.document.macroEnabled.main+xml"),
    "a.potx": (slides, f"{OPEN_XML}presentationml.template.main+xml"),
    "a.potm": (slides, "application/vnd.ms-powerpoint.template.macroEnabled.main+xml"),
    "a.ppsm": (slides, "application/vnd.ms-powerpoint.slideshow.macroEnabled.main+xml"),
    "a.ppsx": (slides, f"{OPEN_XML}presentationml.slideshow.main+xml"),
}

FILES: Mapping[str, Callable[[], bytes]] = {
    **{name: text.encode for name, text in BEGINNINGS.items()},
    **{name: partial(make, main) for name, (make, main) in MAIN_PARTS.items()},
    "a.odg": lambda: archive({"mimetype": "application/vnd.oasis.opendocument.graphics", "content.xml": DRAWING}),
    "page.xls": lambda: b"<html xmlns:x='urn:x'><table><tr><td>LANTERN</td><td>1</td></tr></table></html>",
}
