/**
 * Formulas as MathML, which browsers set by themselves. KaTeX reads them; it is loaded with the first one. What it
 * can't read stays as it was written.
 */

import { elements, h } from "./dom.js";
import { inAlphabet, texOf } from "./formulas.js";
import { gettext } from "./language.js";
import { safeMathMl } from "./markdown.js";

const KATEX = "katex"; // by the page's import map
const OPTIONS = { output: "mathml", strict: "ignore", maxExpand: 500, maxSize: 20 };
const MOST_KEPT = 500;

/** @type {{renderToString: (tex: string, options: object) => string} | null} */
let katex = null;
/** @type {Promise<unknown> | null} */
let loading = null;
/** @type {Map<string, Node>} by formula: while a reply streams its last block is made anew with each piece */
const set = new Map();

/** Sets the formulas below the root: at once, or as soon as that is possible. */
export function dressMaths(root, { growing }) {
  if (!growing) fencesBecomeFormulas(root);
  const formulas = elements(root, ".formula:not([data-source])");
  if (!formulas.length) return;
  if (katex) formulas.forEach(show);
  else load().then(() => formulas.forEach(show), console.info); // they stay as they are
}

/** Ends when all formulas so far are set, or can't be. */
export async function mathsSet() {
  await loading?.catch(() => {});
}

function load() {
  loading ??= import(KATEX).then(
    () => {
      ({ katex } = /** @type {any} */ (globalThis));
      document.addEventListener("copy", copySources);
    },
    (error) => {
      loading = null;
      throw error;
    },
  );
  return loading;
}

function fencesBecomeFormulas(root) {
  for (const code of elements(root, "pre > code.language-math")) {
    const formula = h("p", { class: "formula" }, `$$\n${code.textContent.trim()}\n$$`);
    code.parentElement.replaceWith(formula);
  }
}

/** @param {HTMLElement} element */
function show(element) {
  const source = element.textContent;
  const maths = set.get(source) ?? make(source);
  if (!maths) return;
  if (set.size > MOST_KEPT) set.clear();
  set.set(source, maths);
  element.dataset.source = source;
  if (texOf(source).display) scrolls(element);
  element.replaceChildren(maths.cloneNode(true));
}

/** Long ones scroll in a box of their own. */
function scrolls(element) {
  element.classList.add("display");
  for (const [name, value] of Object.entries({ tabindex: "0", role: "group", "aria-label": gettext("Formula") })) {
    element.setAttribute(name, value);
  }
}

/** @param {string} source @returns {Node | null} */
function make(source) {
  const { tex, display } = texOf(source);
  let markup;
  try {
    markup = katex.renderToString(tex, { ...OPTIONS, displayMode: display });
  } catch {
    return null; // not what KaTeX knows
  }
  // Quotes in texts are escaped, so these are attributes, which the page's policy forbids.
  const ours = markup.replace(/ style="[^"]*"/g, "").replace(/<annotation[^]*<\/annotation>/, "");
  const maths = safeMathMl(ours).querySelector("math");
  lettersOfAlphabets(maths);
  maths.querySelectorAll("mtable").forEach(alignColumns);
  return maths;
}

function lettersOfAlphabets(maths) {
  for (const element of maths.querySelectorAll("[mathvariant]:not([mathvariant=normal])")) {
    element.textContent = inAlphabet(element.textContent, element.getAttribute("mathvariant"));
    element.removeAttribute("mathvariant");
  }
}

/** Browsers know neither `columnalign` nor `columnspacing` of MathML: the style sheet has classes for them. */
function alignColumns(table) {
  const aligns = (table.getAttribute("columnalign") ?? "").split(" ").filter(Boolean);
  const gaps = (table.getAttribute("columnspacing") ?? "").split(" ").filter(Boolean);
  const of = (values, place) => values[Math.min(place, values.length - 1)];
  for (const row of table.children) {
    [...row.children].forEach((cell, place) => {
      const align = of(aligns, place);
      if (["left", "right"].includes(align)) cell.classList.add(align);
      if (of(gaps, place) === "0em") cell.classList.add("close-after");
      if (place > 0 && of(gaps, place - 1) === "0em") cell.classList.add("close-before");
    });
  }
}

/** What is copied of a reply holds its formulas as they were written. */
function copySources(event) {
  const selection = getSelection();
  if (event.defaultPrevented || !selection?.rangeCount) return;
  const range = selection.getRangeAt(0).cloneRange();
  const around = (node) => (node instanceof Element ? node : node.parentElement)?.closest(".formula[data-source]");
  const [first, last] = [around(range.startContainer), around(range.endContainer)];
  if (first) range.setStartBefore(first);
  if (last) range.setEndAfter(last);
  const copy = h("div", { class: "prose visually-hidden" }, range.cloneContents());
  const formulas = elements(copy, ".formula[data-source]");
  if (!formulas.length) return;
  for (const formula of formulas) formula.replaceChildren(formula.dataset.source);
  document.body.append(copy); // only then its text has the lines that it shows
  event.clipboardData.setData("text/plain", copy.innerText);
  event.clipboardData.setData("text/html", copy.innerHTML);
  copy.remove();
  event.preventDefault();
}
