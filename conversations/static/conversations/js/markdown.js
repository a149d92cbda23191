/**
 * Markdown of a model → safe DOM. A reply is a stranger's text: markup of its own is shown, not obeyed; nothing is
 * loaded.
 */

import DOMPurify from "dompurify";
import { Marked } from "marked";

import { CJK_EMPHASIS } from "./emphasis.js";
import { blockFormulaAt, formulaAt } from "./formulas.js";
import { gettext } from "./language.js";

const HARMLESS_HTML = /^<\/?(?:br|sub|sup|kbd|u|mark)\s*\/?>$/i;

function escaped(text) {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const BEGINS_FORMULA = /\\[([]|\$/;

/**
 * Mathematics stays as it was written: signs in it are no Markdown. maths.js sets it.
 * @type {import("marked").TokenizerAndRendererExtension[]}
 */
const formulas = [
  {
    name: "blockFormula",
    level: "block",
    start: (source) => source.match(/^ {0,3}(?:\\\[|\$\$)/m)?.index,
    tokenizer(source) {
      const raw = blockFormulaAt(source);
      return raw && { type: "blockFormula", raw, text: raw.trim() };
    },
    renderer: ({ text }) => `<p class="formula">${escaped(text)}</p>\n`,
  },
  {
    name: "formula",
    level: "inline",
    start: (source) => source.match(BEGINS_FORMULA)?.index,
    tokenizer(source, tokens) {
      const raw = formulaAt(source, tokens.at(-1)?.raw.at(-1));
      return raw && { type: "formula", raw, text: raw };
    },
    renderer: ({ text }) => `<span class="formula">${escaped(text)}</span>`,
  },
];

/** @type {import("marked").MarkedExtension} */
const OPTIONS = {
  gfm: true,
  extensions: formulas,
  tokenizer: {
    /** `\,` and the like are spaces of mathematics; nobody has to escape them. */
    escape(source) {
      const raw = /^\\[,;:]/.exec(source)?.[0];
      return raw ? { type: "escape", raw, text: raw } : false;
    },
  },
  renderer: {
    html: ({ text }) => (HARMLESS_HTML.test(text.trim()) ? text : escaped(text)),
    // Marked leaves text as it is once a tag like <code> or <script> has been opened, which here is no tag.
    text(token) {
      return "tokens" in token && token.tokens ? this.parser.parseInline(token.tokens) : escaped(token.text);
    },
    // Loading an image would tell its host who reads what; a link leaves that to the reader.
    image: ({ href, text }) => `<a href="${escaped(href)}">${escaped(text || gettext("Image"))} (image)</a>`,
    heading({ tokens, depth }) {
      const level = Math.min(depth + 2, 6); // the page's own headings are h1 and h2
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>\n`;
    },
    checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
  },
};

const marked = new Marked(CJK_EMPHASIS, OPTIONS);
/** What people write themselves: each line is one, and what is set in or underlined with dashes is what it was. */
const written = new Marked(CJK_EMPHASIS, OPTIONS, {
  breaks: true,
  tokenizer: { code: () => undefined, lheading: () => undefined, html: () => undefined },
  renderer: { br: ({ raw }) => `<br>${raw.slice(raw.lastIndexOf("\n") + 1)}` }, // code without a fence is indented, too
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
    "span",
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
  ADD_URI_SAFE_ATTR: ["align", "start"], // which that is asked about, too
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
};

/** MathML of KaTeX's, without what is no part of what is shown. @param {string} markup @returns {DocumentFragment} */
export function safeMathMl(markup) {
  return purifier.sanitize(markup, { USE_PROFILES: { mathMl: true }, RETURN_DOM_FRAGMENT: true });
}

/** Each block runs the way that its own words do, and code from left to right among any. */
function directed(fragment) {
  for (const block of fragment.children) block.dir = "auto";
  for (const code of fragment.querySelectorAll("pre, code")) code.dir = "ltr";
  return fragment;
}

/** @returns {DocumentFragment} */
function safe(html) {
  return directed(purifier.sanitize(html, { ...RULES, RETURN_DOM_FRAGMENT: true }));
}

/** @returns {{blocks: {type: string, raw: string}[], links: Row}} the top-level blocks of a text */
export function blocksOf(text) {
  const tokens = marked.lexer(text);
  return { blocks: tokens.filter((token) => token.type !== "space" && token.type !== "def"), links: tokens.links };
}

/** What a person wrote, as it was meant. @param {string} text @returns {DocumentFragment} */
export function renderWritten(text) {
  return safe(written.parser(written.lexer(text)));
}

/** @returns {DocumentFragment} */
export function renderBlock(block) {
  return safe(marked.parser([block]));
}
