"""Pages."""

import base64
import io
from collections.abc import Callable, Mapping
from functools import partial

from PIL import Image


def page(body: str, head: str = "") -> bytes:
    return f'<!DOCTYPE html><html><head><meta charset="utf-8"><title>T</title>{head}</head><body>{body}</body></html>'.encode()


def picture_base64(side: int = 60) -> str:
    """A PNG that is no sign or spacer."""
    content = io.BytesIO()
    Image.radial_gradient("L").resize((side, side)).save(content, "PNG")
    return base64.b64encode(content.getvalue()).decode()


def many_pictures() -> bytes:
    """More base64 than text, in attributes with and without quotes, in styles and in text."""
    uri = f"data:image/png;base64,{picture_base64()}"
    return page(
        f'<p>First <img alt="sales" src="{uri}"> then <img src={uri} alt=costs>.</p><p>Seen as text: {uri} end.</p>'
        f"<p style='background:url({uri})'>LANTERN</p><p>Drawn <img src=\"data:image/svg+xml,%3Csvg%3E%3C/svg%3E\"> so</p>",
        f"<style>.logo {{ background: url({uri}) }} .gone {{ display: none }}</style>",
    )


STYLES = """<style>
/* } */ .gone, .other { display: none } #lost { visibility: hidden } p.small { font-size: 1px }
.a.b { display: none } .shown { display: none } .shown { display: block } .important { display: none !important }
@media print { .paper { display: none } } @media screen { .screen { display: none } }
.menu ul.entries { color: navy } .entries { display: none } .menu:hover .entries { display: block }
.dark { background: #111 } .reader-only { position: absolute; clip: rect(0, 0, 0, 0); width: 1px; overflow: hidden }
</style>"""

BODIES: Mapping[str, tuple[str, str]] = {
    "power.html": (
        "<p>3×10<sup>8</sup> m/s, H<sub>2</sub>O, x<sup>n + 1</sup>, 10<sup>−3</sup>, see<sup>[1]</sup></p>",
        "",
    ),
    "power-by-style.html": (
        '<p>3×10<span style="vertical-align: super; font-size: 8pt">8</span> m/s and '
        'CO<span style="vertical-align:sub">2</span></p>',
        "",
    ),
    "power-in-a-table.html": ("<table><tr><th>Unit<th>Value<tr><td>kilo<td>10<sup>3</sup></table>", ""),
    "struck.html": (
        "<p>Price <s>900</s> 700, <del>May</del> <ins>June</ins>, <strike>blue</strike>, "
        '<span style="text-decoration:line-through">red</span></p>',
        "",
    ),
    "colspan.html": (
        "<table><tr><th>Name<th>Q1<th>Q2<th>Total<tr><td>Ann<td colspan=2>on leave<td>7</table>",
        "",
    ),
    "rowspan.html": (
        "<table><tr><th>Month<th>Revenue<th>Cost<tr><td rowspan=2>January<td>10<td>8<tr><td>11<td>9"
        "<tr><td>February<td>12<td>7</table>",
        "",
    ),
    "colspan-and-rowspan.html": (
        "<table><tr><th>a<th>b<th>c<th>d<tr><td rowspan=2 colspan=2>big<td>1<td>2<tr><td>3<td>4</table>",
        "",
    ),
    "two-heads.html": (
        "<table><thead><tr><th rowspan=2>Region<th colspan=2>2025<th colspan=2>2026<tr><th>Revenue<th>Cost<th>Revenue"
        "<th>Cost</thead><tbody><tr><td>North<td>1<td>2<td>3<td>4</table>",
        "",
    ),
    "title-row.html": (
        "<table><tr><td colspan=3>Price list 2026<tr><td>Item<td>Net<td>Gross<tr><td>Lamp<td><td>9</table>",
        "",
    ),
    "empty-cells.html": ("<table><tr><th>a<th>b<th>c<tr><td>1<td></td><td>3<tr><td><td><td>5</table>", ""),
    "table-in-a-cell.html": (
        "<table><tr><th>Name<th>Children<tr><td>Ann<td><table><tr><td>Tim<td>4<tr><td>Eva<td>7</table></table>",
        "",
    ),
    "caption.html": ("<table><caption>Costs in euro</caption><tr><th>Item<th>Cost<tr><td>Rent<td>900</table>", ""),
    "form.html": (
        "<form><label>Name</label><input value='Ann Miller'><select><option>red<option selected>green</select>"
        "<input type=checkbox checked> agree <input type=checkbox> newsletter<textarea>free\n<b>text</b></textarea>"
        "<input type=password value=hunter2><input type=hidden value=token99><button>Save</button><button>Cancel</button>"
        "<input type=submit value='Send it'></form>",
        "",
    ),
    "radio.html": (
        "<p><input type=radio name=a checked>yes<input type=radio name=a>no <input type=RANGE value=7>"
        '<input type="date" value="2026-03-04"><meter value=6 max=10>six</meter></p>',
        "",
    ),
    "choices.html": (
        "<select multiple><option selected>Monday</option><option>Tuesday</option></select>"
        "<select><optgroup label=EU><option>Germany<option>France</optgroup></select>",
        "",
    ),
    "hidden-by-style.html": (
        '<p>seen</p><div style="display:none"><p>Alpha <b>one</b></p></div><p style="VISIBILITY : hidden">Beta</p>'
        '<p style="opacity:0">Gamma</p><p style="font-size:0">Delta</p><p style="font-size: 1pt">Epsilon</p>'
        '<p style="position:absolute; left:-9999px">Zeta</p><p style="text-indent:-10000px">Eta</p>'
        '<p style="height:0;overflow:hidden">Theta</p><p style="position:absolute;clip:rect(1px,1px,1px,1px)">Iota</p>'
        '<p style="clip-path: inset(50%)">Kappa</p><p style="transform:scale(0)">Lambda</p><p>end</p>',
        "",
    ),
    "hidden-by-colour.html": (
        '<p>seen</p><p style="color:#fff">Alpha</p><p style="color:white">Beta</p><font color="#FEFEFE">Gamma</font>'
        '<p style="color:rgb(255, 255, 255)">Delta</p><p style="color:transparent">Epsilon</p>'
        '<table><tr><td bgcolor=navy><font color=white>on navy</font><td style="background:#000;color:#000">Zeta</table>'
        '<div style="background-color:black"><p style="color:white">on black</p></div>'
        '<div class=dark><span style="color:#fff">on dark</span></div>',
        STYLES,
    ),
    "hidden-by-sheet.html": (
        "<p class=gone>Alpha</p><p id=lost>Beta</p><p class=small>Gamma</p><p class='a b'>Delta</p><p class=other>Epsilon</p>"
        "<p class=important>Zeta</p><p class=screen>Eta</p><span class=reader-only>Theta</span><p class=a>a alone</p>"
        "<p class=shown>shown later</p><p class=paper>not on paper</p><div class=menu>Menu<ul class=entries><li>entry</ul>"
        "</div><p class=late>Iota</p><style>.late { display: none }</style>",
        STYLES,
    ),
    "hidden-by-tag.html": (
        "<p>seen</p><p hidden>Alpha</p><template>Beta</template><noscript>Gamma</noscript><dialog>Delta</dialog>"
        "<dialog open>open dialogue</dialog><details><summary>More</summary>folded</details><!-- Epsilon -->"
        "<!--[if mso]><p>Zeta</p><![endif]--><p aria-hidden=true>for eyes</p><datalist><option>Eta</datalist>"
        "<div hidden=until-found>found by search</div><p>end</p>",
        "",
    ),
    "hidden-and-not-closed.html": (
        '<p style="display:none">Alpha<div>one</div><span style="display:none">Beta<div>Gamma</span>Delta</div></span>'
        "<b>two</b><p hidden>Epsilon<p>three<div hidden><div>Zeta</div>Eta</div><p>four",
        "",
    ),
    "seen-within-hidden.html": (
        '<div style="visibility:hidden">Alpha <span style="visibility:visible">one</span></div>'
        '<ul style="font-size:0"><li style="font-size:16px">two<li>Beta</ul>',
        "",
    ),
    "mail-preheader.html": (
        '<div style="display:none;font-size:1px;color:#fff;max-height:0;overflow:hidden;mso-hide:all">Alpha</div><p>Dear</p>',
        "",
    ),
    "lists.html": (
        "<ol start=3><li>three<li>four<li value=9>nine</ol><ol type=a><li>letter</ol><ol type=I start=4><li>roman</ol>"
        "<ul><li>outer<ul><li>inner</ul></ul><ol reversed start=5><li>five<li>down</ol>",
        "",
    ),
    "terms.html": ("<dl><dt>VAT<dd>19 %<dt>Net<dd>100</dl>", ""),
    "words-apart.html": (
        "<div>one</div><div>two</div><table><tr><td>three</td><td>four</td></tr></table>"
        '<span style="display:inline-block">five</span><span style="display:inline-block">six</span>'
        '<div style="display:flex"><span>seven</span><span>eight</span></div>nine<br>ten<button>eleven</button>'
        "<button>twelve</button><p>thir<b>teen</b> soft&shy;hyphen <a href=x>a</a>b</p>",
        "",
    ),
    "quote.html": ("<p>He said <q>yes</q>.</p><blockquote>Long ago</blockquote>", ""),
    "ruby.html": ("<p><ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby>を<ruby>読<rt>よ</ruby>む</p>", ""),
    "pre.html": ("<pre>if a:\n    b<sup>2</sup>\n\n    c</pre><p>after</p>", ""),
    "pictures.html": (
        '<p><img alt="A cat" src=cat.png><img alt="" src=line.png><img src=photo.jpg><img src=x.gif width=1 height=1></p>'
        "<p><svg><title>Sales by month</title><defs><text>Alpha</text></defs><text>Q1</text><text>Q2</text></svg></p>"
        "<video src=film.mp4 title='How to'>old browser</video><canvas>older browser</canvas>",
        "",
    ),
    "frame.html": (
        '<p>before</p><iframe srcdoc="<p>in &amp;lt;the&amp;gt; frame</p><p hidden>Alpha</p>"></iframe><p>after</p>',
        "",
    ),
    "formulas.html": (
        "<p>Then <math><mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup></math> and "
        '<math display="block"><semantics><mfrac><mn>1</mn><mrow><mn>2</mn><mi>a</mi></mrow></mfrac>'
        '<annotation encoding="application/x-tex">Alpha</annotation></semantics></math>, <math><mphantom><mi>Beta</mi>'
        "</mphantom><msub><mi>H</mi><mn>2</mn></msub></math>; <math><mi>open</p><p>after</p>",
        "",
    ),
    "cut-off.html": ("<h1>Report</h1><p>Costs <table><tr><th>a<th>b<tr><td>1<td>cut", ""),
}

FILES: Mapping[str, Callable[[], bytes]] = {
    **{name: partial(page, body, head) for name, (body, head) in BODIES.items()},
    "data-uris.html": many_pictures,
}
