"""A generated page or picture, rewritten so that it only stands there: nothing in it runs, loads or leads away.

Ammonia parses as browsers do and keeps what is named here. Scripts, frames, refreshes, ``base``, ``link`` and shadow templates
have no place in it; an address is a place within the page or, of a picture, its data. Styles stay as they are: what they would
load, the policy of the frame stops.
"""

import re

import nh3

LONGEST = 2_000_000
"""A page can grow: what is left open is opened again in each paragraph."""
ROUNDS = 3

SVG_TAGS = {
    *("svg", "g", "defs", "desc", "title", "metadata", "switch", "symbol", "use", "view", "image", "style", "a"),
    *("circle", "ellipse", "line", "path", "polygon", "polyline", "rect", "text", "textPath", "tspan"),
    *("foreignObject", "clipPath", "filter", "linearGradient", "marker", "mask", "pattern", "radialGradient", "stop"),
    *("feBlend", "feColorMatrix", "feComponentTransfer", "feComposite", "feConvolveMatrix", "feDiffuseLighting"),
    *("feDisplacementMap", "feDistantLight", "feDropShadow", "feFlood", "feFuncA", "feFuncB", "feFuncG", "feFuncR"),
    *("feGaussianBlur", "feMerge", "feMergeNode", "feMorphology", "feOffset", "fePointLight", "feSpecularLighting"),
    *("feSpotLight", "feTile", "feTurbulence"),
}
HTML_TAGS = {
    *(
        "a",
        "abbr",
        "address",
        "article",
        "aside",
        "b",
        "bdi",
        "bdo",
        "big",
        "blockquote",
        "br",
        "center",
        "cite",
        "code",
    ),
    *(
        "data",
        "dd",
        "del",
        "details",
        "dfn",
        "dialog",
        "div",
        "dl",
        "dt",
        "em",
        "figcaption",
        "figure",
        "font",
        "footer",
    ),
    *("h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "i", "img", "ins", "kbd", "li", "main", "mark"),
    *("menu", "nav", "ol", "p", "picture", "pre", "q", "rp", "rt", "ruby", "s", "samp", "search", "section", "small"),
    *("span", "strike", "strong", "style", "sub", "summary", "sup", "time", "tt", "u", "ul", "var", "wbr"),
    *("caption", "col", "colgroup", "table", "tbody", "td", "tfoot", "th", "thead", "tr"),
    *("button", "datalist", "fieldset", "form", "input", "label", "legend", "meter", "optgroup", "option", "output"),
    *("progress", "select", "textarea"),
}
GONE_WITH_THEIR_CONTENT = {
    *(
        "script",
        "noscript",
        "template",
        "iframe",
        "frameset",
        "object",
        "embed",
        "applet",
        "noembed",
        "noframes",
        "xmp",
    ),
    *("math", "audio", "video", "plaintext"),
}
SVG_ATTRIBUTES = {
    *("amplitude", "azimuth", "baseFrequency", "baseline-shift", "bias", "clip-path", "clip-rule", "clipPathUnits"),
    *("color", "color-interpolation", "color-interpolation-filters", "cx", "cy", "d", "diffuseConstant", "direction"),
    *("divisor", "dominant-baseline", "alignment-baseline", "dx", "dy", "edgeMode", "elevation", "exponent", "fill"),
    *("fill-opacity", "fill-rule", "filter", "filterUnits", "flood-color", "flood-opacity", "font-family", "font-size"),
    *("font-stretch", "font-style", "font-variant", "font-weight", "fr", "fx", "fy", "gradientTransform"),
    *("gradientUnits", "href", "in", "in2", "intercept", "k1", "k2", "k3", "k4", "kernelMatrix", "kernelUnitLength"),
    *("lengthAdjust", "letter-spacing", "lighting-color", "limitingConeAngle", "marker-end", "marker-mid"),
    *("marker-start", "markerHeight", "markerUnits", "markerWidth", "mask", "maskContentUnits", "maskUnits", "mode"),
    *("numOctaves", "offset", "opacity", "operator", "order", "orient", "overflow", "paint-order", "pathLength"),
    *("patternContentUnits", "patternTransform", "patternUnits", "points", "pointsAtX", "pointsAtY", "pointsAtZ"),
    *("preserveAspectRatio", "preserveAlpha", "primitiveUnits", "r", "radius", "refX", "refY", "result", "rotate"),
    *("rx", "ry", "scale", "seed", "shape-rendering", "slope", "spacing", "specularConstant", "specularExponent"),
    *("spreadMethod", "startOffset", "stdDeviation", "stitchTiles", "stop-color", "stop-opacity", "stroke"),
    *("stroke-dasharray", "stroke-dashoffset", "stroke-linecap", "stroke-linejoin", "stroke-miterlimit"),
    *("stroke-opacity", "stroke-width", "surfaceScale", "tableValues", "targetX", "targetY", "text-anchor"),
    *("text-decoration", "text-rendering", "textLength", "transform", "transform-origin", "values", "vector-effect"),
    *("version", "viewBox", "visibility", "word-spacing", "writing-mode", "x", "x1", "x2", "xChannelSelector"),
    *("xlink:href", "y", "y1", "y2", "yChannelSelector", "z"),
}
HTML_ATTRIBUTES = {
    *("class", "dir", "hidden", "id", "lang", "role", "style", "tabindex", "title", "translate"),
    *("align", "alt", "bgcolor", "border", "cellpadding", "cellspacing", "checked", "cols", "colspan", "color"),
    *("datetime", "disabled", "face", "for", "headers", "height", "high", "label", "low", "max", "maxlength", "media"),
    *("min", "multiple", "name", "open", "optimum", "pattern", "placeholder", "readonly", "required", "reversed"),
    *("rows", "rowspan", "scope", "selected", "size", "span", "src", "start", "step", "type", "valign", "value"),
    *("width", "wrap"),
}
PICTURES = {"img", "image"}
ADDRESSES = {"href", "src", "xlink:href"}
PICTURE_DATA = re.compile(r"data:image/[\w.+-]+[;,]", re.IGNORECASE)
LOADS = re.compile(
    r"""\\|\b(?!url\(["']?#[\w.:-]+["']?\))(?:url|src|image|image-set|cross-fade|element)\(""", re.IGNORECASE
)
OPENING_LINES = re.compile(r"(<(?:pre|textarea|listing)(?:\s[^<>]*)?>)\n+", re.IGNORECASE)
"""The first is dropped whenever such an element is read."""

PAGE = """<!doctype html>
<html{html}>
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Page</title></head>
<body{body}>
{content}
</body>
</html>
"""
PICTURE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>SVG picture</title>
<style>
  html { background: #fff; color: #201e1a; }
  body { display: grid; place-items: safe center; box-sizing: border-box; min-height: 100vh; margin: 0; padding: 1rem; }
  body > svg { max-width: 100%; max-height: calc(100vh - 2rem); }
  body > svg:not([width]) { width: 100%; }
</style>
</head>
<body>
"""


class UnstableMarkup(Exception):
    """Markup that means something else each time it is read, or grows beyond all bounds."""


def page(content: str) -> str:
    """An HTML page of its own. Raises ``UnstableMarkup``."""
    return PAGE.format(html=_root(content, "html"), body=_root(content, "body"), content=sanitize(content))


def picture(content: str) -> str:
    """An SVG picture as a page of its own. Raises ``UnstableMarkup``."""
    return PICTURE + sanitize(content) + "</body></html>\n"


def sanitize(content: str) -> str:
    """What is left of the markup, read again until reading it changes nothing: what is kept is what a browser will see."""
    content = OPENING_LINES.sub(r"\1", content)
    for _ in range(ROUNDS):
        content, before = CLEANER.clean(content), content
        if len(content) > LONGEST:
            break
        if content == before:
            return content
    raise UnstableMarkup


def _root(content: str, tag: str) -> str:
    """The attributes of ``<html>`` or ``<body>``, which stand outside of what is rewritten: they are as a ``div``'s."""
    start = re.search(rf"<{tag}(\s[^<>]*)>", content, re.IGNORECASE)
    opened = CLEANER.clean(f"<div{start[1]}></div>") if start else ""
    shown = re.fullmatch(r"<div([^<>]*)></div>", opened)
    return shown[1] if shown else ""


def _filter_attribute(tag: str, name: str, value: str) -> str | None:
    if name not in ADDRESSES:
        loads = name in SVG_ATTRIBUTES and LOADS.search(value)
        return None if loads else value
    is_held = PICTURE_DATA.match(value) if tag in PICTURES else name != "src" and value.startswith("#")
    return value if is_held else None


CLEANER = nh3.Cleaner(
    tags=HTML_TAGS | SVG_TAGS,
    clean_content_tags=GONE_WITH_THEIR_CONTENT,
    attributes={"*": HTML_ATTRIBUTES | SVG_ATTRIBUTES},
    generic_attribute_prefixes={"data-", "aria-"},
    attribute_filter=_filter_attribute,
    url_schemes={"data"},
    url_relative="pass_through",
    link_rel=None,
)
