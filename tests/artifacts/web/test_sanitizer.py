"""Generated pages and pictures, rewritten so that they only stand there."""

import pytest

from artifacts.web import frames, sanitizer

HEAD = (
    '<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    "<title>Page</title></head>"
)


def test_a_page_keeps_its_looks() -> None:
    content = """<!DOCTYPE html><html lang="de" class="dark" onclick="x"><head><title>T</title>
<style media="screen">a > b { color: red }</style></head><body class="wide" style="margin: 0" onload="x">
<h1 id="top" data-n="1" aria-label="L">Plan</h1>
<a href="#top">up</a>
<img alt="dot" src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">
<details open><summary>More</summary><pre>
 text</pre></details><table><tr><td colspan="2">x</table></body></html>"""
    assert sanitizer.page(content) == (
        f"""<!doctype html>
<html lang="de" class="dark">
{HEAD}
<body class="wide" style="margin: 0">
<title>T</title>
<style media="screen">a > b {{ color: red }}</style>
<h1 id="top" data-n="1" aria-label="L">Plan</h1>
<a href="#top">up</a>
<img alt="dot" src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">
<details open=""><summary>More</summary><pre> text</pre></details>"""
        """<table><tbody><tr><td colspan="2">x</td></tr></tbody></table>
</body>
</html>
"""
    )


def test_a_picture_keeps_its_looks() -> None:
    content = """<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">
<defs><linearGradient id="g" x1="0"><stop offset="0" stop-color="red"/></linearGradient></defs>
<style>.a { fill: url(#g) }</style>
<rect class="a" fill="url(#g)"/><use xlink:href="#g"/><text x="1">Loaf</text>
<foreignObject width="9"><p>Words</p></foreignObject></svg>"""
    assert sanitizer.sanitize(content) == (
        """<svg viewBox="0 0 9 9">
<defs><linearGradient id="g" x1="0"><stop offset="0" stop-color="red"></stop></linearGradient></defs>
<style>.a { fill: url(#g) }</style>
<rect class="a" fill="url(#g)"></rect><use xlink:href="#g"></use><text x="1">Loaf</text>
<foreignObject width="9"><p>Words</p></foreignObject></svg>"""
    )


@pytest.mark.parametrize(
    ("content", "left"),
    [
        ("<script>x</script><p onclick=x>y", "<p>y</p>"),
        ('<iframe srcdoc="<script>x</script>"></iframe><frameset><frame src=//x></frameset>', ""),
        ("<object data=//x><embed src=//x></object><applet></applet>", ""),
        ('<meta http-equiv=refresh content="0; url=//x"><base href=//x><link rel=preconnect href=//x>', ""),
        ("<div><template shadowrootmode=open><iframe src=//x></iframe></template></div>", "<div></div>"),
        ('<a href="//x" ping="//x" target=_top>a</a><a href="javascript:x">b</a>', "<a>a</a><a>b</a>"),
        ("<form action=//x><button formaction=//x>b</button><input type=image src=//x></form>",
         '<form><button>b</button><input type="image"></form>'),
        ("<img src=//x srcset=//x><video poster=//x><source src=//x></video>", "<img>"),
        ("<img src='data:text/html,x'><a href='data:image/png,x'>a</a>", "<img><a>a</a>"),
        ("<body background=//x><table background=//x></table>", "<table></table>"),
        ("<svg><foreignObject><iframe src=//x></iframe></foreignObject></svg>", "<svg><foreignObject></foreignObject></svg>"),
        ("<svg><image href=//x /><use href='//x#a'/><feImage href=//x /></svg>", "<svg><image></image><use></use></svg>"),
        ("<svg><a><set attributeName=href to=//x /><animate attributeName=href /></a></svg>", "<svg><a></a></svg>"),
        ("<svg><rect fill='u\\72l(//x)' mask='url( //x)' x='1'/></svg>", '<svg><rect x="1"></rect></svg>'),
        ("<noscript><p title='</noscript><iframe src=//x>'></noscript>", ""),
        ("<svg></p><style><a id='</style><iframe src=//x>'>", None),
        ("<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;iframe src=//x&gt;'>", None),
    ],
)  # fmt: skip
def test_nothing_is_left_that_runs_loads_or_leads_away(content: str, left: str | None) -> None:
    rewritten = sanitizer.sanitize(content)
    assert "<iframe" not in rewritten
    assert left in (None, rewritten)


@pytest.mark.wide
@pytest.mark.long
def test_what_grows_or_nests_without_end_is_not_shown() -> None:
    reopened = "<p>" + "".join(f"<b id={n}>" for n in range(400)) + "<p>x" * 2000
    for content in ("<div>" * 100_000, reopened):
        with pytest.raises(frames.NotShown):
            frames.still("html", content)
    assert b"<b>x</b>" in frames.still("html", "<b>x</b>" * 60_000)
