"""What a form shows: what is filled in and ticked, never a password."""

from dataclasses import dataclass, field

from artifacts.reading import marks
from artifacts.reading.blocks import LeftOut, Why
from artifacts.reading.web.tokens import ByName

BUTTONS = {"submit": "Submit", "reset": "Reset", "button": ""}
LONGEST_CHOICES = 2_000
"""Characters; of more, only how many there are is said."""


def field_text(attributes: ByName) -> str:
    """Of an ``input``."""
    kind, value = (attributes.get("type") or "text").strip().lower(), attributes.get("value")
    if kind in {"checkbox", "radio"}:
        return marks.checked("checked" in attributes)
    if kind in {"hidden", "password", "file"}:
        return ""
    if kind == "image":
        return f"(picture: {attributes['alt']})" if attributes.get("alt") else "(picture)"
    if kind in BUTTONS:
        return BUTTONS[kind] if value is None else value
    return value or ""


def unseen_value(attributes: ByName) -> LeftOut | None:
    """What an ``input`` holds and does not show."""
    kind = (attributes.get("type") or "").strip().lower()
    if kind in {"hidden", "password"} and attributes.get("value"):
        return LeftOut(Why.HIDDEN, "hidden field" if kind == "hidden" else "password")
    return None


def amount(attributes: ByName) -> str:
    """Of a ``progress`` or a ``meter``."""
    value, most = attributes.get("value"), attributes.get("max") or "1"
    return f"({value} of {most})" if value else ""


@dataclass(slots=True)
class Choices:
    """Of a ``select``."""

    is_list: bool
    """All of them are shown at once."""
    words: list[list[str]] = field(default_factory=list)
    chosen: list[bool] = field(default_factory=list)

    def start(self, attributes: ByName) -> None:
        label = attributes.get("label")
        self.words.append([label] if label else [])
        self.chosen.append("selected" in attributes)

    def text(self) -> str:
        """The choice that is made, of those there are."""
        names = [" ".join("".join(words).split()) for words in self.words]
        if self.is_list:
            ticked = (f"{marks.checked(is_on)} {name}" for name, is_on in zip(names, self.chosen, strict=True) if name)
            return " ".join(ticked)
        if not names:
            return ""
        # As browsers do: the last that is selected, else the first.
        last = max((place for place, is_on in enumerate(self.chosen) if is_on), default=0)
        others = [name for place, name in enumerate(names) if place != last and name]
        if not others:
            return names[last]
        listed = ", ".join(others)
        if len(listed) > LONGEST_CHOICES:
            return f"{names[last]} (of {len(names):,} choices)"
        return f"{names[last]} (other choices: {listed})"


def choices(attributes: ByName) -> Choices:
    size = attributes.get("size") or ""
    return Choices(is_list="multiple" in attributes or (size.isdecimal() and size not in {"0", "1"}))
