/** The days: one summary at a time, chosen by link or by arrow keys. Without this, each link loads its day. */

import { byId } from "../../conversations/js/dom.js";

const WEEK = 7 * 86_400_000;

export class Calendar {
  constructor() {
    this.links = [...byId("calendar").querySelectorAll("a[data-day]")];
    byId("calendar").addEventListener("click", (event) => {
      const link = event.target.closest("a[data-day]");
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.#choose(link);
    });
    byId("calendar").addEventListener("keydown", (event) => {
      const to = this.#target(event);
      if (!to) return;
      event.preventDefault();
      this.#choose(to);
    });
    this.#rove(this.links.find((link) => link.hasAttribute("aria-current")));
  }

  #target({ key }) {
    const at = this.links.indexOf(document.activeElement);
    if (at < 0) return null;
    const time = (link) => Date.parse(link.dataset.day);
    const here = time(this.links[at]);
    return {
      ArrowLeft: () => this.links[at - 1],
      ArrowRight: () => this.links[at + 1],
      ArrowUp: () => this.links.findLast((link) => time(link) <= here - WEEK),
      ArrowDown: () => this.links.find((link) => time(link) >= here + WEEK),
      Home: () => this.links[0],
      End: () => this.links.at(-1),
    }[key]?.();
  }

  #choose(link) {
    for (const page of byId("day-pages").querySelectorAll("[data-day]"))
      page.hidden = page.dataset.day !== link.dataset.day;
    this.#rove(link);
    link.focus();
  }

  /** One stop for the Tab key, wherever the arrows have led. */
  #rove(chosen) {
    for (const link of this.links) {
      link.tabIndex = link === chosen ? 0 : -1;
      if (link === chosen) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }
}
