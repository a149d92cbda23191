"""Text of pictures by Tesseract, whose library is loaded into the process that reads the file: so it is as confined as that.

``python -m artifacts.reading.pictures.ocr eng+deu`` says whether it can be used, in words.
"""

import ctypes
import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from PIL import Image

LIBRARIES = (
    "libtesseract.so.5",
    "libtesseract.so.4",
    "libtesseract.5.dylib",
    "/opt/homebrew/lib/libtesseract.dylib",
    "/usr/local/lib/libtesseract.dylib",
)
SIDE = 2_800
"""Pixels of a page's longest side: some 240 to an inch of A4, which small print needs."""
PAGE_SECONDS = 30.0
LEAST_CONFIDENCE = 50
"""Of 100: what it takes for letters in a photograph is below."""
FEW_LETTERS = 3
TURNED_AS_IT_IS = 1
"""The mode in which it finds out first which side of the page is up."""
BY_MACHINE = "(Read by machine from the picture.)"


class OcrUnavailable(Exception):
    """In words: why pictures can't be read."""


class Ocr:
    """Reads pictures until so many seconds are over; loads what it needs with the first of them."""

    def __init__(self, languages: str, seconds: float) -> None:
        self._languages = languages
        self._left = seconds
        self._engine: _Engine | None = None

    def text(self, image: Image.Image) -> str:
        """What stands in it; nothing where that is unsure, the time is over, or the engine is missing."""
        started = time.monotonic()
        if self._left <= 0:
            return ""
        try:
            self._engine = self._engine or _Engine(self._languages)
            return self._engine.text(image, min(PAGE_SECONDS, self._left))
        except OcrUnavailable:
            self._left = 0
            return ""
        finally:
            self._left -= time.monotonic() - started


class _Engine:
    """Raises ``OcrUnavailable``."""

    def __init__(self, languages: str) -> None:
        os.environ["OMP_THREAD_LIMIT"] = "1"  # more make it slower, and take the memory that is allowed
        self._library = _library()
        self._api = self._library.TessBaseAPICreate()
        if self._library.TessBaseAPIInit3(self._api, None, languages.encode()):
            raise OcrUnavailable(f"Tesseract has no data of the language {languages}.")
        self._library.TessBaseAPISetPageSegMode(self._api, TURNED_AS_IT_IS)

    def text(self, image: Image.Image, seconds: float) -> str:
        grey = image.convert("L")
        self._library.TessBaseAPISetImage(self._api, grey.tobytes(), grey.width, grey.height, 1, grey.width)
        try:
            with self._deadline(seconds) as monitor:
                if self._library.TessBaseAPIRecognize(self._api, monitor):
                    return ""
            if self._library.TessBaseAPIMeanTextConf(self._api) < LEAST_CONFIDENCE:
                return ""
            return _cleaned(self._written())
        finally:
            self._library.TessBaseAPIClear(self._api)

    def _written(self) -> str:
        address = self._library.TessBaseAPIGetUTF8Text(self._api)
        text = ctypes.string_at(address).decode("utf-8", "replace") if address else ""
        self._library.TessDeleteText(address)
        return text

    @contextmanager
    def _deadline(self, seconds: float) -> Iterator[Any]:
        monitor = self._library.TessMonitorCreate()
        self._library.TessMonitorSetDeadlineMSecs(monitor, int(seconds * 1_000))
        try:
            yield monitor
        finally:
            self._library.TessMonitorDelete(monitor)


def _cleaned(text: str) -> str:
    """Lines as paragraphs have them; nothing where it is signs alone."""
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in text.splitlines())).strip()
    return text if len(re.findall(r"\w", text)) >= FEW_LETTERS else ""


def _library() -> Any:
    for name in LIBRARIES:
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        for function, result, arguments in FUNCTIONS:
            getattr(library, function).restype = result
            getattr(library, function).argtypes = arguments
        return library
    raise OcrUnavailable("Tesseract is not installed.")


_POINTER, _INT = ctypes.c_void_p, ctypes.c_int
FUNCTIONS: tuple[tuple[str, Any, list[Any]], ...] = (
    ("TessBaseAPICreate", _POINTER, []),
    ("TessBaseAPIInit3", _INT, [_POINTER, ctypes.c_char_p, ctypes.c_char_p]),
    ("TessBaseAPISetPageSegMode", None, [_POINTER, _INT]),
    ("TessBaseAPISetImage", None, [_POINTER, ctypes.c_char_p, _INT, _INT, _INT, _INT]),
    ("TessBaseAPIRecognize", _INT, [_POINTER, _POINTER]),
    ("TessBaseAPIMeanTextConf", _INT, [_POINTER]),
    ("TessBaseAPIGetUTF8Text", _POINTER, [_POINTER]),
    ("TessBaseAPIClear", None, [_POINTER]),
    ("TessDeleteText", None, [_POINTER]),
    ("TessMonitorCreate", _POINTER, []),
    ("TessMonitorSetDeadlineMSecs", None, [_POINTER, _INT]),
    ("TessMonitorDelete", None, [_POINTER]),
)
"""Of Tesseract's interface for C, which is the same in versions 4 and 5."""


if __name__ == "__main__":
    try:
        for language in sys.argv[1].split("+"):
            _Engine(language)
    except OcrUnavailable as error:
        sys.stdout.write(f"{error}\n")
        raise SystemExit(1) from None
