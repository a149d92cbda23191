/**
 * Markdown of a model → safe DOM. A reply is a stranger's text: markup of its own is shown, not obeyed; nothing is
 * loaded.
 */

import DOMPurify from "dompurify";
import { Marked } from "marked";

const HARMLESS_HTML = /^<\/?(?:br|sub|sup|kbd|u|mark)\s*\/?>$/i;

function escaped(text) {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const marked = new Marked({
  gfm: true,
  renderer: {
    html: ({ text }) => (HARMLESS_HTML.test(text.trim()) ? text : escaped(text)),
    // Marked leaves text as it is once a tag like <code> or <script> has been opened, which here is no tag.
    text(token) {
      return "tokens" in token && token.tokens ? this.parser.parseInline(token.tokens) : escaped(token.text);
    },
    // Loading an image would tell its host who reads what; a link leaves that to the reader.
    image: ({ href, text }) => `<a href="${escaped(href)}">${escaped(text || "Image")} (image)</a>`,
    heading({ tokens, depth }) {
      const level = Math.min(depth + 2, 6); // the page's own headings are h1 and h2
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>\n`;
    },
    checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
  },
});

const purifier = DOMPurify(window);
purifier.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName !== "A") return;
  node.setAttribute("target", "_blank");
  node.setAttribute("rel", "noopener noreferrer");
});

const RULES = {
  ALLOWED_TAGS: [
    "a",
    "b",
    "blockquote",
    "br",
    "code",
    "del",
    "em",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "i",
    "kbd",
    "li",
    "mark",
    "ol",
    "p",
    "pre",
    "s",
    "strong",
    "sub",
    "sup",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "u",
    "ul",
  ],
  ALLOWED_ATTR: ["align", "class", "href", "start", "title"],
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:)/i,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
};

/** @returns {{blocks: {type: string, raw: string}[], links: Row}} the top-level blocks of a text */
export function blocksOf(text) {
  const tokens = marked.lexer(text);
  return { blocks: tokens.filter((token) => token.type !== "space" && token.type !== "def"), links: tokens.links };
}

/** @returns {DocumentFragment} */
export function renderBlock(block) {
  return purifier.sanitize(marked.parser([block]), { ...RULES, RETURN_DOM_FRAGMENT: true });
}
