"""What the items of a list of a page begin with. Pure."""

from artifacts.reading.office.numerals import letters, numeral
from artifacts.reading.web.tokens import ByName, whole_number


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
        return letters(number - 1) if type == "A" else letters(number - 1).lower()
    return numeral(number, type) if type in {"i", "I"} else str(number)
