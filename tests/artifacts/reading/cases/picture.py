"""Pictures."""

import io
import struct
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from PIL import Image, ImageDraw

SIZE = (320, 240)


def drawing(shade: int = 0) -> Image.Image:
    """Of many colours, so that its file has some length."""
    image = Image.radial_gradient("L").resize(SIZE).convert("RGB")
    ImageDraw.Draw(image).rectangle((40, 40, 120, 120), fill=(200, shade, 30))
    return image


def saved(format: str, image: Image.Image | None = None, **options: Any) -> bytes:
    file = io.BytesIO()
    (image or drawing()).save(file, format, **options)
    return file.getvalue()


def several(format: str, **options: Any) -> bytes:
    return saved(format, save_all=True, append_images=[drawing(90), drawing(200)], **options)


def cut(format: str, share: float = 0.6, **options: Any) -> bytes:
    whole = saved(format, **options)
    return whole[: int(len(whole) * share)]


def of_print() -> bytes:
    return saved("JPEG", drawing().convert("CMYK"))


def of_a_microscope() -> bytes:
    return saved("TIFF", Image.linear_gradient("L").convert("F").point(lambda value: value * 7 + 1_000))


def damaged_orientation() -> bytes:
    exif = b"Exif\0\0II*\0\x08\0\0\0\x01\0" + struct.pack("<HHII", 0x112, 9, 0x7FFFFFFF, 0xFFFFFF)
    return saved("JPEG", exif=exif)


FILES: Mapping[str, Callable[[], bytes]] = {
    "phone.jpg": partial(several, "MPO"),
    "cut.jpg": partial(cut, "JPEG", quality=95),
    "cut-progressive.jpg": partial(cut, "JPEG", quality=95, progressive=True),
    "cut-end-mark.jpg": lambda: saved("JPEG")[:-2],
    "cut.png": partial(cut, "PNG"),
    "cut.gif": partial(cut, "GIF"),
    "print.jpg": of_print,
    "damaged-orientation.jpg": damaged_orientation,
    "picture.avif": partial(saved, "AVIF"),
    "scan.tiff": partial(several, "TIFF", compression="tiff_lzw"),
    "single.tif": partial(saved, "TIFF"),
    "fax.tif": lambda: saved("TIFF", drawing().convert("1"), compression="group4"),
    "microscope.tif": of_a_microscope,
    "picture.bmp": partial(saved, "BMP"),
    "animation.gif": partial(several, "GIF"),
    "animation.png": partial(several, "PNG"),
    "animation.webp": partial(several, "WEBP"),
    "single.gif": partial(saved, "GIF"),
}
