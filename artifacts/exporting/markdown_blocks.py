"""From Markdown to blocks. Nothing that could fetch or run anything comes through: what is no plain text stays text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from markdown_it import MarkdownIt
from markdown_it.token import Token

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
)

DEEPEST = 12
"""Lists and quotes within one another that can be laid out."""
TOO_DEEP = f"Lists or quotes stand more than {DEEPEST} deep in one another here; so the text follows as it is written."

LINKED = re.compile(r"(?:https?|mailto|tel):", re.IGNORECASE)
COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
LINE_BREAK = re.compile(r"<br\s*/?>[ \t]*\n?|</(?:p|div|li|tr|h[1-6]|summary)>", re.IGNORECASE)
# Their text is kept. Any other tag is shown as it is written, as it may be meant: Vec<String>, <customer name>.
DROPPED = re.compile(
    r"</?(?:a|abbr|article|b|big|blockquote|caption|center|cite|code|dd|del|details|div|dl|dt|em|font|h[1-6]|hr|i|ins|kbd|li|"
    r"mark|ol|p|pre|q|s|samp|section|small|span|strike|strong|sub|summary|sup|table|tbody|td|tfoot|th|thead|tr|tt|u|ul|var)"
    r"(?:\s[^<>]*)?/?>|</?br\s*/?>",
    re.IGNORECASE,
)
TASK = re.compile(r"\[([ xX])\][ \t\n]+")


class TooDeep(Exception):
    """The text can't be laid out."""


def _parser() -> MarkdownIt:
    # Deeper than DEEPEST lists, so that what is too deep is seen here and not dropped there without a word.
    parser = MarkdownIt("commonmark", {"maxNesting": 4 * DEEPEST, "linkify": True})
    parser.enable(["table", "strikethrough", "linkify"])
    assert parser.linkify
    parser.linkify.set({"fuzzy_link": False, "fuzzy_email": False, "fuzzy_ip": False})  # README.md is no address
    parser.validateLink = lambda url: True  # type: ignore[method-assign]  # told apart below, where the text is kept
    return parser


PARSER = _parser()


def parse_markdown(markdown: str, *, title: str, note: str = "") -> Blocks:
    """The blocks, under a heading with the title unless they begin with one of their own."""
    try:
        blocks: Blocks = tuple(_BlockReader(PARSER.parse(_without_controls(markdown))).blocks())
    except (TooDeep, RecursionError):
        blocks = NoteBlock(TOO_DEEP), Code(_without_controls(markdown))
    if note:
        blocks = NoteBlock(note), *blocks
    if blocks and isinstance(blocks[0], Heading) and blocks[0].level == 1:
        return blocks
    return Heading(1, (TextRun(text=_without_controls(title)),)), *blocks


@dataclass
class _BlockReader:
    tokens: list[Token]
    at: int = 0
    depth: int = 0

    def blocks(self, until: str = "") -> Iterator[Block]:
        while self.at < len(self.tokens):
            token = self._next()
            if token.type == until:
                return
            yield from self._block(token)

    def _block(self, token: Token) -> Iterator[Block]:
        match token.type:
            case "paragraph_open" | "heading_open":
                yield from self._text(token.tag)
            case "fence" | "code_block":
                yield Code(token.content.removesuffix("\n"), (token.info.split() or [""])[0])
            case "html_block":
                yield from _paragraph(tuple(_lines(TextRun(text=shown_html(token.content).strip()))))
            case "hr":
                yield Rule()
            case "blockquote_open":
                yield Quote(tuple(self._within("blockquote_close")))
            case "bullet_list_open" | "ordered_list_open":
                start = int(token.attrs.get("start", 1)) if token.type == "ordered_list_open" else None
                yield ListBlock(tuple(self._items(token.type.replace("open", "close"))), start)
            case "table_open":
                yield self._table()

    def _text(self, tag: str) -> Iterator[Block]:
        runs = inline(self._next())
        self._next()
        yield from [Heading(int(tag[1:]), runs)] if tag != "p" else _paragraph(runs)

    def _within(self, until: str) -> list[Block]:
        self.depth += 1
        if self.depth > DEEPEST:
            raise TooDeep
        blocks = list(self.blocks(until))
        self.depth -= 1
        return blocks

    def _items(self, until: str) -> Iterator[Item]:
        while self._next().type != until:
            yield _item(tuple(self._within("list_item_close")))

    def _table(self) -> Table:
        rows: list[list[Runs]] = []
        aligned: list[str] = []
        while (token := self._next()).type != "table_close":
            if token.type == "tr_open":
                rows.append([])
            elif token.type in {"th_open", "td_open"}:
                rows[-1].append(inline(self._next()))
            if token.type == "th_open":
                aligned.append(str(token.attrs.get("style", "")).removeprefix("text-align:"))
        return Table(tuple(aligned), tuple(map(tuple, rows)))

    def _next(self) -> Token:
        self.at += 1
        return self.tokens[self.at - 1]


def _paragraph(runs: Runs) -> Iterator[Paragraph]:
    """None for a text that nothing is left of."""
    if any(run.text.strip() for run in runs):
        yield Paragraph(runs)


def _item(blocks: Blocks) -> Item:
    """An item that begins with ``[ ]`` or ``[x]`` is a task."""
    if not (blocks and isinstance(blocks[0], Paragraph)):
        return Item(blocks)
    first, *more = blocks[0].runs
    if not (match := TASK.match(first.text + (" " if more else ""))) or first.code:
        return Item(blocks)
    rest = Paragraph((replace(first, text=first.text[match.end() :]), *more))
    return Item((rest, *blocks[1:]), done=match[1] != " ")


@dataclass
class _Look:
    depths: dict[str, int] = field(default_factory=lambda: {"strong": 0, "em": 0, "s": 0})
    href: str = ""

    def run(self, text: str, *, code: bool = False) -> TextRun:
        strong, emphasis, struck = (self.depths[name] > 0 for name in ("strong", "em", "s"))
        return TextRun(text=text, strong=strong, emphasis=emphasis, struck=struck, code=code, href=self.href)


def inline(token: Token) -> Runs:
    return tuple(_joined(_runs(token.children or [])))


def _runs(tokens: list[Token]) -> Iterator[TextRun]:
    look = _Look()
    for token in tokens:
        name, _, edge = token.type.rpartition("_")
        if name in look.depths:
            look.depths[name] += 1 if edge == "open" else -1
        match token.type:
            case "text":
                yield look.run(token.content)
            case "code_inline":
                yield look.run(token.content, code=True)
            case "softbreak" | "hardbreak":
                yield look.run(" " if token.type == "softbreak" else "\n")
            case "html_inline":
                yield from _lines(look.run(shown_html(token.content)))
            case "link_open" | "link_close":
                href = str(token.attrs.get("href", ""))
                look.href = href if LINKED.match(href) else ""
            case "image":
                yield _image(token, look)


def _image(token: Token, look: _Look) -> TextRun:
    """Its description, as a link where it is somewhere in the net: pictures are not fetched."""
    source = str(token.attrs.get("src", ""))
    run = look.run(plain(inline(token)) or "image")
    return replace(run, href=run.href or source) if LINKED.match(source) else run


def _joined(runs: Iterator[TextRun]) -> Iterator[TextRun]:
    """Neighbours of one look are one run."""
    before: TextRun | None = None
    for run in runs:
        if before and "\n" not in (before.text, run.text) and replace(before, text="") == replace(run, text=""):
            before = replace(before, text=before.text + run.text)
            continue
        if before and before.text:
            yield before
        before = run
    if before and before.text:
        yield before


def _lines(run: TextRun) -> Iterator[TextRun]:
    for index, line in enumerate(run.text.split("\n")):
        if index:
            yield replace(run, text="\n")
        if line:
            yield replace(run, text=line)


def shown_html(html: str) -> str:
    """The text of harmless tags without them; others as they are written."""
    return DROPPED.sub("", LINE_BREAK.sub("\n", COMMENT.sub("", html)))


def _without_controls(text: str) -> str:
    """No Word file can hold them."""
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f\ufffe\uffff]", "", text.replace("\r\n", "\n").replace("\r", "\n"))
