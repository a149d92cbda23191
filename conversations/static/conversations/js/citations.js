/** Marks in a reply's text such as `[report.pdf, p. 4]`, which open the file there. */

import { h, icon } from "./dom.js";
import { gettext } from "./language.js";

/** @typedef {{text: string, file: string, name: string, part: number | null, given: boolean}} Citation */

const NOT_WITHIN = "pre, code, button, a";

/**
 * Makes a button of each mark.
 * @param {HTMLElement} root
 * @param {Citation[]} citations a mark that names several pages is there for each of them
 * @param {(citation: Citation) => void} onOpen
 */
export function linkCitations(root, citations, onOpen) {
  const byText = Map.groupBy(citations, ({ text }) => text);
  if (!byText.size) return;
  const marks = [...byText.keys()].sort((one, other) => other.length - one.length).map(escaped);
  const pattern = new RegExp(`(${marks.join("|")})`);
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) texts.push(/** @type {Text} */ (walker.currentNode));
  for (const text of texts) {
    if (text.parentElement.closest(NOT_WITHIN) || !pattern.test(text.data)) continue;
    const pieces = text.data.split(pattern);
    text.replaceWith(...pieces.map((piece, at) => (at % 2 ? buttonOf(byText.get(piece), onOpen) : piece)));
  }
}

/** @param {Citation[]} citations of one mark */
function buttonOf(citations, onOpen) {
  const [first] = citations;
  const there = citations.find(({ part }) => part !== null);
  const warning = !there
    ? gettext("There is no such place in the file")
    : citations.every(({ given }) => given)
      ? ""
      : gettext("The model was not given this part");
  return h(
    "button",
    {
      type: "button",
      class: warning ? "citation doubtful" : "citation",
      title: warning || gettext("Open {name} there", { name: first.name }),
      onclick: () => onOpen(there ?? first),
    },
    first.text.slice(1, -1),
    warning && icon("warn"),
    warning && h("span", { class: "visually-hidden" }, ` (${warning})`),
  );
}

function escaped(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
