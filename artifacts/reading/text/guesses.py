"""Which encoding a text is in, if its bytes are all that is known.

chardet weighs the languages of the world and encodings of fifty years against each other. What its weights leave nearly
equal is decided by what texts don't do: mix alphabets within a word, or have signs in the middle of one.
"""

import codecs
import re
from collections.abc import Mapping
from itertools import pairwise

import chardet

SAMPLE = 16 * 2**10
LIKELY = (
    *("cp1252", "cp1251", "cp1250", "cp1254", "cp1253", "cp1255", "cp1256", "cp1257", "cp874", "cp1258", "iso8859-15"),
    *("iso8859-2", "iso8859-5", "iso8859-6", "iso8859-7", "iso8859-8", "iso8859-13", "iso8859-16", "koi8-r", "koi8-u"),
    *("cp866", "cp932", "euc_jis_2004", "gb18030", "big5hkscs", "cp949"),
    *("mac-roman", "cp850", "cp852", "cp437", "cp865", "mac-cyrillic"),
)
"""What people still have, the likelier first: it is taken where the weights are equal."""
AS_BROWSERS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "cp950": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "euc_jp": "euc_jis_2004",
    "iso2022_jp": "iso2022_jp_2",
}
"""Files name the smaller set and hold the larger one (https://encoding.spec.whatwg.org/#names-and-labels)."""
MULTIBYTE = ("cp932", "euc_jis_2004", "gb18030", "big5hkscs", "cp949")
OTHERWISE = "cp1252"
CONSIDERED = 0.4
"""Of the best weight; what has less is out."""
EQUAL = 0.96
COMMONEST = 0.3
"""By how much the weight of the commonest encoding grows where one letter is all that there is; of n letters, by an nth."""
MOST_DAMAGED = 0.03
"""Of the signs of a text in several bytes a letter: such a one is judged without them."""

_NO_WORD = r"\s\x00-\x26\x28-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f"
WORD = re.compile(rf"[^{_NO_WORD}]+")
ODD = re.compile(
    r"[\x80-\x9f]|[a-zA-Z][\u0370-\u06ff\u0e00-\u0e7f]|[\u0370-\u06ff\u0e00-\u0e7f][a-zA-Z]"
    r"|[^\W\d_][¡-©«-®¯-¹»-¿×÷†‡‰‹‚„ˆ˜\u2200-\u22ff\u2500-\u25ff][^\W\d_]"
    r"|[¢-©¬®¯±¸×÷¶ˆ˜\u2500-\u25ff][^\W\d_]|[^\W\d_][¡¿¢¦¨¬¯±¸×÷¶ˆ˜\u2500-\u25ff]"
    r"|(?<![\u0e00-\u0e7f])[\u0e00-\u0e7f](?![\u0e00-\u0e7f])"
)
"""Controls, two alphabets in a word, signs within one or at its end that stand elsewhere, a letter of Thai alone."""


def guess_encoding(sample: bytes) -> str:
    """Of bytes that are not UTF-8, of which most lines have some that are not ASCII."""
    sample = sample[:SAMPLE]
    weights = _weights(sample)
    if not set(weights) & set(MULTIBYTE):
        for name in MULTIBYTE:
            if (mended := _mended(sample, name)) and _best(mended, _weights(mended)) == name:
                return name
    return _best(sample, weights)


def _weights(sample: bytes) -> Mapping[str, float]:
    weights: dict[str, float] = {}
    for guess in chardet.detect_all(sample, ignore_threshold=True, max_bytes=SAMPLE, include_encodings=LIKELY):
        if guess["encoding"]:
            name = codecs.lookup(guess["encoding"]).name
            name = AS_BROWSERS.get(name, name)
            weights[name] = max(weights.get(name, 0.0), guess["confidence"])
    return weights


def _best(sample: bytes, weights: Mapping[str, float]) -> str:
    if not weights:
        return OTHERWISE
    letters = len(sample.translate(None, bytes(range(128))))
    weights = {
        name: weight * (1 + COMMONEST / max(letters, 1) * (name == OTHERWISE)) for name, weight in weights.items()
    }
    least = max(weights.values()) * CONSIDERED
    scores = {
        name: weight * (1 if name in MULTIBYTE else _sense(sample.decode(name, "replace")) ** 2)
        for name, weight in weights.items()
        if weight >= least and name in LIKELY
    }
    if not scores:
        return OTHERWISE
    best = min((name for name, score in scores.items() if score >= EQUAL * max(scores.values())), key=LIKELY.index)
    return "euc_jis_2004" if best == "gb18030" and "euc_jis_2004" in weights and _is_japanese(sample) else best


def _sense(text: str) -> float:
    """Share of the words with other letters than ASCII's that look like words."""
    words = [word for word in WORD.findall(text) if not word.isascii()]
    return 1 - sum(map(_is_odd, words)) / len(words) if words else 1.0


def _is_odd(word: str) -> bool:
    return ODD.search(word) is not None or any(
        before.islower() and after.isupper() and not (before + after).isascii() for before, after in pairwise(word)
    )


def _is_japanese(sample: bytes) -> bool:
    """Whether the common half of the Japanese signs makes up all of it; of Chinese texts a quarter lies beyond."""
    pairs = sample.translate(None, bytes(range(128)))[::2]
    return len(pairs) >= 8 and sum(first >= 0xD0 for first in pairs) < len(pairs) / 20


def _mended(sample: bytes, name: str) -> bytes:
    """Without the few signs that are damaged; empty if these are many, or none."""
    text = sample.decode(name, "replace")
    damaged = text.count("\ufffd")
    letters = len(text) - len(text.encode("ascii", "ignore"))
    return text.replace("\ufffd", "").encode(name, "ignore") if 0 < damaged <= letters * MOST_DAMAGED else b""
