"""Fields of Word: what they show, and never how it is worked out. Fields of forms show what was filled in."""

from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from artifacts.reading import marks
from artifacts.reading.office.symbols import letter
from artifacts.reading.xml_stream import ON, attribute, child, children_named, value, whole_number

DEEPEST = 50
"""Fields within fields."""


@dataclass
class _Field:
    instruction: list[str] = field(default_factory=list)
    is_result: bool = False
    """What comes now is what it shows."""
    is_given: bool = False
    """What it shows was given already."""
    has_result: bool = False


class Fields:
    """The fields that are open where the reader is, the innermost last."""

    def __init__(self) -> None:
        self._open: list[_Field] = []

    @property
    def is_text(self) -> bool:
        """Whether text that comes now is shown."""
        return all(each.is_result and not each.is_given for each in self._open)

    def pass_text(self) -> None:
        """Text was shown."""
        for each in self._open:
            each.has_result = True

    def instruct(self, text: str) -> None:
        if self._open and not self._open[-1].is_result:
            self._open[-1].instruction.append(text)

    def change(self, mark: Element) -> str:
        """At a ``w:fldChar``: what is shown there because of it."""
        match attribute(mark, "w:fldCharType"):
            case "begin":
                is_shown = self.is_text
                shown = _filled_in(child(mark, "w:ffData"))
                if len(self._open) < DEEPEST:
                    self._open.append(_Field(is_given=bool(shown)))
                return shown if is_shown else ""
            case "separate" if self._open:
                self._open[-1].is_result = True
            case "end" if self._open:
                ended = self._open.pop()
                if self.is_text and not ended.has_result and not ended.is_given:
                    return _worked_out("".join(ended.instruction))
        return ""

    def end_paragraph(self) -> None:
        """An instruction that was never ended takes no other paragraph along."""
        self._open = [each for each in self._open if each.is_result]


def _filled_in(form: Element | None) -> str:
    """Of a check box or a list; what is filled in as text stands in the document."""
    if form is None:
        return ""
    box, choices = child(form, "w:checkBox"), child(form, "w:ddList")
    if box is not None:
        state = child(box, "w:checked")
        state = child(box, "w:default") if state is None else state
        return marks.checked(state is not None and value(state) in ON)
    if choices is not None:
        entries = [value(entry) for entry in children_named(choices, "w:listEntry")]
        chosen = value(child(choices, "w:result")) or value(child(choices, "w:default")) or "0"
        return "".join(entries[whole_number(chosen, len(entries)) :][:1])
    return ""


def _worked_out(instruction: str) -> str:
    """Of the two kinds of field that Word draws without storing what they show."""
    words = instruction.split()
    match words[:1]:
        case ["SYMBOL"] if len(words) > 1:
            font = instruction.partition("\\f")[2].strip().partition('"' if '"' in instruction else " ")
            name = font[2].partition('"')[0] if font[1] == '"' else font[0]
            code = words[1]
            if code.isdecimal() and len(code) < 7:
                return letter(int(code), name)
            if code.lower().startswith("0x") and code[2:].isalnum() and len(code) < 8:
                return letter(int(code, 16), name) if set(code[2:].lower()) <= set("0123456789abcdef") else ""
        case ["EQ" | "eq"]:
            return f"(formula: {' '.join(words[1:])})"
    return ""
