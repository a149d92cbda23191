/** Pages one below the other. Only what is near the reader is loaded, so that a book scrolls like a note. */

import { h, icon } from "./dom.js";
import { gettext } from "./language.js";

const NEAR = "120% 0px";
const SETTLE = 120; // milliseconds: what is only scrolled past is not asked for
const LINE = 1 / 3; // of the height: the page that crosses it is the one that is read

/**
 * @typedef {object} Page
 * @property {string} label such as `page 3`
 * @property {string} [heading] that it stands under
 * @property {number[]} parts their numbers
 * @property {number} tokens how long it is, roughly
 *
 * @typedef {{page: Page, element: HTMLElement, body: HTMLElement, mark: HTMLElement, timer: number, isNear: boolean,
 *   isLoading: boolean}} Slot
 */

export class PageList {
  /** @type {Slot[]} */
  #slots;
  #current = 0;
  #went = { top: 0, index: 0 };
  /** @type {Map<Element, number>} */
  #indexes;

  /**
   * @param {HTMLElement} scroller
   * @param {Page[]} pages
   * @param {(page: Page, body: HTMLElement) => Promise<void> | void} fill puts what is seen of a page into it
   * @param {(index: number) => void} onCurrent
   */
  constructor(scroller, pages, fill, onCurrent) {
    this.fill = fill;
    this.onCurrent = onCurrent;
    this.#slots = pages.map(slotOf);
    this.#indexes = new Map(this.#slots.map(({ element }, index) => [element, index]));
    this.element = h("div", { class: "pages" }, ...this.#slots.map(({ element }) => element));
    this.near = new IntersectionObserver((entries) => entries.forEach((entry) => this.#moved(entry)), {
      root: scroller,
      rootMargin: NEAR,
    });
    for (const { element } of this.#slots) this.near.observe(element);
    this.scroller = scroller;
    this.scrolled = () => this.#reached(this.#isWhereItWent() ? this.#went.index : this.#atLine());
    scroller.addEventListener("scroll", this.scrolled, { passive: true });
  }

  get current() {
    return this.#current;
  }

  get length() {
    return this.#slots.length;
  }

  /** @param {number} index @param {{focus?: boolean}} [options] */
  go(index, { focus = false } = {}) {
    const slot = this.#slots[Math.max(0, Math.min(index, this.#slots.length - 1))];
    if (!slot) return;
    slot.element.scrollIntoView({ block: "start", inline: "start" });
    this.#went = { top: this.scroller.scrollTop, index: this.#indexes.get(slot.element) };
    this.#reached(this.#went.index);
    if (focus) slot.element.focus({ preventScroll: true });
  }

  /** @param {(page: Page) => import("./given.js").Mark | null} markOf */
  showMarks(markOf) {
    for (const { page, mark } of this.#slots) {
      const found = markOf(page);
      mark.hidden = !found;
      mark.className = `page-mark ${found?.state ?? ""}`;
      if (found) mark.replaceChildren(icon(MARKS[found.state]), found.words);
    }
  }

  /** Pages are higher or lower now than they were. */
  resized() {
    for (const { element } of this.#slots) element.style.minBlockSize = "";
  }

  close() {
    this.near.disconnect();
    this.scroller.removeEventListener("scroll", this.scrolled);
    for (const { timer } of this.#slots) clearTimeout(timer);
  }

  #moved({ target, isIntersecting }) {
    const slot = this.#slots[this.#indexes.get(target)];
    clearTimeout(slot.timer);
    slot.isNear = isIntersecting;
    if (isIntersecting) slot.timer = setTimeout(() => this.#load(slot), SETTLE);
    else this.#unload(slot);
  }

  /** @param {Slot} slot */
  async #load(slot) {
    if (slot.isLoading || slot.body.firstChild) return;
    slot.isLoading = true;
    try {
      await this.fill(slot.page, slot.body);
    } catch (error) {
      const onclick = () => this.#again(slot);
      const again = h("button", { type: "button", class: "button small", onclick }, gettext("Try again"));
      slot.body.replaceChildren(h("p", { class: "page-problem" }, icon("warn"), error.message, again));
    }
    slot.isLoading = false;
    if (slot.isNear) slot.element.style.minBlockSize = "";
    else this.#unload(slot);
  }

  #again(slot) {
    slot.body.replaceChildren();
    this.#load(slot);
  }

  /** Its place stays as high as it was. @param {Slot} slot */
  #unload({ element, body }) {
    if (!body.firstChild || body.contains(document.activeElement)) return;
    element.style.minBlockSize = `${element.offsetHeight}px`;
    // Or else it is waited for nevertheless, on a connection that others need.
    for (const picture of body.querySelectorAll("img")) picture.removeAttribute("src");
    body.replaceChildren();
  }

  /** Near the end of the file no page can come up to the line. */
  #isWhereItWent() {
    return Math.abs(this.scroller.scrollTop - this.#went.top) < 2;
  }

  /** The last page that begins above the line. */
  #atLine() {
    const { top, height } = this.scroller.getBoundingClientRect();
    const line = top + height * LINE;
    let [first, after] = [0, this.#slots.length];
    while (after - first > 1) {
      const middle = (first + after) >> 1;
      if (this.#slots[middle].element.getBoundingClientRect().top <= line) first = middle;
      else after = middle;
    }
    return first;
  }

  #reached(index) {
    if (index === this.#current) return;
    this.#current = index;
    this.onCurrent(index);
  }
}

const MARKS = { given: "check", partly: "check", elsewhere: "book", not: "not-given" };

/** @param {Page} page @returns {Slot} */
function slotOf(page) {
  const mark = h("p", { class: "page-mark", hidden: true });
  const body = h("div", { class: "page-body" });
  const name = page.label[0].toUpperCase() + page.label.slice(1);
  const heading = page.heading && !page.label.includes(page.heading) ? page.heading : "";
  const element = h(
    "article",
    { class: "page", tabindex: -1, "aria-label": name },
    h(
      "header",
      { class: "page-head" },
      h("h3", { dir: "auto" }, name, heading && h("span", { class: "page-heading" }, ` · ${heading}`)),
      mark,
    ),
    body,
  );
  if (page.tokens) element.style.minBlockSize = `${Math.min(170, 6 + page.tokens * 0.085)}rem`;
  return { page, element, body, mark, timer: 0, isNear: false, isLoading: false };
}
