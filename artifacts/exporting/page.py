"""Blocks as a web page of its own: its style is in it, it holds no script, and it loads nothing."""

from html import escape
from pathlib import Path

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
)

HERE = Path(__file__)
STYLE, PAGE = HERE.with_suffix(".css").read_text(), HERE.with_suffix(".html").read_text()


def write(blocks: Blocks, *, title: str) -> bytes:
    return PAGE.format(title=escape(title), style=STYLE, body=_blocks(blocks)).encode()


def _blocks(blocks: Blocks) -> str:
    return "\n".join(map(_block, blocks))


def _block(block: Block) -> str:
    match block:
        case Paragraph(runs):
            return f'<p dir="auto">{_runs(runs)}</p>'
        case Heading(level, runs):
            return f'<h{level} dir="auto">{_runs(runs)}</h{level}>'
        case Code(text):
            return f"<pre><code>{escape(text)}</code></pre>"
        case Quote(blocks):
            return f'<blockquote dir="auto">\n{_blocks(blocks)}\n</blockquote>'
        case ListBlock(items, start):
            tag, first = ("ul", "") if start is None else ("ol", f' start="{start}"')
            return f'<{tag}{first} dir="auto">\n' + "\n".join(map(_item, items)) + f"\n</{tag}>"
        case Table():
            return _table(block)
        case Rule():
            return "<hr>"
        case NoteBlock(text):
            return f'<p class="note">{escape(text)}</p>'


def _item(item: Item) -> str:
    """An item of one paragraph stands without space around it."""
    match item.blocks:
        case [Paragraph(runs), *rest] if all(isinstance(block, ListBlock) for block in rest):
            inner = "\n".join([_runs(runs), *map(_block, rest)])
        case blocks:
            inner = _blocks(blocks)
    if item.done is None:
        return f"<li>{inner}</li>"
    return f'<li class="task"><input type="checkbox" disabled{" checked" if item.done else ""}>{inner}</li>'


def _table(table: Table) -> str:
    head, *rows = [_row(row, table.aligned, "td" if index else "th") for index, row in enumerate(table.rows)]
    body = "\n".join(rows)
    return (
        f'<div class="table"><table dir="auto">\n<thead>\n{head}\n</thead>\n<tbody>\n{body}\n</tbody>\n</table></div>'
    )


def _row(cells: tuple[Runs, ...], aligned: tuple[str, ...], tag: str) -> str:
    styles = (f' style="text-align: {side}"' if side else "" for side in aligned)
    return (
        "<tr>" + "".join(f"<{tag}{style}>{_runs(c)}</{tag}>" for c, style in zip(cells, styles, strict=True)) + "</tr>"
    )


def _runs(runs: Runs) -> str:
    return "".join(map(_run, runs))


def _run(run: TextRun) -> str:
    text = "<br>\n" if run.text == "\n" else escape(run.text)
    looks = {"code": run.code, "em": run.emphasis, "strong": run.strong, "s": run.struck}
    for tag, has in looks.items():
        text = f"<{tag}>{text}</{tag}>" if has else text
    return f'<a href="{escape(run.href)}" rel="noopener noreferrer">{text}</a>' if run.href else text
