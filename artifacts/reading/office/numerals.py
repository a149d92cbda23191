"""Numbers of lists, headings and notes as office programs write them. Pure."""

ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"))
SMALL_ROMAN = ((50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))
NOTE_SIGNS = "*†‡§"


def numeral(number: int, style: str) -> str:
    """``style`` as Word names it (``lowerRoman``) or as OpenDocument does (``i``); plain digits for what is not known."""
    match style:
        case "upperRoman" | "I":
            return _roman(number).upper()
        case "lowerRoman" | "i":
            return _roman(number)
        case "upperLetter" | "A":
            return _letters(number).upper()
        case "lowerLetter" | "a":
            return _letters(number)
        case "decimalZero":
            return f"{number:02}"
        case "ordinal":
            return f"{number}{_ordinal_ending(number)}"
        case "chicago":
            return NOTE_SIGNS[(number - 1) % 4] * min((number - 1) // 4 + 1, 9)
        case "none" | "bullet":
            return ""
    return str(number)


def letters(column: int) -> str:
    """Of columns of sheets and of lists of pages: ``A`` for 0, ``AA`` for 26."""
    name = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        name = chr(ord("A") + rest) + name
    return name


def _roman(number: int) -> str:
    if not 0 < number < 4000:
        return str(number)
    text = ""
    for value, letters in (*ROMAN, *SMALL_ROMAN):
        times, number = divmod(number, value)
        text += letters * times
    return text


def _letters(number: int) -> str:
    """``z`` is followed by ``aa`` and then by ``bb``."""
    if not 0 < number < 1000:
        return str(number)
    return chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)


def _ordinal_ending(number: int) -> str:
    if number % 100 in {11, 12, 13}:
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
