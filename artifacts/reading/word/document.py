"""What all stories of a Word document share: its styles, its numbers, what it refers to."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from artifacts.reading.archives import Archive
from artifacts.reading.blocks import Block
from artifacts.reading.office.numerals import numeral
from artifacts.reading.word.numbering import Numbering
from artifacts.reading.word.styles import Styles


@dataclass
class Notes:
    """Numbers of notes in the order in which the text refers to them."""

    format: str
    prefix: str = ""
    """Where both kinds are counted in the same way."""
    labels: dict[str, str] = field(default_factory=dict)
    count: int = 0

    def label(self, note_id: str, own: str) -> str:
        """``own``: a sign that the author chose, which counts nothing."""
        if note_id not in self.labels:
            self.count += not own
            self.labels[note_id] = own or f"{self.prefix}{numeral(self.count, self.format)}"
        return self.labels[note_id]


@dataclass
class Document:
    """What all stories of a document share."""

    archive: Archive
    styles: Styles
    numbering: Numbering
    footnotes: Notes
    endnotes: Notes
    comments: dict[str, str]
    """By their ids, until they are given."""
    inserted: Callable[[str], Iterator[Block]]
    """What stands in a file of another kind, by its place in the archive."""
    page_colour: str | None = None
    pictures: list[str] = field(default_factory=list)
    """Places of the first of those that are shown."""
    shown_pictures: int = 0
    is_whole: bool = True
    """No paragraph or table was damaged."""
    letters: int = 0
    """How many were read."""
