/**
 * Words that were looked for, marked where they stand in a turn. The page's texts stay as they are: browsers paint
 * the mark. Those that can't show none.
 */

import { marked } from "./finding.js";

const NAME = "sought";

/**
 * @param {Element} element
 * @param {readonly string[]} words as they stand there
 * @returns {Range | null} where the first of them stands
 */
export function markWords(element, words) {
  unmark();
  const ranges = words.length ? rangesOf(element, words) : [];
  if (ranges.length && globalThis.CSS?.highlights) CSS.highlights.set(NAME, new Highlight(...ranges));
  return ranges[0] ?? null;
}

export function unmark() {
  globalThis.CSS?.highlights?.delete(NAME);
}

function rangesOf(element, words) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const ranges = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    let at = 0;
    for (const [part, isWord] of marked(node.textContent ?? "", words)) {
      if (isWord) ranges.push(rangeOf(node, at, at + part.length));
      at += part.length;
    }
  }
  return ranges;
}

function rangeOf(node, start, end) {
  const range = document.createRange();
  range.setStart(node, start);
  range.setEnd(node, end);
  return range;
}
