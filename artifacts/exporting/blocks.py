"""What a document is made of, for every format that it is written in."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRun:
    """Text of one look. A line break is a run of its own, ``"\\n"``."""

    text: str
    strong: bool = False
    emphasis: bool = False
    struck: bool = False
    code: bool = False
    href: str = ""


type Runs = tuple[TextRun, ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    runs: Runs


@dataclass(frozen=True, slots=True)
class Heading:
    level: int
    runs: Runs


@dataclass(frozen=True, slots=True)
class Code:
    text: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class Quote:
    blocks: "Blocks"


@dataclass(frozen=True, slots=True)
class Item:
    """``done`` is whether a task is, and None for an item that is no task."""

    blocks: "Blocks"
    done: bool | None = None


@dataclass(frozen=True, slots=True)
class ListBlock:
    """``start`` is the number of the first item, None where they have bullets."""

    items: tuple[Item, ...]
    start: int | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells, all of one length; the first row is the heading. ``aligned`` has left, center, right or "" a column."""

    aligned: tuple[str, ...]
    rows: tuple[tuple[Runs, ...], ...]


@dataclass(frozen=True, slots=True)
class Rule:
    pass


@dataclass(frozen=True, slots=True)
class NoteBlock:
    """Something that Openbook itself says about the export."""

    text: str


type Block = Paragraph | Heading | Code | Quote | ListBlock | Table | Rule | NoteBlock
type Blocks = tuple[Block, ...]

MEASURED_ROWS = 200
RIGHT_TO_LEFT = ("\u0590", "\u08ff")


def plain(runs: Runs) -> str:
    return "".join(run.text for run in runs)


def runs_right_to_left(text: str) -> bool:
    """Whether the first letter is of a script that does, Hebrew or Arabic."""
    first = next((letter for letter in text if letter.isalpha()), "")
    return RIGHT_TO_LEFT[0] <= first <= RIGHT_TO_LEFT[1] or "\ufb1d" <= first <= "\ufefc"


def shares(table: Table) -> list[float]:
    """Parts of the page's width by what stands in the columns, neither tiny nor greedy."""
    weights = []
    for column in zip(*table.rows[:MEASURED_ROWS], strict=True):
        lengths = sorted(len(plain(runs)) for runs in column)
        words = max(len(word) for runs in column for word in (plain(runs).split() or [""]))
        typical = lengths[len(lengths) * 9 // 10]
        weights.append(max(min(typical, 60) ** 0.75, min(words, 20), 4))
    return [weight / sum(weights) for weight in weights]
