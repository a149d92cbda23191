"""From Markdown to blocks. Nothing that could fetch or run anything comes through: what is no plain text stays text."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.tree import SyntaxTreeNode

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
from artifacts.exporting.scripts import lowered, raised

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
CELL_END = re.compile(r"</t[dh]>\s*(?=<t[dh][\s>])", re.IGNORECASE)
SCRIPT = re.compile(r"<(su[bp])(?:\s[^<>]*)?>([^<>]*)</\1>", re.IGNORECASE)
SCRIPT_TAG = re.compile(r"<(su[bp])(?:\s[^<>]*)?>", re.IGNORECASE)
FORMULAS = {r"\(": r"\)", r"\[": r"\]", "$$": "$$", "$": "$"}
LONGEST_FORMULA = 2_000
PLAIN = TextRun(text="")
TASK = re.compile(r"\[([ xX])\][ \t\n]+")


class TooDeep(Exception):
    """The text can't be laid out."""


def _parser() -> MarkdownIt:
    # Deeper than DEEPEST lists, so that what is too deep is seen here and not dropped there without a word.
    parser = MarkdownIt("commonmark", {"maxNesting": 4 * DEEPEST, "linkify": True})
    parser.enable(["table", "strikethrough", "linkify"])
    assert parser.linkify
    parser.linkify.set({"fuzzy_link": False, "fuzzy_email": False, "fuzzy_ip": False})  # README.md is no address
    parser.inline.ruler.before("escape", "formula", _formula)
    parser.validateLink = lambda url: True  # type: ignore[method-assign]  # told apart below, where the text is kept
    return parser


def _formula(state: StateInline, silent: bool) -> bool:
    """A formula is text as it stands: its backslashes, stars and underscores are its own."""
    start = state.src[state.pos : state.pos + 2]
    opening = start if start in FORMULAS else start[:1]
    if opening not in FORMULAS:
        return False
    closing, at = FORMULAS[opening], state.pos + len(opening)
    end = state.src.find(closing, at, min(at + LONGEST_FORMULA, state.posMax))
    if end < 0 or not state.src[at:end].strip():
        return False
    behind = end + len(closing)
    # One dollar is mostly money: so as other programs tell it, by what stands next to the signs.
    if opening == "$" and (
        state.src[at].isspace() or state.src[end - 1].isspace() or state.src[behind : behind + 1].isdigit()
    ):
        return False
    if not silent:
        state.push("text", "", 0).content = state.src[state.pos : behind].replace("\n", " ")
    state.pos = behind
    return True


PARSER = _parser()


def parse_markdown(markdown: str, *, title: str, note: str = "") -> Blocks:
    """The blocks, under a heading with the title unless they begin with one of their own."""
    try:
        blocks: Blocks = tuple(_blocks(SyntaxTreeNode(PARSER.parse(without_controls(markdown))).children))
    except (TooDeep, RecursionError):
        blocks = NoteBlock(TOO_DEEP), Code(without_controls(markdown))
    if note:
        blocks = NoteBlock(note), *blocks
    if blocks and isinstance(blocks[0], Heading) and blocks[0].level == 1:
        return blocks
    return Heading(1, (TextRun(text=without_controls(title)),)), *blocks


def _blocks(nodes: Iterable[SyntaxTreeNode], depth: int = 0) -> Iterator[Block]:
    """``depth`` is how many lists and quotes they stand in."""
    for node in nodes:
        match node.type:
            case "paragraph":
                yield from _paragraph(_inline(node))
            case "heading":
                yield Heading(int(node.tag[1:]), _inline(node))
            case "fence" | "code_block":
                yield Code(node.content.removesuffix("\n"), (node.info.split() or [""])[0])
            case "html_block":
                yield from _paragraph(tuple(_lines(TextRun(text=shown_html(node.content).strip()))))
            case "hr":
                yield Rule()
            case "blockquote":
                yield Quote(_within(node, depth))
            case "bullet_list" | "ordered_list":
                start = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
                yield ListBlock(tuple(_item(_within(item, depth)) for item in node.children), start)
            case "table":
                yield _table(node)


def _within(node: SyntaxTreeNode, depth: int) -> Blocks:
    if depth == DEEPEST:
        raise TooDeep
    return tuple(_blocks(node.children, depth + 1))


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


def _table(node: SyntaxTreeNode) -> Table:
    rows = [row for part in node.children for row in part.children]
    sides = (str(cell.attrs.get("style", "")).removeprefix("text-align:") for cell in rows[0].children)
    return Table(tuple(sides), tuple(tuple(map(_inline, row.children)) for row in rows))


def _inline(node: SyntaxTreeNode) -> Runs:
    """The text of a paragraph, a heading or a cell."""
    (inline,) = node.children
    return tuple(_joined(_runs(inline.children)))


def _runs(nodes: Iterable[SyntaxTreeNode], look: TextRun = PLAIN) -> Iterator[TextRun]:
    rest = iter(nodes)
    for node in rest:
        match node.type:
            case "html_inline" if script := SCRIPT_TAG.fullmatch(node.content):
                yield replace(look, text=_script(script[1], plain(tuple(_runs(_until_end(script[1], rest), look)))))
            case "text" | "code_inline":
                yield replace(look, text=node.content, code=node.type == "code_inline")
            case "softbreak" | "hardbreak":
                yield replace(look, text=" " if node.type == "softbreak" else "\n")
            case "html_inline":
                yield from _lines(replace(look, text=shown_html(node.content)))
            case "strong" | "em" | "s":
                strong, emphasis, struck = (node.type == kind for kind in ("strong", "em", "s"))
                inner = replace(
                    look,
                    strong=look.strong or strong,
                    emphasis=look.emphasis or emphasis,
                    struck=look.struck or struck,
                )
                yield from _runs(node.children, inner)
            case "link":
                yield from _runs(node.children, replace(look, href=_linked(node, "href")))
            case "image":  # its description, as a link where it is somewhere in the net: pictures are not fetched
                described = plain(tuple(_runs(node.children))) or "image"
                yield replace(look, text=described, href=look.href or _linked(node, "src"))


def _until_end(tag: str, nodes: Iterator[SyntaxTreeNode]) -> Iterator[SyntaxTreeNode]:
    """What stands before the end of this element; all where it has none."""
    for node in nodes:
        if node.type == "html_inline" and node.content.lower() == f"</{tag.lower()}>":
            return
        yield node


def _script(tag: str, text: str) -> str:
    return raised(text) if tag.lower() == "sup" else lowered(text)


def _linked(node: SyntaxTreeNode, name: str) -> str:
    address = str(node.attrs.get(name, ""))
    return address if LINKED.match(address) else ""


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
    text = CELL_END.sub(" | ", SCRIPT.sub(lambda script: _script(script[1], script[2]), COMMENT.sub("", html)))
    return DROPPED.sub("", LINE_BREAK.sub("\n", text))


def without_controls(text: str) -> str:
    """No Word file can hold them."""
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f\ufffe\uffff]", "", text.replace("\r\n", "\n").replace("\r", "\n"))
