/** Turns that are not on the page yet: those before, and the one that a link names, however far back it is. */

import { byId } from "./dom.js";
import { gettext } from "./language.js";
import { markWords } from "./marking.js";

const NEAR = "600px 0px 0px";
const NAMED_TURN = /^#turn-(\d{1,9})$/;

/**
 * Turns before those that are shown come by a button, and by themselves near the top.
 * @param {() => void} load @returns {(more: boolean) => void} tells whether there are more
 */
export function wireEarlier(load) {
  const button = byId("earlier");
  const nearTop = new IntersectionObserver(([entry]) => entry.isIntersecting && load(), {
    root: byId("scroller"),
    rootMargin: NEAR,
  });
  button.addEventListener("click", load);
  return (more) => {
    nearTop.unobserve(button); // looked at anew after each page, as one may not fill the window
    button.hidden = !more;
    if (more) nearTop.observe(button);
  };
}

export class NamedTurn {
  /** What was looked for in the turn that is opened next. @type {string[]} */
  #sought = [];

  /**
   * @param {import("./scroll.js").Scroll} scroll
   * @param {{reader: () => import("./thread.js").OpenThread, onError: (words: string) => void}} on
   */
  constructor(scroll, { reader, onError }) {
    this.scroll = scroll;
    this.reader = reader;
    this.onError = onError;
  }

  /** @param {string[]} [words] to be marked in the turn that is opened next */
  seek(words = []) {
    this.#sought = words;
  }

  /** The one that the address names, if it does. */
  async open() {
    const position = NAMED_TURN.exec(location.hash)?.[1];
    if (!position) return;
    const reader = this.reader();
    const element = await reader.reach(position);
    if (reader !== this.reader()) return;
    if (!element) {
      this.onError(gettext("The turn that the link names is not in this conversation."));
      return;
    }
    this.scroll.point(element);
    const place = markWords(element, this.#sought);
    if (place) this.scroll.reveal(place);
    this.#sought = [];
  }
}
