"""How well what a page shows stands out from what is behind it, as the browser computes it, by light and by dark."""

from typing import Literal

from playwright.sync_api import Page

FAINT = """async () => {
    const transitions = document.getAnimations().filter((animation) => animation instanceof CSSTransition);
    await Promise.allSettled(transitions.map(({ finished }) => finished));
    const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    const known = new Map();
    const parse = (color) => {
        if (!known.has(color)) {
            canvas.clearRect(0, 0, 1, 1);
            canvas.fillStyle = color;
            canvas.fillRect(0, 0, 1, 1);
            const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
            known.set(color, [[red, green, blue], alpha / 255]);
        }
        return known.get(color);
    };
    const mix = (color, alpha, below) => color.map((value, at) => value * alpha + below[at] * (1 - alpha));
    const luminance = (color) => {
        const [red, green, blue] = color.map((value) => value / 255)
            .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const chain = (element) => (element ? [...chain(element.parentElement), element] : []);
    // The ground and the ink within the first of these elements; each lies over what is behind it and fades as a whole.
    const paint = ([element, ...inner], ink, behind) => {
        const style = getComputedStyle(element);
        const own = mix(...parse(style.backgroundColor), behind);
        const both = inner.length ? paint(inner, ink, own) : [own, mix(...parse(ink), own)];
        return both.map((color) => mix(color, Number(style.opacity), behind));
    };
    const contrast = (element, ink) => {
        const [darker, lighter] = paint(chain(element), ink, [255, 255, 255]).map(luminance).sort((a, b) => a - b);
        return (lighter + 0.05) / (darker + 0.05);
    };
    const isSeen = (element) => {
        const { width, height } = element.getBoundingClientRect();
        const isShown = element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
        return isShown && width > 2 && height > 2 && !element.closest(":disabled, [aria-disabled=true]");
    };
    // WCAG 2.2, 1.4.3 and 1.4.11: what texts need, large texts, and icons.
    const least = ({ fontSize, fontWeight }) =>
        parseFloat(fontSize) >= 24 || (parseFloat(fontSize) >= 18.66 && Number(fontWeight) >= 700) ? 3 : 4.5;
    const texts = function* () {
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
            const { data, parentElement } = walker.currentNode;
            if (data.trim() && !parentElement.closest("svg, script, style")) {
                const style = getComputedStyle(parentElement);
                yield [parentElement, style.color, least(style), data.trim()];
            }
        }
        for (const field of document.querySelectorAll(":placeholder-shown")) {
            const style = getComputedStyle(field, "::placeholder");
            yield [field, style.color, least(style), field.placeholder];
        }
        for (const icon of document.querySelectorAll("svg.icon")) yield [icon, getComputedStyle(icon).color, 3, "icon"];
    };
    const faint = new Set();
    for (const [element, ink, needed, words] of texts()) {
        if (!isSeen(element)) continue;
        const ratio = contrast(element, ink);
        const name = [element, element.parentElement].map(({ localName, classList }) => [localName, ...classList].join("."));
        if (ratio < needed) faint.add(`${ratio.toFixed(2)} < ${needed}: ${name[1]} > ${name[0]} “${words.slice(0, 30)}”`);
    }
    return [...faint];
}"""
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def faint(page: Page) -> dict[str, list[str]]:
    """By colour scheme, what can be seen and has too little contrast: the ratio, the least, the element, the words."""
    page.wait_for_load_state()
    found: dict[str, list[str]] = {}
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        found[scheme] = page.evaluate(FAINT)
    page.emulate_media(color_scheme="null")
    return {scheme: each for scheme, each in found.items() if each}
