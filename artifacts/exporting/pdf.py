"""Blocks as a PDF, set by Typst. Every text is handed over as a string, so none of it is read as Typst's language."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import typst

from artifacts.exporting import fonts
from artifacts.exporting.blocks import (
    Block,
    Blocks,
    Code,
    Heading,
    Item,
    ListBlock,
    NoteBlock,
    Paragraph,
    Quote,
    Rule,
    Runs,
    Table,
    TextRun,
    plain,
    runs_right_to_left,
    shares,
)

TEMPLATE = (Path(__file__).parent / "template.typ").read_text()
MEASURED_CELLS = 300
"""Up to here the columns are as wide as their texts want; to try that out takes too long for larger tables."""
NARROW, WIDE = 7, 9
"""Columns above which the letters of a table are smaller, and above which it gets a page across."""
COLUMNS = 30
HIGHLIGHTED_CHARS = 20_000
UNBROKEN = 24
"""Letters without a space in a table's cell before they may be broken anywhere; elsewhere thrice as many."""


class TypstError(Exception):
    """What Typst could not do."""


def write(blocks: Blocks, *, title: str, npm: Path) -> bytes:
    places = fonts.folders(npm)
    text = title + "".join(_texts(blocks))
    missing = fonts.missing(text, places)
    shown = str.maketrans(dict.fromkeys(missing, fonts.MISSING))
    if missing:
        blocks = NoteBlock(_missing_fonts_note(missing)), *blocks
    body = _PdfWriter(lambda text: text.translate(shown)).document(blocks)
    families = ", ".join(map(_quoted, fonts.families(text)))
    named = _quoted(title.translate(shown))
    start = f"#show: document-of.with(title: {named}, fonts: ({families}), bold: {_quoted(fonts.HAN)})"
    try:
        available = typst.Fonts(include_system_fonts=False, font_paths=[str(path) for path in places])
        file = typst.compile(f"{TEMPLATE}\n{start}\n#{body}\n".encode(), format="pdf", font_paths=available)
    except typst.TypstError as error:
        raise TypstError(error.message) from error
    assert isinstance(file, bytes)
    return file


def _missing_fonts_note(missing: set[str]) -> str:
    names = fonts.scripts(missing)
    listed = ", ".join(names[:6]) + (" and others" if len(names) > 6 else "")
    return (
        f"Some letters have no font here ({listed}) and are shown as {fonts.MISSING}. "
        "They are whole in the exports as Markdown, HTML and Word."
    )


@dataclass(frozen=True)
class _PdfWriter:
    shown: Callable[[str], str]

    def document(self, blocks: Blocks) -> str:
        """A table with many columns gets a page across, with the headings and notes right above it."""
        written: list[str] = []
        above: list[str] = []
        for block in blocks:
            text = self.directed(block)
            if isinstance(block, Table) and WIDE < len(block.aligned) <= COLUMNS:
                written.append("page(flipped: true, {\n" + "\n".join([*above, text]) + "\n})")
                above = []
            elif isinstance(block, Heading | NoteBlock):
                above.append(text)
            else:
                written += [*above, text]
                above = []
        return "{\n" + "\n".join([*written, *above]) + "\n}"

    def blocks(self, blocks: Blocks) -> str:
        return "{\n" + "\n".join(map(self.block, blocks)) + "\n}"

    def directed(self, block: Block) -> str:
        written = self.block(block)
        if not runs_right_to_left("".join(_texts((block,)))):
            return written
        return "{ set text(dir: rtl)\n" + written + "\n}"

    def block(self, block: Block) -> str:
        match block:
            case Paragraph(runs):
                return f"par({self.runs(runs)})"
            case Heading(level, runs):
                return f"heading(level: {level}, {self.runs(runs)})"
            case Code(text, language):
                return self.code(text, language)
            case Quote(blocks):
                side = "right" if runs_right_to_left("".join(_texts(blocks))) else "left"
                return f"quoted({side}, {self.blocks(blocks)})"
            case ListBlock(items, start):
                return self.listing(items, start)
            case Table():
                return self.table(block)
            case Rule():
                return "rule()"
            case NoteBlock(text):
                return f"note({self.string(text)})"

    def code(self, text: str, language: str) -> str:
        lang = f", lang: {_quoted(language)}" if language and len(text) < HIGHLIGHTED_CHARS else ""
        return f"code(raw({self.string(text, 3 * UNBROKEN)}, block: true{lang}))"

    def listing(self, items: tuple[Item, ...], start: int | None) -> str:
        if start is None and all(item.done is not None for item in items):
            made = (f"task({str(item.done).lower()}, {self.item(item)})" for item in items)
            return f"tasks({', '.join(made)})"
        done = {True: '"☑ "', False: '"☐ "'}
        bodies = (
            self.item(item) if item.done is None else f"{{ {done[item.done]}\n{self.item(item)} }}" for item in items
        )
        kind = "list(" if start is None else f"enum(start: {start}, "
        return kind + "".join(f"{body}, " for body in bodies) + ")"

    def item(self, item: Item) -> str:
        """Without a paragraph of its own at the front, so that its text stands beside the mark."""
        match item.blocks:
            case [Paragraph(runs), *rest]:
                return "{ " + self.runs(runs) + "\n" + "\n".join(map(self.block, rest)) + "\n}"
            case blocks:
                return self.blocks(blocks)

    def table(self, table: Table) -> str:
        width = len(table.aligned)
        if width > COLUMNS:
            lines = "\n".join("\t".join(map(plain, row)) for row in table.rows)
            return "{ " + self.block(NoteBlock(_too_wide(width))) + "\n" + self.code(lines, "") + " }"
        aligned = ", ".join(side or "start" for side in table.aligned)
        columns = (
            str(width)
            if width * len(table.rows) <= MEASURED_CELLS
            else f"({', '.join(f'{share:.4f}fr' for share in shares(table))},)"
        )
        head, *rows = ([self.cell(runs, is_heading=not index) for runs in row] for index, row in enumerate(table.rows))
        cells = [f"table.header({', '.join(head)})", *(cell for row in rows for cell in row)]
        made = f"table(columns: {columns}, align: ({aligned},), {', '.join(cells)})"
        return "{ set text(size: 7.5pt)\n" + made + " }" if width > NARROW else made

    def cell(self, runs: Runs, *, is_heading: bool) -> str:
        written = self.runs(runs, UNBROKEN)
        return f"strong({written})" if is_heading else written

    def runs(self, runs: Runs, unbroken: int = 3 * UNBROKEN) -> str:
        return "{ " + "; ".join(["[]", *(self.run(run, unbroken) for run in runs)]) + " }"

    def run(self, run: TextRun, unbroken: int) -> str:
        if run.text == "\n":
            return "linebreak()"
        made = self.string(run.text, unbroken)
        for name, has in {"raw": run.code, "emph": run.emphasis, "strong": run.strong, "strike": run.struck}.items():
            made = f"{name}({made})" if has else made
        return f"link({_quoted(run.href)}, {made})" if run.href else made

    def string(self, text: str, unbroken: int = 3 * UNBROKEN) -> str:
        return _quoted(_breakable(self.shown(text), unbroken))


def _too_wide(width: int) -> str:
    return f"This table has {width} columns, too many for a page. Its cells follow as they are, one row a line."


def _breakable(text: str, most: int) -> str:
    return re.sub(rf"[!-~]{{{most}}}", "\\g<0>\u200b", text)


def _quoted(text: str) -> str:
    plain = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{plain}"'


def _texts(blocks: Iterable[Block]) -> Iterable[str]:
    for block in blocks:
        match block:
            case Paragraph(runs) | Heading(_, runs):
                yield plain(runs)
            case Code(text) | NoteBlock(text):
                yield text
            case Quote(inner):
                yield from _texts(inner)
            case ListBlock(items):
                for item in items:
                    yield from _texts(item.blocks)
            case Table(_, rows):
                yield from (plain(runs) for row in rows for runs in row)
