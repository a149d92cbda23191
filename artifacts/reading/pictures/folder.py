"""Pictures as models take them: PNG or JPEG, turned upright, in sRGB, without anything that tells where they were made."""

import io
import struct
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

import pillow_heif
from PIL import Image, ImageCms, ImageFile, ImageOps, UnidentifiedImageError

from artifacts.reading.archives import DAMAGED, Archive
from artifacts.reading.blocks import Picture
from artifacts.reading.pictures.ocr import Ocr
from artifacts.reading.problems import FileProblem

SIDE = 2_000
"""Pixels of the longest side. Anthropic takes no more in requests of many images, OpenAI makes 2,048 of what is larger."""
THUMBNAIL_SIDE = 400
"""Of a picture in a turn, which is some 200 pixels wide on screens of two to each."""
PIXELS = 100_000_000
"""Of the original; a JPEG of more is read at half its size or less."""
JPEG_PIXELS = 400_000_000
LARGEST_PNG = 3_500_000
"""Bytes: providers take 5 MB of base64."""
MEMBER_BYTES = 32 * 2**20
"""Of a picture within a document."""
THUMBNAIL = "thumbnail.webp"
FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "HEIF", "AVIF", "TIFF", "BMP")
PHOTOGRAPHS = frozenset({"JPEG", "MPO", "HEIF", "AVIF"})
"""MPO is a JPEG of a telephone, which has smaller ones behind it."""
ANIMATIONS = frozenset({"GIF", "PNG", "WEBP", "AVIF"})
MOST_PAGES = 1_000
"""Of a TIFF file."""

Image.MAX_IMAGE_PIXELS = None  # counted below, with a sentence of our own


class PictureFolder:
    """Where the pictures of one file go, all together of at most so many bytes; ``ocr`` reads what stands in them."""

    def __init__(self, folder: Path, most: int, ocr: Ocr | None = None) -> None:
        self._folder = folder
        self._left = most
        self.ocr = ocr

    def save(self, image: Image.Image, stem: str, *, is_photograph: bool = False) -> Picture:
        """Raises ``FileProblem``."""
        content, extension = _encoded(image, is_photograph=is_photograph)
        self._left -= len(content)
        if self._left < 0:
            raise FileProblem("too_large", "The pictures of the file are too large together; those before were read.")
        name = f"{stem}.{extension}"
        (self._folder / name).write_bytes(content)
        return Picture(name, image.width, image.height)

    def save_member(self, archive: Archive, place: str, stem: str) -> Picture:
        """One that lies in an archive. Raises ``FileProblem``, where it is none of ``FORMATS``, too."""
        picture = next(read_pictures(io.BytesIO(archive.read(place, at_most=MEMBER_BYTES))))
        return self.save(picture.image, stem, is_photograph=picture.is_photograph)

    def save_members(self, archive: Archive, places: Iterable[str], stem: str) -> Iterator[tuple[str, Picture]]:
        """Those that can be read, each with its place in the archive."""
        for number, place in enumerate(places, 1):
            with suppress(FileProblem):
                yield place, self.save_member(archive, place, f"{stem}-{number}")

    def save_thumbnail(self, image: Image.Image) -> str:
        """A small WebP of it: its name."""
        small = image.copy()
        small.thumbnail((THUMBNAIL_SIDE, THUMBNAIL_SIDE), Image.Resampling.LANCZOS, reducing_gap=3.0)
        small.save(self._folder / THUMBNAIL, "WEBP", quality=80)
        return THUMBNAIL


@dataclass(frozen=True)
class ReadPicture:
    image: Image.Image
    """No larger than ``SIDE``."""
    pages: int
    """Of the file; more than one in TIFF alone."""
    is_photograph: bool
    """So that nothing is lost by making it a JPEG."""
    is_animated: bool
    is_cut_off: bool
    """The file ends before the picture does."""


def read_pictures(path: Path | IO[bytes]) -> Iterator[ReadPicture]:
    """The picture, or each page of a TIFF file. Raises ``FileProblem``."""
    pillow_heif.register_heif_opener()
    with _readable(), Image.open(path, formats=FORMATS) as image:
        pages = min(getattr(image, "n_frames", 1), MOST_PAGES) if image.format == "TIFF" else 1
        for page in range(pages):
            if page:
                image.seek(page)
            yield _read_picture(image, pages)


def _read_picture(image: Image.Image, pages: int) -> ReadPicture:
    format = image.format or ""
    if image.width * image.height > (JPEG_PIXELS if format in {"JPEG", "MPO"} else PIXELS):
        raise FileProblem(
            "too_large",
            f"The picture has {image.width} × {image.height} pixels, which is too many. Give a smaller one.",
        )
    image.draft("RGB", (SIDE, SIDE))
    is_cut_off = _load(image)
    upright = _upright(image)
    upright.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS, reducing_gap=3.0)
    is_animated = format in ANIMATIONS and bool(getattr(image, "is_animated", False))
    return ReadPicture(_in_srgb(upright), pages, format in PHOTOGRAPHS, is_animated, is_cut_off)


def _load(image: Image.Image) -> bool:
    """Whether the file ends before the picture does. Raises ``OSError`` where nothing of it can be seen."""
    try:
        image.load()
    except OSError as error:
        if "truncated" not in str(error):
            raise
        ImageFile.LOAD_TRUNCATED_IMAGES = True  # a setting of the whole library, which may be in use elsewhere
        try:
            image.load()
        finally:
            ImageFile.LOAD_TRUNCATED_IMAGES = False
        if image.convert("L").getcolors(1):
            raise
        return True
    return False


def _upright(image: Image.Image) -> Image.Image:
    """As the camera was held; what it wrote of that may be damaged."""
    try:
        return ImageOps.exif_transpose(image)
    except (ValueError, TypeError, KeyError, IndexError, SyntaxError, struct.error):
        return image.copy()


def _in_srgb(image: Image.Image) -> Image.Image:
    """RGB, or RGBA where something is transparent. Nothing of what came with the picture is kept."""
    profile = image.info.get("icc_profile")
    if image.mode.startswith("I;16"):
        image = image.point(lambda value: value / 256).convert("L")
    elif image.mode in {"I", "F"}:  # of measuring instruments: from black to white, whatever their numbers are
        low, high = cast("tuple[float, float]", image.getextrema())
        scale = 255 / ((high - low) or 1)
        image = image.point(lambda value: value * scale - low * scale).convert("L")
    if profile and image.mode in {"RGB", "CMYK"}:
        with suppress(ImageCms.PyCMSError, OSError, ValueError):  # a profile that is none
            source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            converted = ImageCms.profileToProfile(image, source, ImageCms.createProfile("sRGB"), outputMode="RGB")
            image = converted or image
    if image.has_transparency_data:
        image = image.convert("RGBA")
        if image.getchannel("A").getextrema() != (255, 255):
            return _bare(image)
    return _bare(image.convert("RGB"))


def _bare(image: Image.Image) -> Image.Image:
    bare = image.copy()
    bare.info = {}
    return bare


def _encoded(image: Image.Image, *, is_photograph: bool) -> tuple[bytes, str]:
    """As PNG where that is small, as drawings and screenshots are; photographs as JPEG."""
    if image.mode == "RGBA" or (not is_photograph and image.getcolors(maxcolors=16_384) is not None):
        content = io.BytesIO()
        image.save(content, "PNG")
        if content.tell() <= LARGEST_PNG:
            return content.getvalue(), "png"
    if image.mode == "RGBA":
        background = Image.new("RGBA", image.size, "white")
        image = Image.alpha_composite(background, image).convert("RGB")
    content = io.BytesIO()
    image.save(content, "JPEG", quality=85)
    return content.getvalue(), "jpg"


@contextmanager
def _readable() -> Iterator[None]:
    try:
        with warnings.catch_warnings(action="ignore"):  # of what came with the picture
            yield
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, EOFError) as error:
        raise DAMAGED from error
