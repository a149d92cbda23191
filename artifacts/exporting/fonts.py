"""The fonts of a PDF, which come along as packages, and what letters they have."""

import re
import struct
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

FAMILIES = ("Noto Sans", "Noto Sans Arabic", "Noto Sans Hebrew", "Noto Sans Thai")
SYMBOLS = ("Noto Emoji", "Noto Sans Symbols 2", "DejaVu Sans Mono")
FOLDERS = (
    *(f"noto-sans/{style}" for style in ("400Regular", "400Regular_Italic", "700Bold", "700Bold_Italic")),
    *(f"noto-sans-{script}/{style}" for script in ("arabic", "hebrew", "thai") for style in ("400Regular", "700Bold")),
    *(f"noto-emoji/{style}" for style in ("400Regular", "700Bold")),
    "noto-sans-symbols-2/400Regular",
)
CHINESE = "noto_cjk_sans_otc"
MISSING = "▯"
KANA, HANGUL = re.compile("[\u3040-\u30ff]"), re.compile("[\uac00-\ud7af]")
HAN = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]+"


def folders(npm: Path) -> list[Path]:
    spec = find_spec(CHINESE)
    chinese = [Path(spec.origin).parent] if spec and spec.origin else []
    return [path for name in FOLDERS if (path := npm / "@expo-google-fonts" / name).is_dir()] + chinese


def families(text: str) -> list[str]:
    """In the order in which they are asked for a letter. Han letters look different in each country."""
    country = "JP" if KANA.search(text) else "KR" if HANGUL.search(text) else "SC"
    return [*FAMILIES, f"Noto Sans CJK {country}", *SYMBOLS]


def missing(text: str, places: Sequence[Path]) -> set[str]:
    """The letters of a text that no font has. Fonts are only opened while some are left."""
    left = {letter for letter in set(text) if letter > "\x7f" and not _invisible(letter)}
    for font in (font for path in places for font in sorted(path.glob("*.tt[fc]"))):
        if not left:
            break
        firsts, lasts = _covered(font.read_bytes())
        left = {letter for letter in left if not _has(firsts, lasts, ord(letter))}
    return left


def scripts(letters: Iterable[str]) -> list[str]:
    """What the letters are of, for people: Bengali, Tamil."""
    return sorted({unicodedata.name(letter, "unnamed").split()[0].capitalize() for letter in letters})


def _invisible(letter: str) -> bool:
    return unicodedata.category(letter) in {"Cc", "Cf", "Zs", "Zl", "Zp"} or "\ufe00" <= letter <= "\ufe0f"


def _has(firsts: list[int], lasts: list[int], code: int) -> bool:
    index = bisect_right(firsts, code) - 1
    return index >= 0 and code <= lasts[index]


def _covered(font: bytes) -> tuple[list[int], list[int]]:
    """First and last of each range of letters, from the font's ``cmap`` table."""
    start = struct.unpack_from(">I", font, 12)[0] if font[:4] == b"ttcf" else 0
    tables = struct.unpack_from(">H", font, start + 4)[0]
    records = (struct.unpack_from(">4sIII", font, start + 12 + 16 * index) for index in range(tables))
    cmap = next(offset for tag, _, offset, _ in records if tag == b"cmap")
    maps = struct.unpack_from(">H", font, cmap + 2)[0]
    offsets = {struct.unpack_from(">HHI", font, cmap + 4 + 8 * index)[2] for index in range(maps)}
    ranges = sorted(span for offset in offsets for span in _ranges(font, cmap + offset))
    firsts: list[int] = []
    lasts: list[int] = []
    for first, last in ranges:
        if lasts and first <= lasts[-1] + 1:
            lasts[-1] = max(lasts[-1], last)
        else:
            firsts.append(first)
            lasts.append(last)
    return firsts, lasts


def _ranges(font: bytes, at: int) -> Iterator[tuple[int, int]]:
    """Of the two forms that fonts of today have."""
    match struct.unpack_from(">H", font, at)[0]:
        case 4:
            count = struct.unpack_from(">H", font, at + 6)[0] // 2
            ends = struct.unpack_from(f">{count}H", font, at + 14)
            starts = struct.unpack_from(f">{count}H", font, at + 16 + 2 * count)
            yield from ((first, last) for first, last in zip(starts, ends, strict=True) if first != 0xFFFF)
        case 12:
            for index in range(struct.unpack_from(">I", font, at + 12)[0]):
                first, last, _ = struct.unpack_from(">III", font, at + 16 + 12 * index)
                yield first, last
