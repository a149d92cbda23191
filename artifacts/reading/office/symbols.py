"""Letters of symbol fonts, whose bytes mean signs and not letters, as Unicode. Pure.

Office writes such a letter as itself or in Unicode's private area, 0xF000 higher. What the eye can't tell apart becomes the
sign that models know best: an arrow of any weight is an arrow.
"""

import re
from collections.abc import Mapping

PRIVATE = 0xF000
OF_SYMBOLS = re.compile(r"[\uf000-\uf0ff]")


def _table(**rows: str) -> Mapping[int, str]:
    """Of rows that begin at a code, as ``x41="ΑΒ"``. A space stands for a letter that is not known."""
    return {
        int(start[1:], 16) + at: letter
        for start, letters in rows.items()
        for at, letter in enumerate(letters)
        if letter != " "
    }


SYMBOL = _table(
    x21="!∀#∃%&∋()∗+,−./0123456789:;<=>?",
    x40="≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_",
    x60="‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼",
    xA0="€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…|—↵",
    xC0="ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓",
    xE0="◊〈®©™∑(((⎡|⎣{{{| 〉∫⌠|⌡)))⎤|⎦}}}",
)
WINGDINGS = _table(
    x21="✏✂✁👓🔔📖🕯☎✆✉✉📪📫📬📭📁📂📄📄📄🗄⌛⌨🖰🖲💻🖴💾💾✇✍",
    x40="✍✌👌👍👎☜☞☝☟✋☺😐☹💣☠⚑⚐✈☼💧❄✝✞✝✠✡☪☯ॐ☸♈♉",
    x60="♊♋♌♍♎♏♐♑♒♓&&●❍■☐☐❑❒⬧⧫◆❖⬥☒⮹⌘❀✿❝❞",
    x80="⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿❧❧❧❧❧❧❧❧·•",
    xA1="○○○◉◎○▪☐▲✦★✶✴✹✵⊕⌖⟡⌑?✪✰🕐🕑🕒🕓🕔🕕🕖🕗🕘🕙🕚🕛",
    xD5="⌫⌦➢➢➢➢➢➢➢➢←→↑↓↖↗↙↘←→",
    xE9="↑↓↖↗↙↘⇦⇨⇧⇩⇔⇕⬁⬀⬃⬂▭▫✗✓☒☑",
)
WINGDINGS_2 = _table(
    x21="🖊🖋🖌🖍✄✀☎☏📃📄📋🗋",
    x42="🖑👌☜☞☟☝",
    x4F="✗✓☒☑☒☒⊗⊗🚫⊘",
    x69="⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿",
    x95="·•●●●○○◉◎ ▪■☐",
)
WINGDINGS_3 = _table(
    x21="←→↑↓↖↗↙↘←→↑↓↕↔",
    x30="←→↑↓↖↗↙↘",
    x50="⮢⮣↰↱↲↳↵↴⇐⇒⇑⇓⇖⇗⇙⇘⇔⇕",
    x66="←→↑↓↖↗↙↘↔↕▲▼△▽◀▶◁▷◣◢◤◥◂▶▴▾◂▸◂▸",
)
WEBDINGS = _table(
    x33="◀▶▲▼⏪⏩⏮⏭⏸⏹⏺",
    x48="🏠",
    x59="♥",
    x61="✓🚲☐🛡📦■🚑ℹ✈",
    x6E="●🚗",
    x72="✗❓",
    x79="🚫",
    x8F="🏃",
    xC8="☎",
    xE7="♪",
)
FONTS = {
    "symbol": SYMBOL,
    "symbolmt": SYMBOL,
    "wingdings": WINGDINGS,
    "wingdings2": WINGDINGS_2,
    "wingdings3": WINGDINGS_3,
    "webdings": WEBDINGS,
}


def is_symbol_font(font: str) -> bool:
    return bool(font) and _key(font) in FONTS


def letter(code: int, font: str) -> str:
    """One letter of a symbol font; one that no table has is named: ``(symbol 7A of Marlett)``."""
    low = code - PRIVATE if PRIVATE <= code < PRIVATE + 0x100 else code
    if table := FONTS.get(_key(font)):
        if low == 0x20:
            return " "
        if low in table:
            return table[low]
        return chr(code) if code >= 0x100 and low == code else f"(symbol {low:X} of {font.strip()})"
    if low != code:  # a letter of the private area, whatever the font
        return f"(symbol {low:X}{f' of {font.strip()}' if font.strip() else ''})"
    return chr(code) if 0x20 <= code < 0x110000 and not 0xD800 <= code < 0xE000 else ""


def readable(text: str, font: str) -> str:
    """Text of that font. Of fonts that are no symbol fonts, only what stands in the private area of symbols is looked up."""
    if is_symbol_font(font):
        return "".join(letter(ord(sign), font) if sign > " " else sign for sign in text)
    if OF_SYMBOLS.search(text):
        return "".join(_private(ord(sign), font) for sign in text)
    return text


def _private(code: int, font: str) -> str:
    """Where a program wrote a bullet without saying of which font it is, it is one of Symbol's."""
    if PRIVATE <= code < PRIVATE + 0x100 and not font:
        return letter(code, "Symbol")
    return letter(code, font) if PRIVATE <= code < PRIVATE + 0x100 else chr(code)


def _key(font: str) -> str:
    return font.lower().replace(" ", "").replace("-", "")
