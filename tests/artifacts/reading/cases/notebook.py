"""Notebooks of Jupyter."""

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from tests.artifacts.reading.cases.html import picture_base64

PICTURE = picture_base64()
NOISE = "iVBORw0KGgo" * 300


def code(source: str, *outputs: Any) -> dict[str, Any]:
    return {"cell_type": "code", "source": [source], "metadata": {"tags": ["secret-tag"]}, "outputs": list(outputs)}


def text(source: str, kind: str = "markdown", **more: Any) -> dict[str, Any]:
    return {"cell_type": kind, "source": source.splitlines(keepends=True), "metadata": {}, **more}


def shown(**data: Any) -> dict[str, Any]:
    bundle = {name.replace("__", "/").replace("_xml", "+xml"): value for name, value in data.items()}
    return {"output_type": "display_data", "metadata": {}, "data": bundle}


def notebook(*cells: Any) -> bytes:
    metadata = {"kernelspec": {"language": "python"}, "language_info": {"name": "python", "version": "3.13-hidden"}}
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": cells}).encode()


def old() -> bytes:
    """Format 3."""
    cells = [
        {"cell_type": "heading", "level": 2, "source": "Old times"},
        {"cell_type": "markdown", "source": ["Words of old."]},
        {
            "cell_type": "code",
            "language": "julia",
            "input": ["plot(1)"],
            "outputs": [
                {"output_type": "pyout", "text": ["42"], "metadata": {}},
                {"output_type": "display_data", "png": PICTURE},
                {"output_type": "pyerr", "ename": "Oops", "evalue": "no", "traceback": []},
            ],
        },
    ]
    return json.dumps({"nbformat": 3, "metadata": {"name": ""}, "worksheets": [{"cells": cells}]}).encode()


TABLE = (
    "<style scoped>.dataframe {color: red}</style><table class='dataframe'><tr><th></th><th>x</th></tr>"
    "<tr><th>0</th><td>10<sup>3</sup></td></tr></table>"
)
COLOURS = "\x1b[0;31mValueError\x1b[0m: \x1b]8;;x\x07bad\x1b[K"

FILES: Mapping[str, Callable[[], bytes]] = {
    "cells.ipynb": partial(
        notebook, text("# Analysis\n\nThe mean is 5."), code("# no heading\nx = 1"), text("Raw *cell*", "raw"), code("")
    ),
    "streams.ipynb": partial(
        notebook,
        code(
            "run()",
            {"output_type": "stream", "name": "stdout", "text": ["10 %\r50 %\r100 %\n", "done\n"]},
            {"output_type": "error", "ename": "ValueError", "evalue": "bad", "traceback": ["Traceback", COLOURS]},
            {"output_type": "execute_result", "data": {"text/plain": ["'``` LANTERN'"]}, "metadata": {}},
        ),
    ),
    "tables.ipynb": partial(notebook, code("df", shown(text__html=[TABLE], text__plain="   x\n0  1000"))),
    "plots.ipynb": partial(
        notebook,
        code("plot()", shown(image__png=PICTURE, text__plain="<Figure size 640x480>"), shown(image__jpeg=[PICTURE])),
        code("bad()", shown(image__png=NOISE), shown(image__svg_xml="<svg><text>drawn</text></svg>")),
        text("end"),
    ),
    "widgets.ipynb": partial(
        notebook,
        code(
            "ui()",
            {
                "output_type": "display_data",
                "data": {"application/vnd.jupyter.widget-view+json": {"model_id": "abc123"}},
            },
            {
                "output_type": "display_data",
                "data": {"application/vnd.plotly.v1+json": {"data": [1]}, "text/html": "<div></div>"},
            },
            shown(text__latex="$$x^2$$", text__plain="x**2"),
        ),
    ),
    "attachments.ipynb": partial(
        notebook,
        text("See ![plan](attachment:plan.png) here", attachments={"plan.png": {"image/png": PICTURE}}),
        text(f"And ![map](data:image/png;base64,{PICTURE}) there <!-- Alpha -->"),
    ),
    "old.ipynb": old,
    "damaged.ipynb": lambda: notebook(text("LANTERN"), code("x", shown(image__png=NOISE)))[:-40],
}
