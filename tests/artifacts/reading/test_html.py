"""HTML is read in time that grows with its length alone, and the same however it is cut into pieces."""

import time

import pytest

from artifacts.reading.blocks import Block, Heading, LeftOut, Lines, Text, Why
from artifacts.reading.web.blocks import HtmlBlocks
from artifacts.reading.web.tokens import LONGEST_TAG

UNITS = [
    *(
        "<!--",
        "<!-- a ",
        "<!",
        "<?",
        "</",
        "</a ",
        "<",
        "<a ",
        "<a<",
        "<a =",
        '<a b="',
        "<a b='",
        "<a b='\"",
        "<a\t\t\t\t",
    ),
    *("<script>", "<style></style", "<![CDATA[", "<!doctype ", "<textarea>", "<title>a<b>", "<p>", "<table>", "<ul>"),
    *("&", "&#", "&#1", "&#x10", "-->", "<!-- -", "<b hidden>", "<svg><style>", "<td>", "<a b=c", "<img src='data:"),
]
LENGTH = 400_000
SECONDS = 20
"""Minutes, where a step is taken anew for each place at which something may begin; less than a second here."""

PAGE = """<!DOCTYPE html><html><head><title>A &amp; B</title><style>p > b { color: red }</style>
<script>if (a < b) document.write("<p>no</p>")</script></head><body class='x' data-y="1 > 0"><!-- <p>no</p> --><!-->
<h1>Costs</h1><p>Rent is 1 < 2 &euro; &#8364; &lt;b&gt;<br/>and so on</P><img alt="a > b" src=x>
<div style="display: none"><p>hidden</p></div><ul><li>one<li>two</ul><p hidden>no<p>yes</p>
<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>
<? no ?><![CDATA[ no ]]></ no>AT&T &notanentity; &#99999999999999999999; end</body></html>"""


def blocks_of(page: str, piece: int) -> list[Block]:
    parser, blocks = HtmlBlocks(), list[Block]()
    for start in range(0, len(page), piece):
        parser.feed(page[start : start + piece])
        blocks += parser.take()
    parser.close()
    return [*blocks, *parser.take()]


@pytest.mark.wide
@pytest.mark.long
@pytest.mark.parametrize("unit", UNITS)
def test_what_is_never_closed_is_read_at_once(unit: str) -> None:
    began = time.process_time()
    blocks_of(unit * (LENGTH // len(unit)), piece=2**16)
    assert time.process_time() - began < SECONDS


def test_a_page_is_read_as_a_browser_shows_it() -> None:
    first, *rest = (block for block in blocks_of(PAGE, piece=len(PAGE)) if not isinstance(block, LeftOut))
    assert first == Heading(1, "Costs")
    texts = [block.markdown for block in rest if isinstance(block, Text)]
    assert texts[:4] == ["Rent is 1 < 2 € € <b>\nand so on", "(picture: a > b)", "- one", "- two"]
    assert texts[4] == "yes"
    assert texts[-1] == "AT&T ¬anentity; � end"


@pytest.mark.parametrize("piece", [1, 2, 3, 7, 64])
def test_it_is_the_same_however_it_comes(piece: int) -> None:
    assert shown(PAGE, piece) == shown(PAGE, len(PAGE))


def shown(page: str, piece: int) -> list[object]:
    """The blocks, with the rows of tables."""
    return [[*block.numbered] if isinstance(block, Lines) else block for block in blocks_of(page, piece)]


@pytest.mark.parametrize("piece", [2**10, 2**16, 2**22])
def test_a_picture_within_a_tag_is_passed_over(piece: int) -> None:
    page = f'<p>before <img alt="A cat" src="data:image/png;base64,{"A" * 3 * LONGEST_TAG}"> after</p>'
    assert blocks_of(page, piece) == [
        Text("before (picture: A cat) after"),
        LeftOut(Why.NOT_READ, "picture"),
    ]
