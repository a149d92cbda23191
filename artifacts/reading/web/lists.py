"""What the items of a list of a page begin with. Pure."""

from artifacts.reading.web.attributes import ByName, whole_number

ROMAN = {
    "m": 1000, "cm": 900, "d": 500, "cd": 400, "c": 100, "xc": 90, "l": 50, "xl": 40, "x": 10, "ix": 9, "v": 5, "iv": 4, "i": 1,
}  # fmt: skip


class HtmlList:
    def __init__(self, tag: str, attributes: ByName) -> None:
        self._is_numbered = tag == "ol"
        self._type = (attributes.get("type") or "1").strip()[:1]
        start = whole_number(attributes.get("start"))
        self._step = -1 if "reversed" in attributes else 1
        if self._step < 0 and start is None:
            self._is_numbered = False  # how many there are is not known yet
        self._next = 1 if start is None else start

    def mark(self, attributes: ByName) -> str:
        """Of the next item."""
        if not self._is_numbered:
            return "- "
        value = whole_number(attributes.get("value"))
        number = self._next if value is None else value
        self._next = number + self._step
        return f"{_written(number, self._type)}. "


def _written(number: int, type: str) -> str:
    if type in {"a", "A"} and number > 0:
        letters = ""
        while number:
            number, place = divmod(number - 1, 26)
            letters = chr(ord(type) + place) + letters
        return letters
    if type in {"i", "I"} and 0 < number < 4000:
        text = ""
        for sign, value in ROMAN.items():
            count, number = divmod(number, value)
            text += sign * count
        return text if type == "i" else text.upper()
    return str(number)
