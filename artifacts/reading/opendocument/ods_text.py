"""Texts in the cells and shapes of OpenDocument sheets as they are shown."""

from collections.abc import Iterator
from dataclasses import replace
from xml.etree.ElementTree import Element

from artifacts.reading.marks import cell_note
from artifacts.reading.office.letters import Letters
from artifacts.reading.office.runs import Run, marked
from artifacts.reading.opendocument.styles import Styles
from artifacts.reading.xml_stream import attribute, found

SIGNS = {"text:tab": "\t", "text:line-break": "\n"}
MOST_SPACES = 80


class ShownTexts:
    """``hidden`` counts the paragraphs of which something was left out since nobody sees it."""

    def __init__(self, styles: Styles) -> None:
        self._styles = styles
        self._letters: dict[tuple[str, str], Letters] = {}
        self.hidden = 0

    def letters(self, family: str, style_name: str) -> Letters:
        """Of a style, on what is behind it."""
        key = family, style_name
        if key not in self._letters:
            style = self._styles.style(family, style_name)
            background = style.letters.background or style.background
            self._letters[key] = replace(style.letters, background=background)
        return self._letters[key]

    def text(self, paragraph: Element, base: Letters) -> str:
        runs = list(self._runs(paragraph, base))
        self.hidden += any(run.look.is_hidden and run.text.strip() for run in runs)
        return marked([run for run in runs if not run.look.is_hidden]).strip()

    def _runs(self, element: Element, base: Letters) -> Iterator[Run]:
        look = base.look()
        yield Run(element.text or "", look)
        for inner in element:
            tag = inner.tag
            if tag in SIGNS:
                yield Run(SIGNS[tag], look)
            elif tag == "text:s":
                times = attribute(inner, "text:c")
                yield Run(" " * (min(int(times), MOST_SPACES) if times.isdecimal() and len(times) < 4 else 1), look)
            elif tag == "text:span":
                yield from self._runs(inner, self.letters("text", attribute(inner, "text:style-name")).over(base))
            elif tag != "office:annotation":
                yield from self._runs(inner, base)
            yield Run(inner.tail or "", look)


def comment(element: Element) -> str:
    """What somebody noted, such as ``[Eva: Ask the mayor.]``."""
    author = next((inner.text or "" for inner in element if inner.tag == "dc:creator"), "")
    text = " ".join(word for line in found(element, "text:p") for word in "".join(line.itertext()).split())
    return cell_note(text, author)
