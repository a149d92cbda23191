/** The contents of a file that is shown: a button, and a list of headings or pages that leads to them. */

import { h, iconButton } from "./dom.js";
import { gettext } from "./language.js";

export class Contents {
  /** @param {import("./page-list.js").Page[]} pages @param {import("./page-list.js").PageList} list */
  constructor(pages, list) {
    this.pages = pages;
    this.list = list;
    this.element = h("nav", { class: "viewer-contents", "aria-label": gettext("Contents of the file"), hidden: true });
    this.element.addEventListener("keydown", (event) => this.#key(event));
    this.button = iconButton(
      "list",
      gettext("Contents"),
      () => this.#show(this.element.hidden),
      { "aria-expanded": "false" },
    );
  }

  #show(open) {
    this.element.hidden = !open;
    this.button.setAttribute("aria-expanded", String(open));
    if (!open) return;
    const { current } = this.list;
    const entries = entriesOf(this.pages);
    const here = entries.findLastIndex(({ index }) => index <= current);
    const buttons = entries.map((entry, at) => this.#entry(entry, at === here));
    this.element.replaceChildren(h("ol", {}, ...buttons.map((each) => h("li", {}, each))));
    buttons[Math.max(0, here)].focus();
  }

  #entry({ index, words, place }, isHere) {
    const go = () => {
      this.#show(false);
      this.list.go(index, { focus: true });
    };
    return h(
      "button",
      { type: "button", class: "contents-entry", onclick: go, "aria-current": isHere && "true" },
      h("span", { class: "contents-words", dir: "auto" }, words),
      place && h("span", { class: "contents-place" }, place),
    );
  }

  #key(event) {
    const buttons = [...this.element.querySelectorAll("button")];
    const at = buttons.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (event.key === "Escape") {
      this.#show(false);
      this.button.focus();
    } else if (next !== undefined) buttons[Math.max(0, Math.min(next, buttons.length - 1))].focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

/** Where each heading begins; where there are none, all pages. @param {import("./page-list.js").Page[]} pages */
function entriesOf(pages) {
  const isNew = (page, index) => page.heading && page.heading !== pages[index - 1]?.heading;
  const places = pages.map((page, index) => ({ page, index }));
  const headed = places.filter(({ page, index }) => isNew(page, index));
  return headed.length > 1
    ? headed.map(({ page, index }) => ({
        index,
        words: page.heading,
        place: page.label.includes(page.heading) ? "" : page.label,
      }))
    : places.map(({ page, index }) => ({ index, words: page.label, place: "" }));
}
