"""Markdown."""

from collections.abc import Callable, Mapping

from tests.artifacts.reading.cases.html import picture_base64

PNG = f"data:image/png;base64,{picture_base64()}"

TEXTS: Mapping[str, Callable[[], str]] = {
    "exported.md": lambda: (
        f"# Report\n\nSales rose.\n\n![][image1]\n\nCosts fell.\n\n![the plan][image2]\n\n"
        f"[image1]: <{PNG}>\n\n[image2]: <{PNG}>\n"
    ),
    "inline-pictures.md": lambda: (
        f'Before ![a plan]({PNG}) after.\n\n<img src="{PNG}" alt="a map">\n\n| a | b |\n|---|---|\n| ![]({PNG} "t") | 7 |\n\n'
        f"Bare {PNG} here, `code {PNG}` too.\n"
    ),
    "damaged-picture.md": lambda: f"One\n\n![x](data:image/png;base64,{'QUJD' * 200})\n\nTwo\n",
    "other-data.md": lambda: (
        f"A [font](data:font/woff2;base64,{'QUJD' * 200}) and ![drawing](data:image/svg+xml,%3Csvg%20x%3E) end\n"
    ),
    "comments.md": lambda: (
        "# Title <!-- Alpha -->\n\nSeen <!-- Beta --> text\n\n<!--\nGamma\n\n# Delta\n-->\n\n[//]: # (Epsilon)\n"
        '[comment]: <> "Zeta"\n\nUse `<!-- kept 1 -->` so.\n\n```html\n<!-- kept 2 -->\n```\n\n    <!-- kept 3 -->\n\n'
        "~~~\n<!-- kept 4 -->\n~~~\n\n- item\n  <!-- Eta -->\n\nend\n"
    ),
    "open-comment.md": lambda: "One\n\n2 <!-- 3 is no comment\n\nTwo\n\n<!-- Alpha\n\n# Beta\n",
    "front-matter.md": lambda: "---\ntitle: Plan\n# a remark\ntags: [a]\n---\n# Real\n\ntext\n",
    "fences.md": lambda: (
        "# One\n\n```sh\n# no heading\nTwo\n---\n```\n\n~~~\n## none either\n~~~\n\n````\n```\n# nor this\n```\n````\n\n"
        "```inline``` text\n\n# Three\n\nend\n"
    ),
    "formulas.md": lambda: (
        "Euler: $e^{i\\pi} + 1 = 0$, \\(a_1 \\cdot b\\) and\n\n$$\n\\frac{a}{b} < c\n$$\n\n10<sup>8</sup> and H~2~O\n"
    ),
    "badges.md": lambda: (
        "# Tool\n\n[![build](https://ci.example/b.svg)](https://ci.example) ![logo](logo.png)\n\nText\n"
    ),
    "embedded.css": lambda: f".a {{ background: url({PNG}) }}\n.b {{ color: red }}\n",
    "embedded.json": lambda: '{"icon": "' + PNG + '", "name": "LANTERN"}\n',
}


def encoded(make: Callable[[], str]) -> Callable[[], bytes]:
    return lambda: make().encode()


FILES: Mapping[str, Callable[[], bytes]] = {name: encoded(make) for name, make in TEXTS.items()}
