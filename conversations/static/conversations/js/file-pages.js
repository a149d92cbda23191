/** The pages of a file that is shown: which parts stand on each, and how a page of a PDF or a text looks. */

import { api } from "./api.js";
import { h, icon } from "./dom.js";
import { gettext } from "./language.js";
import { Prose } from "./prose.js";

const PARTS_A_PAGE = 200;

/**
 * @typedef {{number: number, label: string, heading: string, page: number | null, tokens: number}} Part as
 *   `GET files/{id}/parts/` lists it
 * @typedef {import("./page-list.js").Page & {drawn?: number}} Page `drawn`: the page of a PDF that is shown as picture
 */

/** @returns {Promise<Part[]>} */
export async function allParts(id) {
  const parts = [];
  for (let address = `files/${id}/parts/?page_size=${PARTS_A_PAGE}`; address; ) {
    const page = await api.get(address);
    parts.push(...page.results);
    address = page.next;
  }
  return parts;
}

/**
 * Each page of a PDF once, whether it is read or not; of others each part.
 * @param {Row} info
 * @param {Part[]} parts
 * @returns {Page[]}
 */
export function pagesOf({ kind, pages }, parts) {
  if (kind !== "pdf" || !pages) {
    return parts.map(({ number: part, label, heading, tokens }) => ({ label, heading, tokens, parts: [part] }));
  }
  const of = Map.groupBy(parts, ({ page }) => page);
  return Array.from({ length: pages }, (_, index) => {
    const own = of.get(index + 1) ?? [];
    return {
      drawn: index + 1,
      label: gettext("page {number}", { number: index + 1 }),
      heading: own[0]?.heading ?? "",
      tokens: 0,
      parts: own.map(({ number: part }) => part),
    };
  });
}

/**
 * @param {string} id
 * @param {Page} page
 * @param {(ratio: string) => void} onRatio so that those to come have their place already
 */
export function drawnPage(id, { drawn, label }, onRatio) {
  const frame = h("div", { class: "page-drawn" });
  const src = `/api/v1/files/${id}/pages/${drawn}/`;
  const picture = h("img", { src, alt: gettext("{label}, as a picture", { label }), decoding: "async" });
  picture.addEventListener("load", () => {
    frame.style.aspectRatio = `${picture.naturalWidth} / ${picture.naturalHeight}`;
    onRatio(frame.style.aspectRatio);
  });
  picture.addEventListener("error", () => {
    frame.replaceChildren(
      h("p", { class: "page-problem" }, icon("warn"), gettext("This page can’t be shown as a picture.")),
    );
    frame.classList.add("undrawn");
  });
  frame.append(picture);
  return frame;
}

export function proseOf(text) {
  const element = h("div", { class: "prose page-prose", dir: "auto" });
  new Prose(element).finish(text);
  return element;
}
