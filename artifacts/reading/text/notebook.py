"""Notebooks of Jupyter: cells and what they put out, in their order."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from artifacts.reading.blocks import Block, Heading, LeftOut, Text, Why
from artifacts.reading.pictures.data_uris import DataUris, Embedded, Keep, decoded
from artifacts.reading.text.markdown import lines_of, markdown
from artifacts.reading.web.page import read_page

MOST_VALUES = 3_000_000
"""Python takes a hundred bytes for each."""
CONTROLS = re.compile(r"\x1b\[[0-9;?]*+[ -/]*+[@-~]|\x1b\][^\x07\x1b]*+(?:\x07|\x1b\\)|\x1b.")
"""By which terminals are told colours."""
BASE64_RUN = re.compile(r"[A-Za-z0-9+/=\\]{1000,}+")
CHARTS = re.compile(r"application/vnd\.(?:plotly|vega|vegalite|bokehjs|holoviews)")
WIDGETS = "application/vnd.jupyter.widget-view+json"
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml")
OLD_NAMES = {
    "text": "text/plain",
    "html": "text/html",
    "latex": "text/latex",
    "json": "application/json",
    "svg": "image/svg+xml",
    "png": "image/png",
    "jpeg": "image/jpeg",
}
"""Of the kinds of output, before format 4."""

Values = Mapping[str, Any]


def read_notebook(text: str, keep: Keep) -> Iterator[Block]:
    """Raises ``ValueError`` before the first block where it is no notebook."""
    if sum(text.count(sign) for sign in ",[{") > MOST_VALUES:
        raise ValueError("too many values")
    try:
        document = json.loads(text)
    except RecursionError as error:
        raise ValueError("too deep") from error
    if not isinstance(document, dict):
        raise ValueError("no notebook")
    sheets = [document, *_dicts(document.get("worksheets"))]
    cells = [cell for sheet in sheets for cell in _dicts(sheet.get("cells"))]
    if not cells:
        raise ValueError("no cells")
    return _Notebook(_language(document), keep).blocks(cells)


def damaged_lines(lines: Iterable[str]) -> Iterator[str]:
    """Of what is no notebook any more: without what pictures are written in."""
    return (BASE64_RUN.sub("(data)", line) for line in lines)


class _Notebook:
    def __init__(self, language: str, keep: Keep) -> None:
        self._language = language
        self._keep = keep

    def blocks(self, cells: Iterable[Values]) -> Iterator[Block]:
        for cell in cells:
            source = _joined(cell.get("source", cell.get("input")))
            match cell.get("cell_type"):
                case "code":
                    if source.strip():
                        yield Text(fenced(source, _word(cell.get("language")) or self._language))
                    for output in _dicts(cell.get("outputs")):
                        yield from self._output(output)
                case "heading":
                    level = cell.get("level")
                    yield Heading(level if isinstance(level, int) and 1 <= level <= 6 else 1, " ".join(source.split()))
                case "markdown":
                    yield from self._markdown(source, cell.get("attachments"))
                case _:
                    yield from (Text(part) for part in re.split(r"\n\s*\n", source) if part.strip())

    def _output(self, output: Values) -> Iterator[Block]:
        kind = output.get("output_type")
        if kind == "stream":
            yield from _plain(_joined(output.get("text")))
        elif kind in {"error", "pyerr"}:
            trace = "\n".join(line for line in output.get("traceback") or [] if isinstance(line, str))
            yield from _plain(trace or f"{_word(output.get('ename'))}: {_joined(output.get('evalue'))}")
        else:
            data = output.get("data")
            bundle = (
                data if isinstance(data, dict) else {OLD_NAMES.get(name, name): value for name, value in output.items()}
            )
            yield from self._shown(bundle)

    def _shown(self, bundle: Values) -> Iterator[Block]:
        """The one of several forms that people see."""
        chart = any(CHARTS.match(name) for name in bundle)
        if chart or WIDGETS in bundle:
            what = "chart" if chart else "widget"
            yield Text(f"({what})")
            yield LeftOut(Why.NOT_READ, what)
            return
        if "text/html" in bundle:
            page = list(read_page(lambda: [_joined(bundle["text/html"])], keep=self._keep))[1:]
            if any(not isinstance(block, LeftOut) for block in page):
                yield from page
                return
        if "text/markdown" in bundle:
            yield from self._markdown(_joined(bundle["text/markdown"]), None)
            return
        name = next((name for name in PICTURES if name in bundle), "")
        if name:
            embedded = self._kept(name, bundle[name])
            yield Text("(picture)")
            yield from embedded.blocks()
        elif "text/latex" in bundle:
            yield Text(_joined(bundle["text/latex"]).strip())
        elif "text/plain" in bundle:
            yield from _plain(_joined(bundle["text/plain"]))
        elif "application/json" in bundle:
            yield Text(fenced(json.dumps(bundle["application/json"], ensure_ascii=False, indent=1), "json"))

    def _markdown(self, source: str, attachments: object) -> Iterator[Block]:
        uris = DataUris(self._keep)
        attached = attachments if isinstance(attachments, dict) else {}

        def lookup(address: str) -> Embedded | None:
            name = address.removeprefix("attachment:")
            forms = attached.get(name) if name != address else None
            if isinstance(forms, dict):
                return next((self._kept(form, content) for form, content in forms.items()), None)
            return uris.of(address)

        return markdown(list(lines_of(uris.pieces([source]))), lookup)

    def _kept(self, media_type: str, content: object) -> Embedded:
        return self._keep(media_type, decoded(_joined(content)))


def fenced(code: str, language: str) -> str:
    """A block of code, whatever signs stand in it."""
    longest = max((len(run) for run in re.findall(r"`{3,}", code)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{code.strip('\n')}\n{fence}"


def _plain(text: str) -> Iterator[Text]:
    """As a terminal leaves it: without colours, and of what is written over itself the last."""
    lines = (line.rstrip("\r").rpartition("\r")[2] for line in CONTROLS.sub("", text).split("\n"))
    shown = "\n".join(lines)
    if shown.strip():
        yield Text(fenced(shown, ""))


def _language(document: Values) -> str:
    metadata = document.get("metadata")
    if not isinstance(metadata, dict):
        return ""
    for place in ("language_info", "kernelspec"):
        named = metadata.get(place)
        if isinstance(named, dict) and (
            language := _word(named.get("name" if place == "language_info" else "language"))
        ):
            return language
    return ""


def _word(value: object) -> str:
    return value if isinstance(value, str) and re.fullmatch(r"[\w+#.-]{1,30}", value) else ""


def _joined(value: object) -> str:
    if isinstance(value, list):
        return "".join(piece for piece in value if isinstance(piece, str))
    return value if isinstance(value, str) else ""


def _dicts(value: object) -> list[Values]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
